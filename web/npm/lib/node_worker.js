import {parentPort} from 'node:worker_threads';

import {makeWorker} from './work.js';

parentPort.on('message', makeWorker((answer, buffers) => parentPort.postMessage(answer, buffers)));

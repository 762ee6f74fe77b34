import {parentPort} from 'node:worker_threads';

import './node_globals.js';
import {makeWorker} from './work.js';

parentPort.on('message', makeWorker((answer, buffers) => parentPort.postMessage(answer, buffers)));

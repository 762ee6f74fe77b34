import {parentPort, workerData} from 'node:worker_threads';

import {work} from './work.js';

parentPort.on('message', (message) => parentPort.postMessage(work(workerData, message)));

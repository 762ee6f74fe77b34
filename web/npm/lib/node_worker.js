import {parentPort, workerData} from 'node:worker_threads';

import {buffersOf, work} from './work.js';

parentPort.on('message', (message) => {
  const answer = work(workerData, message);
  parentPort.postMessage(answer, buffersOf(answer));
});

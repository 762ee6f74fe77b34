import {makeWorker} from './work.js';

const receive = makeWorker((answer, buffers) => postMessage(answer, buffers));
onmessage = ({data}) => receive(data);

import {buffersOf, work} from './work.js';

let module;
onmessage = ({data}) => {
  if (data.module) {
    module = data.module;
    return;
  }
  const answer = work(module, data);
  postMessage(answer, buffersOf(answer));
};

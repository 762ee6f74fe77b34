import {work} from './work.js';

let module;
onmessage = ({data}) => {
  if (data.module) module = data.module;
  else postMessage(work(module, data));
};

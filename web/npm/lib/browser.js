// The package in browsers. Bundlers know the form of these two addresses.
import {makeApi} from './api.js';

let compiled;
async function compile() {
  const response = await fetch(new URL('../ir-opt.wasm', import.meta.url));
  if (!response.ok) throw new Error(`cannot load ir-opt.wasm: ${response.status}`);
  // A server may not know the type of the file, which streaming requires.
  if (response.headers.get('content-type') === 'application/wasm') return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

const platform = {
  module: () => (compiled ??= compile()),
  startWorker: () => {
    const thread = new Worker(new URL('./browser_worker.js', import.meta.url), {type: 'module'});
    const worker = {send: (message) => thread.postMessage(message), end: () => thread.terminate()};
    thread.onmessage = ({data}) => worker.onResult(data);
    thread.onerror = () => worker.onCrash?.();
    return worker;
  },
};

export const {load, run, optimize, verify, evaluate, listPasses, version, close} = makeApi(platform);
export {IrOpt, RunEnded} from './api.js';

// The package in Node: workers are threads.
import fs from 'node:fs/promises';
import {Worker} from 'node:worker_threads';

import {makeApi} from './api.js';

// As deep as a module may be nested: what is left of it is for the engine.
const STACK_MEGABYTES = 64;

let compiled;
const platform = {
  module: () => (compiled ??= fs.readFile(new URL('../ir-opt.wasm', import.meta.url)).then((bytes) => WebAssembly.compile(bytes))),
  startWorker: () => {
    const thread = new Worker(new URL('./node_worker.js', import.meta.url), {
      resourceLimits: {stackSizeMb: STACK_MEGABYTES},
    });
    thread.unref();
    const worker = {
      send: (message) => {
        thread.ref();
        thread.postMessage(message);
      },
      end: () => void thread.terminate(),
    };
    thread.on('message', (result) => {
      thread.unref();
      worker.onResult(result);
    });
    thread.on('error', () => worker.onCrash?.());
    return worker;
  },
};

export const {load, run, optimize, verify, evaluate, listPasses, version, close} = makeApi(platform);
export {IrOpt, RunEnded} from './api.js';

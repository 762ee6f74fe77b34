// A command of the package: runs the tool on the files of the machine. The work is done in a thread, whose stack can be deep.
import {once} from 'node:events';
import fs from 'node:fs';
import v8 from 'node:v8';
import {Worker, isMainThread, parentPort, workerData} from 'node:worker_threads';

import './node_globals.js';

const STACK_MEGABYTES = 256;
// Functions are checked and compiled when they are called: a command calls few of them. V8 optimizes one when it has run so many bytes of
// it, 1.8 million without the flag; in a command, optimizing the large functions that run once takes longer than all the rest.
const FLAGS = ['--wasm-lazy-compilation', '--wasm-lazy-validation', '--wasm-tiering-budget=20000000'];
// Newer ones may not have the flags, and would say so.
const NEWEST_KNOWN_V8 = 14;

export function runCommand(name) {
  if (parseInt(process.versions.v8) <= NEWEST_KNOWN_V8) v8.setFlagsFromString(FLAGS.join(' '));
  const thread = new Worker(new URL(import.meta.url), {
    workerData: {name, args: process.argv.slice(2)},
    resourceLimits: {stackSizeMb: STACK_MEGABYTES, maxOldGenerationSizeMb: 4096},
  });
  thread.on('exit', (code) => {
    process.exitCode = code;
  });
  // While the thread starts.
  thread.postMessage(new WebAssembly.Module(fs.readFileSync(new URL('../ir-opt.wasm', import.meta.url))));
}

if (!isMainThread) {
  const received = once(parentPort, 'message');
  const {NodeFiles} = await import('./node_files.js');
  const {runTool} = await import('./tool.js');
  const files = new NodeFiles();
  const streams = [0, 1, 2].map((fd) => files.standard(fd));
  const env = {...process.env, PWD: process.cwd()};
  const sizeOf = (path) => {
    try {
      return fs.statSync(path).size;
    } catch {
      return 0;  // a flag, or a file that is not there
    }
  };
  const inputBytes = workerData.args.reduce((sum, arg) => sum + sizeOf(arg), 0);
  const [module] = await received;
  process.exit(runTool({module, ...workerData, files, streams, env, inputBytes}));
}

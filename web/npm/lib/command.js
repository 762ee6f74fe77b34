// A command of the package: runs the tool on the files of the machine. The work is done in a thread, whose stack can be deep.
import v8 from 'node:v8';
import {Worker, isMainThread, workerData} from 'node:worker_threads';

const STACK_MEGABYTES = 256;
// V8 optimizes a function when it has run so many bytes of it, 1.8 million without the flag. In a command, optimizing the large functions
// that run once, such as those that make tables, takes longer than all the rest.
const BYTES_UNTIL_OPTIMIZED = 20e6;
// Newer ones may not have the flag, and would say so.
const NEWEST_KNOWN_V8 = 14;

export function runCommand(name) {
  if (parseInt(process.versions.v8) <= NEWEST_KNOWN_V8) v8.setFlagsFromString(`--wasm-tiering-budget=${BYTES_UNTIL_OPTIMIZED}`);
  const thread = new Worker(new URL(import.meta.url), {
    workerData: {name, args: process.argv.slice(2)},
    resourceLimits: {stackSizeMb: STACK_MEGABYTES, maxOldGenerationSizeMb: 4096},
  });
  thread.on('exit', (code) => {
    process.exitCode = code;
  });
}

if (!isMainThread) {
  const fs = await import('node:fs');
  const {NodeFiles} = await import('./node_files.js');
  const {runTool} = await import('./tool.js');
  const module = new WebAssembly.Module(fs.readFileSync(new URL('../ir-opt.wasm', import.meta.url)));
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
  process.exit(runTool({module, ...workerData, files, streams, env, inputBytes}));
}

// Runs one command of the module: `ir-opt` or `ir-run` with its flags. Every run has its own memory.
import {Exit, makeWasi} from './wasi.js';

const PAGE = 65536;
const MOST_PAGES = 65536;
// As the module declares its memory, which is imported.
const FIRST_PAGES = 768;

// Of a model, whose weights are read and computed with; more is asked for when it is needed.
const MEMORY_OF_INPUT = 3;
const MOST_EXPECTED = 1 << 30;

// The result of a run that the engine, not the tool, has ended.
const INTERNAL_ERROR = 70;
const OUT_OF_MEMORY = 7;

// module: a WebAssembly.Module; name: the tool; args: its flags; files: a file system; streams: standard input, output and error
// output; env: environment variables, with PWD; maxMemory: bytes; inputBytes: the size of the inputs, for which it gets memory before it
// asks. Returns the exit code.
export function runTool({module, name, args, files, streams, env = {PWD: '/'}, maxMemory = MOST_PAGES * PAGE, inputBytes = 0}) {
  const maximum = Math.min(MOST_PAGES, Math.max(FIRST_PAGES, Math.floor(maxMemory / PAGE)));
  const initial = Math.min(maximum, FIRST_PAGES + Math.ceil(Math.min(MEMORY_OF_INPUT * inputBytes, MOST_EXPECTED) / PAGE));
  const memory = new WebAssembly.Memory({initial, maximum});
  const imports = makeWasi({memory, args: [name, ...args], env, files, streams});
  try {
    const instance = new WebAssembly.Instance(module, {env: {memory}, wasi_snapshot_preview1: imports});
    instance.exports._start();
    return 0;
  } catch (error) {
    if (error instanceof Exit) return error.code;
    const report = (message) => streams[2].write(new TextEncoder().encode(`${name}: ${message}\n`), null);
    if (error instanceof RangeError) {
      report('error: the input is nested too deeply for the stack of this engine');
      return OUT_OF_MEMORY;
    }
    report(`internal error: ${error.message}\n${error.stack ?? ''}`);
    return INTERNAL_ERROR;
  }
}

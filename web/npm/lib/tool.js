// Runs commands of the module: `ir-opt` or `ir-run` with its flags.
import {Exit, makeWasi} from './wasi.js';

const PAGE = 65536;
const MOST_PAGES = 65536;
// As the module declares its memory, which is imported.
const FIRST_PAGES = 768;

// Of a model, whose weights are read and computed with; more is asked for when it is needed.
const MEMORY_OF_INPUT = 3;
const MOST_EXPECTED = 1 << 30;
// Memory that is kept for the next run.
const MOST_KEPT = 1 << 29;

// The result of a run that the engine, not the tool, has ended.
const INTERNAL_ERROR = 70;
const OUT_OF_MEMORY = 7;

function pagesFor(inputBytes) {
  return FIRST_PAGES + Math.ceil(Math.min(MEMORY_OF_INPUT * inputBytes, MOST_EXPECTED) / PAGE);
}

// The module with its memory, which is expensive to make.
class Program {
  constructor(module, pages, maximum) {
    this.maximum = maximum;
    this.memory = new WebAssembly.Memory({initial: pages, maximum});
    this.wasi = makeWasi(this.memory);
    this.exports = new WebAssembly.Instance(module, {
      env: {memory: this.memory},
      wasi_snapshot_preview1: this.wasi.imports,
    }).exports;
  }

  // Keeps the variables of the program as they are before it runs. Nothing is expected of the rest of the memory.
  save() {
    const {__global_base: begin, __data_end: end, __stack_pointer: stack} = this.exports;
    this.begin = begin.value;
    this.variables = new Uint8Array(this.memory.buffer).slice(begin.value, end.value);
    this.stack = stack.value;
  }
  restore(pages) {
    const missing = pages - this.memory.buffer.byteLength / PAGE;
    if (missing > 0) this.memory.grow(missing);
    new Uint8Array(this.memory.buffer).set(this.variables, this.begin);
    this.exports.__stack_pointer.value = this.stack;
  }

  run({name, args, files, streams, env = {PWD: '/'}}) {
    this.wasi.begin({args: [name, ...args], env, files, streams});
    try {
      this.exports._start();
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
}

// Runs follow each other, and leave nothing behind for each other.
export class Tool {
  constructor(module) {
    this.module = module;
  }

  // name: the tool; args: its flags; files: a file system; streams: standard input, output and error output; env: environment
  // variables, with PWD; maxMemory: bytes; inputBytes: the size of the inputs, for which it gets memory before it asks. Returns the
  // exit code.
  run({maxMemory = MOST_PAGES * PAGE, inputBytes = 0, ...run}) {
    const maximum = Math.min(MOST_PAGES, Math.max(FIRST_PAGES, Math.floor(maxMemory / PAGE)));
    const pages = Math.min(maximum, pagesFor(inputBytes));
    if (this.program?.maximum === maximum) {
      this.program.restore(pages);
    } else {
      this.program = new Program(this.module, pages, maximum);
      this.program.save();
    }
    const code = this.program.run(run);
    if (code === INTERNAL_ERROR || this.program.memory.buffer.byteLength > MOST_KEPT) this.program = undefined;
    return code;
  }
}

// The same for one run of a module, with all of the memory that there may be.
export function runTool({module, inputBytes = 0, ...run}) {
  return new Program(module, pagesFor(inputBytes), MOST_PAGES).run(run);
}

// Runs commands of the module: `ir-opt` or `ir-run` with its flags.
import {Exit, makeWasi} from './wasi.js';

const PAGE = 65536;
const BLOCK = 4096;
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

// Firefox has an error of its own for it. Engines have RangeErrors for memory that they do not have as well.
function isStackOverflow(error) {
  return (error instanceof RangeError && /call stack/.test(error.message)) || error.name === 'InternalError';
}

function part(buffer, begin, end) {
  return {begin, contents: new Uint8Array(buffer.slice(begin, end))};
}

// The parts of a heap, from `begin` on, that are in use. Behind the memory that it has given, malloc has a header that is not zero, and it
// has another one at the end of the memory; between these all is zero. Zeros below them are values that runs change.
export function heapParts(buffer, begin) {
  const words = new Uint32Array(buffer);
  const last = buffer.byteLength - BLOCK;
  let used = last / 4;
  while (used > begin / 4 && words[used - 1] === 0) --used;
  return [part(buffer, begin, 4 * used), part(buffer, last, buffer.byteLength)];
}

// Reports an error of the engine, and returns the exit code.
function failed(error, {name, streams}) {
  const report = (message) => streams[2].write(new TextEncoder().encode(`${name}: ${message}\n`), null);
  if (isStackOverflow(error)) {
    report('error: the input is nested too deeply for the stack of this engine');
    return OUT_OF_MEMORY;
  }
  if (error instanceof RangeError) {
    report(`error: this engine has too little memory: ${error.message}`);
    return OUT_OF_MEMORY;
  }
  report(`internal error: ${error.message}\n${error.stack ?? ''}`);
  return INTERNAL_ERROR;
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

  // Makes what all runs need, and keeps the memory with it: the variables, and what malloc has given. All else is zero.
  save() {
    const {__global_base: globals, __data_end: end, __heap_base: heap, __stack_pointer: stack} = this.exports;
    this.exports.prepare();
    this.saved = [part(this.memory.buffer, globals.value, end.value), ...heapParts(this.memory.buffer, heap.value)];
    this.stack = stack.value;
  }
  // Nothing is expected of the rest of the memory.
  restore(pages) {
    const missing = pages - this.memory.buffer.byteLength / PAGE;
    try {
      if (missing > 0) this.memory.grow(missing);
    } catch {
      // The tool asks for what it needs, and reports that it does not get it.
    }
    const bytes = new Uint8Array(this.memory.buffer);
    for (const {begin, contents} of this.saved) bytes.set(contents, begin);
    this.exports.__stack_pointer.value = this.stack;
  }

  run({name, args, files, streams, env = {PWD: '/'}}) {
    this.wasi.begin({args: [name, ...args], env, files, streams});
    try {
      this.exports._start();
      return 0;
    } catch (error) {
      return error instanceof Exit ? error.code : failed(error, {name, streams});
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
    if (this.program?.maximum !== maximum) {
      this.program = undefined;
      try {
        const program = new Program(this.module, FIRST_PAGES, maximum);
        program.save();
        this.program = program;
      } catch (error) {
        return failed(error, run);
      }
    }
    this.program.restore(pages);
    const code = this.program.run(run);
    if (code === INTERNAL_ERROR || this.program.memory.buffer.byteLength > MOST_KEPT) this.program = undefined;
    return code;
  }
}

// The same for one run of a module, with all of the memory that there may be.
export function runTool({module, inputBytes = 0, ...run}) {
  return new Program(module, pagesFor(inputBytes), MOST_PAGES).run(run);
}

// The functions of the package. A platform (node.js, browser.js) brings the module and workers.

// A run that did not end by itself. `reason` is "timeout", "cancelled" or "crashed".
export class RunEnded extends Error {
  constructor(reason) {
    super(`the run was ended: ${reason}`);
    this.name = 'RunEnded';
    this.reason = reason;
  }
}

const EXTENSIONS = {tvmscript: '.ir', onnx: '.onnx', relay: '.relay', dot: '.dot'};
const decoder = new TextDecoder();
const encoder = new TextEncoder();

function toBytes(input) {
  if (typeof input === 'string') return encoder.encode(input);
  if (input instanceof Uint8Array) return input;
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  throw new TypeError('the input is a string, a Uint8Array or an ArrayBuffer');
}

// Text of TVMScript or Relay begins with a comment, a decorator, an import or a version, a model of ONNX with a small number.
function formatOf(bytes) {
  if (bytes[0] === 8 || bytes[0] === 0x0a || bytes[0] === 0x12) return 'onnx';
  const head = decoder.decode(bytes.subarray(0, 64)).trimStart();
  return head.startsWith('#[version') || head.startsWith('v0.0.') || head.startsWith('def @') ? 'relay' : 'tvmscript';
}

// The lines of JSON that the tools print with -diagnostics=json. What is not a diagnostic is in records of the kind "output", such
// as the report of -report=json; other lines are messages.
function readErrorOutput(text) {
  const diagnostics = [];
  let report;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const value = parseObject(line);
    const output = value?.kind === 'output' ? value.text : value === undefined ? line : undefined;
    const printed = output === undefined ? undefined : parseObject(output);
    if (printed?.report) report = printed.report;
    else if (output !== undefined) diagnostics.push({severity: 'note', kind: 'output', message: output, notes: [], fixits: []});
    else if (value.severity) diagnostics.push(value);
  }
  return {diagnostics, report};
}

// The object of a text of JSON; undefined for other texts.
function parseObject(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function pipelineFlags({passes, level, flags = []}) {
  const words = [];
  if (level !== undefined) words.push(`-O${level}`);
  if (passes !== undefined) words.push(`-passes=${Array.isArray(passes) ? passes.join(',') : passes}`);
  return [...words, ...flags];
}

export class IrOpt {
  // Of makeApi.
  constructor(platform, options) {
    this.platform = platform;
    this.options = options;
    this.queue = Promise.resolve();
    this.worker = undefined;
  }

  // Runs a tool ("ir-opt" or "ir-run") with its flags on files in memory, in a worker. Runs of one object follow each other.
  run(tool, args, options = {}) {
    const result = this.queue.then(() => this.#runNow(tool, args, {...this.options, ...options}));
    this.queue = result.catch(() => {});
    return result;
  }

  // Starts the worker, which begins to load while the module does. `warmUp`: it makes itself ready for fast runs.
  async start(warmUp) {
    const module = this.platform.module();
    const worker = this.platform.startWorker();
    try {
      const ready = new Promise((resolve, reject) => {
        worker.onResult = resolve;
        worker.onCrash = () => reject(new RunEnded('crashed'));
      });
      worker.send({module: await module, warmUp});
      await ready;
    } catch (error) {
      worker.end();
      throw error;
    }
    this.worker = worker;
  }

  async #runNow(tool, args, {files = {}, stdin, env, timeout, maxMemory, signal}) {
    if (!signal?.aborted && this.worker === undefined) await this.start(false);
    if (signal?.aborted) throw new RunEnded('cancelled');
    const {worker} = this;
    return new Promise((resolve, reject) => {
      let timer;
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
      };
      const end = (reason) => {
        done();
        worker.end();
        this.worker = undefined;
        reject(new RunEnded(reason));
      };
      const cancel = () => end('cancelled');
      if (timeout !== undefined) timer = setTimeout(() => end('timeout'), timeout);
      signal?.addEventListener('abort', cancel);
      worker.onResult = (result) => {
        done();
        resolve({...result, stderr: decoder.decode(result.stderr)});
      };
      worker.onCrash = () => end('crashed');
      const given = Object.entries(files).map(([path, contents]) => [path, toBytes(contents)]);
      worker.send({tool, args, files: given, stdin: stdin === undefined ? undefined : toBytes(stdin), env, maxMemory});
    });
  }

  // Reads a module, runs passes, and writes it.
  async optimize(input, options = {}) {
    const bytes = toBytes(input);
    const from = options.from ?? formatOf(bytes);
    const to = options.to ?? from;
    const source = options.name ?? `input${EXTENSIONS[from] ?? ''}`;
    const output = `output${EXTENSIONS[to] ?? ''}`;
    const flags = [...pipelineFlags(options), '-diagnostics=json', `-x=${from}`, `-emit=${to}`];
    if (options.report) flags.push('-report=json');
    if (options.reportPage) flags.push('-report=report.html');
    const result = await this.run('ir-opt', [...flags, source, '-o', output], {
      ...options,
      files: {...options.files, [source]: bytes},
    });
    const written = new Map(result.files);
    const contents = written.get(output);
    written.delete(output);
    const page = written.get('report.html');
    written.delete('report.html');
    return {
      ok: result.exitCode === 0,
      exitCode: result.exitCode,
      output: contents,
      text: contents && to !== 'onnx' ? decoder.decode(contents) : undefined,
      reportPage: page && decoder.decode(page),
      files: written,
      ...readErrorOutput(result.stderr),
    };
  }

  // Checks that a module is well-formed, and does nothing else.
  async verify(input, options = {}) {
    const bytes = toBytes(input);
    const from = options.from ?? formatOf(bytes);
    const source = options.name ?? `input${EXTENSIONS[from] ?? ''}`;
    const flags = ['-verify-only', '-diagnostics=json', `-x=${from}`, ...(options.flags ?? [])];
    const result = await this.run('ir-opt', [...flags, source], {...options, files: {...options.files, [source]: bytes}});
    return {ok: result.exitCode === 0, exitCode: result.exitCode, ...readErrorOutput(result.stderr)};
  }

  // Runs a function of a module on tensors in files, or on random ones, and returns what ir-run prints.
  async evaluate(input, options = {}) {
    const bytes = toBytes(input);
    const from = options.from ?? formatOf(bytes);
    const source = options.name ?? `input${EXTENSIONS[from] ?? ''}`;
    const flags = [...pipelineFlags(options), '-diagnostics=json', '-print'];
    const files = {...options.files, [source]: bytes};
    if (options.inputs) {
      files['inputs.npz'] = toBytes(options.inputs);
      flags.push('-inputs=inputs.npz');
    }
    flags.push('-random-inputs');
    if (options.seed !== undefined) flags.push(`-seed=${options.seed}`);
    if (options.entry !== undefined) flags.push(`-entry=${options.entry}`);
    for (const [name, size] of Object.entries(options.symbols ?? {})) flags.push(`-sym=${name}=${size}`);
    const result = await this.run('ir-run', [...flags, '-o', 'results.npz', source], {...options, files});
    return {
      ok: result.exitCode === 0,
      exitCode: result.exitCode,
      text: decoder.decode(result.stdout),
      results: new Map(result.files).get('results.npz'),
      ...readErrorOutput(result.stderr),
    };
  }

  // All passes with their options.
  async listPasses() {
    const {stdout} = await this.run('ir-opt', ['-list-passes=json']);
    return JSON.parse(decoder.decode(stdout)).passes;
  }

  async version() {
    const {stdout} = await this.run('ir-opt', ['-version']);
    return decoder.decode(stdout).trim();
  }

  // Ends the worker. The object can be used again.
  close() {
    this.worker?.end();
    this.worker = undefined;
  }
}

// The functions over one object that all callers share.
export function makeApi(platform) {
  let shared;
  const instance = () => (shared ??= new IrOpt(platform, {}));
  return {
    load: async (options = {}) => {
      const tool = new IrOpt(platform, options);
      await tool.start(true);
      return tool;
    },
    run: (tool, args, options) => instance().run(tool, args, options),
    optimize: (input, options) => instance().optimize(input, options),
    verify: (input, options) => instance().verify(input, options),
    evaluate: (input, options) => instance().evaluate(input, options),
    listPasses: () => instance().listPasses(),
    version: () => instance().version(),
    close: () => instance().close(),
  };
}

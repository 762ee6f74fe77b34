/** A text or the bytes of a file. */
export type Input = string | Uint8Array | ArrayBuffer;

/** The formats that are read; `dot` is only written. */
export type Format = 'tvmscript' | 'onnx' | 'relay' | 'dot';


export interface Note {
  message: string;
  file?: string;
  line?: number;
  column?: number;
  end_line?: number;
  end_column?: number;
}

/** A message of a tool, as `ir-opt -diagnostics=json` prints it. */
export interface Diagnostic {
  severity: 'error' | 'warning' | 'remark' | 'note';
  kind: string;
  message: string;
  file?: string;
  line?: number;
  column?: number;
  end_line?: number;
  end_column?: number;
  notes: Note[];
  fixits: { replacement: string; file?: string; line?: number; column?: number; end_line?: number; end_column?: number }[];
}

/** The report of a run, as `ir-opt -report=json` prints it; `ir-opt -print-schema=report` describes it. */
export interface Report {
  version: string;
  command: string;
  pipeline: string;
  exit_code: number;
  passes: Record<string, unknown>[];
  steps: Record<string, unknown>[];
  [more: string]: unknown;
}

export interface RunOptions {
  /** Files that the tool can read, by their paths. */
  files?: Record<string, Input>;
  /** The standard input. */
  stdin?: Input;
  /** Environment variables. */
  env?: Record<string, string>;
  /** Ends the run after so many milliseconds. */
  timeout?: number;
  /** The most bytes of memory; the tool fails when it needs more. */
  maxMemory?: number;
  /** Ends the run when it is aborted. */
  signal?: AbortSignal;
}

export interface RunResult {
  exitCode: number;
  stdout: Uint8Array;
  stderr: string;
  /** The files that the tool wrote, with their paths. */
  files: [path: string, contents: Uint8Array][];
}

export interface PipelineOptions extends RunOptions {
  /** A pipeline, or the names of passes. */
  passes?: string | string[];
  /** The level of optimization: 0 to 4. */
  level?: 0 | 1 | 2 | 3 | 4;
  /** More flags of the tool. */
  flags?: string[];
  /** The format of the input; found by its contents if not given. */
  from?: Format;
  /** The name of the input in messages. */
  name?: string;
}

export interface OptimizeOptions extends PipelineOptions {
  /** The format of the result; that of the input if not given. */
  to?: Format;
  /** Also returns the report of the run. */
  report?: boolean;
  /** Also returns the page of the report, as HTML. */
  reportPage?: boolean;
}

export interface Checked {
  ok: boolean;
  exitCode: number;
  diagnostics: Diagnostic[];
}

export interface Optimized extends Checked {
  /** The result; undefined if the run failed. */
  output?: Uint8Array;
  /** The result, if it is a text. */
  text?: string;
  report?: Report;
  reportPage?: string;
  /** Other files that were written, such as those of weights. */
  files: Map<string, Uint8Array>;
}

export interface EvaluateOptions extends PipelineOptions {
  /** The tensors of the inputs, as a file of NumPy (.npz); others are random. */
  inputs?: Input;
  /** The seed of random inputs. */
  seed?: number;
  /** The function to run. */
  entry?: string;
  /** The values of symbolic sizes. */
  symbols?: Record<string, number>;
}

export interface Evaluated extends Checked {
  /** The results as text. */
  text: string;
  /** The results as a file of NumPy (.npz). */
  results?: Uint8Array;
}

export interface Pass {
  name: string;
  kind: string;
  opt_level: number;
  summary: string;
  required: string[];
  options: Record<string, unknown>[];
  [more: string]: unknown;
}

/** A run that did not end by itself. */
export class RunEnded extends Error {
  readonly reason: 'timeout' | 'cancelled' | 'crashed';
}

/** The tools with a worker of their own. Runs of one object follow each other; a run that fails leaves nothing behind. */
export class IrOpt {
  private constructor();
  /** Runs `ir-opt` or `ir-run` with its flags on files in memory. */
  run(tool: 'ir-opt' | 'ir-run', args: string[], options?: RunOptions): Promise<RunResult>;
  /** Reads a module, runs passes, and writes it. */
  optimize(input: Input, options?: OptimizeOptions): Promise<Optimized>;
  /** Checks that a module is well-formed. */
  verify(input: Input, options?: PipelineOptions): Promise<Checked>;
  /** Runs a function of a module. */
  evaluate(input: Input, options?: EvaluateOptions): Promise<Evaluated>;
  listPasses(): Promise<Pass[]>;
  version(): Promise<string>;
  /** Ends the worker. */
  close(): void;
}

/**
 * Loads the module, starts a worker and makes it ready for fast runs, and returns an object with the options as its defaults. The
 * other functions load what they need in their first call, which takes longer.
 */
export function load(options?: RunOptions): Promise<IrOpt>;

/** The same functions with one worker that all callers share. */
export function run(tool: 'ir-opt' | 'ir-run', args: string[], options?: RunOptions): Promise<RunResult>;
export function optimize(input: Input, options?: OptimizeOptions): Promise<Optimized>;
export function verify(input: Input, options?: PipelineOptions): Promise<Checked>;
export function evaluate(input: Input, options?: EvaluateOptions): Promise<Evaluated>;
export function listPasses(): Promise<Pass[]>;
export function version(): Promise<string>;
export function close(): void;

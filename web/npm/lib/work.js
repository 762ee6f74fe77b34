// What workers do: they run the tool on files in memory, and answer with what it wrote.
import {MemoryFiles, MemoryStream} from './memory_files.js';
import {Tool} from './tool.js';

const FOLDER = '/work';

function join(parts) {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function work(tool, {tool: name, args, files: given, stdin, env, maxMemory}) {
  const files = new MemoryFiles();
  files.mkdir('/tmp');
  files.mkdir(FOLDER);
  const inputs = new Map();
  for (const [path, bytes] of given) {
    files.put(`${FOLDER}/${path}`, bytes);
    inputs.set(path, bytes);
  }
  const out = [];
  const err = [];
  const streams = [
    new MemoryStream(() => {}, stdin),
    new MemoryStream((part) => out.push(part)),
    new MemoryStream((part) => err.push(part)),
  ];
  const inputBytes = given.reduce((sum, [, bytes]) => sum + bytes.length, 0);
  const exitCode = tool.run({name, args, files, streams, env: {...env, PWD: FOLDER}, maxMemory, inputBytes});
  const written = [];
  for (const path of files.paths()) {
    if (!path.startsWith(`${FOLDER}/`)) continue;
    const name = path.slice(FOLDER.length + 1);
    const bytes = files.get(path);
    const before = inputs.get(name);
    if (before && before.buffer === bytes.buffer) continue;
    // Names of one file share its bytes, which are handed over once.
    const isTaken = written.some(([, other]) => other.buffer === bytes.buffer);
    written.push([name, isTaken ? bytes.slice() : bytes]);
  }
  return {exitCode, stdout: join(out), stderr: join(err), files: written};
}

// A model and flags whose runs use most of what other runs use: engines compile a function when it is called for the first time.
const SMALL_MODEL = `@R.function
def main(x: R.Tensor((1, 3, 8, 8), "float32")):
    with R.dataflow():
        w = R.const([[[[1.0]], [[2.0]], [[3.0]]]], "float32")
        y = R.nn.relu(R.nn.conv2d(x, w))
        z = R.reshape(R.add(y, R.multiply(R.const(2.0, "float32"), R.const(3.0, "float32"))), R.shape([1, 64]))
        R.output(z)
    return z
`;
const SMALL_RUNS = [
  {from: 'small.ir', to: 'small.onnx'},
  {from: 'small.onnx', to: 'smaller.onnx'},
];

function warmUp(tool) {
  let files = [['small.ir', new TextEncoder().encode(SMALL_MODEL)]];
  for (const {from, to} of SMALL_RUNS)
    files = work(tool, {tool: 'ir-opt', args: ['-O3', '-diagnostics=json', from, '-o', to], files, env: {}}).files;
}

// What a worker does with messages. The first one has the module; it is answered when the worker is ready. post(answer, buffers)
// answers, and hands over the buffers.
export function makeWorker(post) {
  let tool;
  return (message) => {
    if (message.module) {
      tool = new Tool(message.module);
      if (message.warmUp) warmUp(tool);
      post({}, []);
      return;
    }
    const answer = work(tool, message);
    post(answer, [answer.stdout, answer.stderr, ...answer.files.map(([, bytes]) => bytes)].map((bytes) => bytes.buffer));
  };
}

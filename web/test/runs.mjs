// Tests that runs in one instance of the module do not influence each other: each has the result that it has in a new instance, whatever
// was run before, and the memory does not grow with the number of runs.
import assert from 'node:assert/strict';
import fs from 'node:fs';

const ROOT = new URL('../../', import.meta.url);
const {MemoryFiles, MemoryStream} = await import(new URL('build-wasm/npm/package/lib/memory_files.js', ROOT));
const {heapParts, Tool} = await import(new URL('build-wasm/npm/package/lib/tool.js', ROOT));

const {makeWasi} = await import(new URL('build-wasm/npm/package/lib/wasi.js', ROOT));

const module = new WebAssembly.Module(fs.readFileSync(new URL('build-wasm/bin/ir-opt.wasm', ROOT)));
const model = fs.readFileSync(new URL('examples/cnn.onnx', ROOT));
const text = fs.readFileSync(new URL('examples/cnn.ir', ROOT));
const wrong = Buffer.from('@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    return y\n');
const large = Buffer.from('@R.function\ndef main(x: R.Tensor((4096, 4096), "float32")):\n    return R.add(x, x)\n');
const deep = Buffer.from(`${'('.repeat(100000)}`);
const files = {'in.onnx': model, 'in.ir': text, 'wrong.ir': wrong, 'large.ir': large, 'deep.ir': deep};

// Each with its flags; some set what others must not see.
const RUNS = [
  ['ir-opt', '-O3 in.onnx -o out.onnx'],
  ['ir-opt', '-O3 in.ir -o out.ir -disable=FoldConstant -stats -diagnostics=json'],
  ['ir-opt', '-O3 in.onnx -o out.onnx', {IROPT_FLAGS: '-disable=FoldConstant'}],
  ['ir-opt', '-no-such-flag in.ir'],
  ['ir-opt', '-passes=NoSuchPass in.ir'],
  ['ir-opt', '-passes=FoldConstant<fold_qnn=7> in.ir'],
  ['ir-opt', '-O3 wrong.ir'],
  ['ir-opt', '-O3 wrong.ir -diagnostics=json'],
  ['ir-opt', '-O3 missing.ir'],
  ['ir-opt', '-O1 -verify-each -report=json in.ir -o out.ir', {TERM: 'xterm'}],
  ['ir-opt', '-passes=LegalizeOps,FuseOps,FuseTIR in.ir -emit=tvmscript -o out.ir'],
  ['ir-opt', '-O1 -disable=FoldConstant in.onnx -o out.onnx'],
  ['ir-opt', 'deep.ir'],
  ['ir-run', '-random-inputs -print in.ir'],
  ['ir-run', '-random-inputs -seed=7 -print in.onnx'],
  ['ir-run', '-random-inputs large.ir -o out.npz'],
  ['ir-opt', '-list-passes'],
  ['ir-opt', '-help'],
];

function runWith(tool, [name, flags, env = {}], limits = {}) {
  const memory = new MemoryFiles();
  memory.mkdir('/tmp');
  memory.mkdir('/work');
  for (const [path, bytes] of Object.entries(files)) memory.put(`/work/${path}`, bytes);
  const printed = ['', ''];
  const stream = (i) => new MemoryStream((part) => (printed[i] += Buffer.from(part).toString('latin1')));
  const streams = [new MemoryStream(() => {}), stream(0), stream(1)];
  const code = tool.run({name, args: flags.split(' '), files: memory, streams, env: {...env, PWD: '/work'}, ...limits});
  const out = [...memory.paths()].filter((path) => path.startsWith('/work/out')).map((path) => [path, Buffer.from(memory.get(path))]);
  // A report has the times of passes.
  const withoutTimes = printed[1].replace(/"[a-z_]*(ms|seconds|time|rss|bytes)[a-z_]*": ?[\d.e+-]+/g, '');
  return {code, out, printed: [printed[0], withoutTimes]};
}
const sizeOf = (tool) => tool.program.memory.buffer.byteLength;

// What is kept of a heap has the zeros that are in use.
const heap = new Uint8Array(1 << 20);
heap.fill(1, 5000, 6000);
heap.fill(1, 300000, 300001);
heap.fill(1, heap.length - 4);
const kept = heapParts(heap.buffer, 4096);
const dirty = new Uint8Array(heap.length).fill(7);
for (const {begin, contents} of kept) dirty.set(contents, begin);
assert.ok(Buffer.from(heap.subarray(4096, 300001)).equals(dirty.subarray(4096, 300001)));
assert.deepEqual(heap.subarray(-4096), dirty.subarray(-4096));
assert.ok(kept.reduce((sum, {contents}) => sum + contents.length, 0) < 310000);
// Preparing a program must not ask for what differs between runs.
const {imports} = makeWasi(new WebAssembly.Memory({initial: 1}));
for (const name of ['environ_sizes_get', 'args_get', 'path_open', 'clock_time_get', 'random_get'])
  assert.throws(() => imports[name](0, 0, 0), /before the first run/);
console.log('what is kept of a prepared program');

const expected = RUNS.map((run) => runWith(new Tool(module), run));
assert.equal(expected.filter(({code}) => code === 0).length, 11, JSON.stringify(expected.map(({code}) => code)));
assert.notDeepEqual(expected[0].out, expected[2].out);

const tool = new Tool(module);
const check = (i) => assert.deepEqual(runWith(tool, RUNS[i]), expected[i], `${RUNS[i]}`);
for (let i = 0; i < RUNS.length; ++i) {
  check(0);
  check(i);
  check(1);
}
for (let i = RUNS.length - 1; i >= 0; --i) check(i);
console.log(`${RUNS.length} runs have the same results after each other`);

const limited = runWith(tool, RUNS[15], {maxMemory: 100 << 20});
assert.equal(limited.code, 7, limited.printed[1]);
check(0);
// An instance that traps is not used again.
const trap = () => {
  throw new WebAssembly.RuntimeError('unreachable');
};
tool.program.exports = {...tool.program.exports, _start: trap};
assert.equal(runWith(tool, RUNS[0]).code, 70);
check(0);
tool.program.exports = {...tool.program.exports, _start: () => new Uint8Array(2 ** 53)};
const without = runWith(tool, RUNS[0]);
assert.equal(without.code, 7);
assert.match(without.printed[1], /too little memory/);
tool.program = undefined;
check(0);
console.log('and after runs that are ended');

for (let i = 0; i < 5; ++i) for (const run of [0, 1, 15]) check(run);
const size = sizeOf(tool);
for (let i = 0; i < 40; ++i) for (const run of [0, 1, 3, 15]) check(run);
assert.equal(sizeOf(tool), size);
console.log(`the memory stays at ${size >> 20} MB`);

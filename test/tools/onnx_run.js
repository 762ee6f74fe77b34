// Runs models with onnxruntime-node and compares the results with recorded ones. The argument is a file of jobs,
// [{"model": FILE, "inputs": [FILE], "outputs": [FILE]}], whose tensors are files of one TensorProto each. A job with
// "save": PREFIX instead of outputs records the results, in PREFIX0.pb and so on; one with "write": FILE writes what
// onnxruntime makes of the model at the level, and runs nothing. Prints one line of JSON for each:
// {"status": "same" | "different" | "failed", "reason": TEXT}.
const fs = require('fs');
const ort = require('onnxruntime-node');

const kTypes = {1: 'float32', 2: 'uint8', 3: 'int8', 4: 'uint16', 5: 'int16', 6: 'int32', 7: 'int64', 8: 'string',
                9: 'bool', 10: 'float16', 11: 'float64', 12: 'uint32', 13: 'uint64'};
const kArrays = {float32: Float32Array, uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array,
                 int32: Int32Array, int64: BigInt64Array, bool: Uint8Array, float16: Uint16Array,
                 float64: Float64Array, uint32: Uint32Array, uint64: BigUint64Array};

function readVarint(state) {
  let value = 0n, shift = 0n;
  for (;;) {
    const byte = state.bytes[state.at++];
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return BigInt.asIntN(64, value);
    shift += 7n;
  }
}

function readTensor(path) {
  const bytes = fs.readFileSync(path);
  const state = {bytes, at: 0};
  const tensor = {dims: [], type: 0, numbers: [], strings: [], name: ''};
  const varints = (wire, list) => {
    if (wire === 0) return list.push(readVarint(state));
    const end = Number(readVarint(state)) + state.at;
    while (state.at < end) list.push(readVarint(state));
  };
  while (state.at < bytes.length) {
    const tag = Number(readVarint(state)), field = tag >> 3, wire = tag & 7;
    if (field === 1) { varints(wire, tensor.dims); continue; }
    if (field === 5 || field === 7 || field === 11) { varints(wire, tensor.numbers); continue; }
    if (wire === 0) { const v = readVarint(state); if (field === 2) tensor.type = Number(v); continue; }
    if (wire === 5) { const part = bytes.subarray(state.at, state.at += 4); if (field === 4) tensor.raw = Buffer.concat([tensor.raw || Buffer.alloc(0), part]); continue; }
    if (wire === 1) { const part = bytes.subarray(state.at, state.at += 8); if (field === 10) tensor.raw = Buffer.concat([tensor.raw || Buffer.alloc(0), part]); continue; }
    const size = Number(readVarint(state)), part = bytes.subarray(state.at, state.at += size);
    if (field === 4 || field === 9 || field === 10) tensor.raw = part;
    if (field === 6) tensor.strings.push(part.toString());
    if (field === 8) tensor.name = part.toString();
  }
  const type = kTypes[tensor.type];
  if (!type) throw new Error(`no tensors of type ${tensor.type}`);
  const dims = tensor.dims.map(Number);
  if (type === 'string') return {name: tensor.name, value: new ort.Tensor('string', tensor.strings, dims)};
  const ArrayType = kArrays[type];
  let data;
  if (tensor.raw) {
    const copy = new Uint8Array(tensor.raw);
    data = new ArrayType(copy.buffer, 0, copy.length / ArrayType.BYTES_PER_ELEMENT);
  } else {
    const big = ArrayType === BigInt64Array || ArrayType === BigUint64Array;
    data = ArrayType.from(big ? tensor.numbers : tensor.numbers.map(Number));
  }
  return {name: tensor.name, value: new ort.Tensor(type, data, dims)};
}

function varint(value) {
  const bytes = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    const low = Number(rest & 127n);
    if (rest < 128n) return [...bytes, low];
    bytes.push(low | 128);
  }
}

function writeTensor(path, tensor) {
  const type = Object.keys(kTypes).find(number => kTypes[number] === tensor.type);
  if (!type || tensor.type === 'string') throw new Error(`results of type ${tensor.type} are not recorded`);
  const raw = Buffer.from(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
  const dims = tensor.dims.flatMap(dim => [8, ...varint(dim)]);
  fs.writeFileSync(path, Buffer.concat([Buffer.from([...dims, 16, Number(type), 74, ...varint(raw.length)]), raw]));
}

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function numbersOf(tensor) {
  if (tensor.type === 'string') return tensor.data;
  const data = Array.from(tensor.data, Number);
  if (tensor.type !== 'float16') return data;
  return tensor.data instanceof Uint16Array ? data.map(half) : data;
}

function difference(wanted, actual, index) {
  if (!actual || !actual.dims) return `output ${index}: not a tensor`;
  if (wanted.type !== actual.type) return `output ${index}: type ${actual.type} instead of ${wanted.type}`;
  if (wanted.dims.join() !== actual.dims.join()) return `output ${index}: shape [${actual.dims}] instead of [${wanted.dims}]`;
  const a = numbersOf(wanted), b = numbersOf(actual);
  const half_precision = wanted.type === 'float16';
  const relative = half_precision ? 1e-2 : 1e-3, absolute = half_precision ? 1e-2 : 1e-5;
  for (let i = 0; i < a.length; ++i) {
    if (a[i] === b[i] || (Number.isNaN(a[i]) && Number.isNaN(b[i]))) continue;
    if (wanted.type !== 'string' && Math.abs(a[i] - b[i]) <= absolute + relative * Math.abs(a[i])) continue;
    return `output ${index}, element ${i}: ${b[i]} instead of ${a[i]}`;
  }
  return null;
}

async function run(job) {
  let session;
  try {
    session = await ort.InferenceSession.create(job.model, {logSeverityLevel: 4, intraOpNumThreads: 1,
      interOpNumThreads: 1, graphOptimizationLevel: job.level || 'all',
      ...(job.write && {optimizedModelFilePath: job.write})});
    if (job.write) return {status: 'same'};
    const feeds = {};
    job.inputs.forEach((path, i) => { feeds[session.inputNames[i]] = readTensor(path).value; });
    const results = await session.run(feeds);
    if (job.save) {
      session.outputNames.forEach((name, i) => writeTensor(`${job.save}${i}.pb`, results[name]));
      return {status: 'same'};
    }
    for (let i = 0; i < job.outputs.length; ++i) {
      const reason = difference(readTensor(job.outputs[i]).value, results[session.outputNames[i]], i);
      if (reason) return {status: 'different', reason};
    }
    return {status: 'same'};
  } catch (error) {
    return {status: 'failed', reason: String(error.message || error).split('\n')[0]};
  } finally {
    if (session) await session.release();
  }
}

(async () => {
  for (const job of JSON.parse(fs.readFileSync(process.argv[2]))) console.log(JSON.stringify(await run(job)));
})();

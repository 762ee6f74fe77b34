// Random operations on a file of web/npm/lib/memory_files.js give what they give on an array.
import assert from 'node:assert/strict';

import {MemoryFiles} from '../npm/lib/memory_files.js';

let state = 12345;
function random(below) {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}
const someBytes = (size) => Uint8Array.from({length: size}, () => random(256));
// Most are small, some larger than a block.
const someSize = () => (random(20) === 0 ? 1500000 + random(1000) : random(500));

for (let round = 0; round < 40; ++round) {
  const files = new MemoryFiles();
  const given = someBytes(random(3) * 300);
  const original = given.slice();
  files.put('/a/b', given);
  let expected = given.slice();
  const file = files.open('/a/b', {read: true, write: true});
  for (let step = 0; step < 60; ++step) {
    const kind = random(5);
    if (kind < 3) {
      const part = someBytes(someSize());
      const begin = kind < 2 ? expected.length : random(expected.length + 10);
      file.write(part, BigInt(begin));
      const grown = new Uint8Array(Math.max(expected.length, begin + part.length));
      grown.set(expected);
      grown.set(part, begin);
      expected = part.length === 0 ? expected : grown;
    } else if (kind === 3) {
      const size = random(expected.length + 100);
      file.truncate(size);
      const cut = new Uint8Array(size);
      cut.set(expected.subarray(0, size));
      expected = cut;
    } else {
      const part = new Uint8Array(random(1000));
      const begin = random(expected.length + 1);
      const count = file.read(part, BigInt(begin));
      assert.deepEqual(part.subarray(0, count), expected.slice(begin, begin + part.length));
    }
    assert.equal(file.stat().size, expected.length);
  }
  assert.ok(Buffer.from(expected).equals(files.get('/a/b')));
  assert.deepEqual(given, original);
}
console.log('memory files: random operations');

// Tests the size of the module as servers send it: compressed as Brotli, at most 4 MB.
import fs from 'node:fs';
import zlib from 'node:zlib';

const MOST_BYTES = 4_000_000;
const module = fs.readFileSync(new URL('../../build-wasm/bin/ir-opt.wasm', import.meta.url));
const {BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN, BROTLI_PARAM_SIZE_HINT, BROTLI_MAX_QUALITY} = zlib.constants;
const params = {[BROTLI_PARAM_QUALITY]: BROTLI_MAX_QUALITY, [BROTLI_PARAM_LGWIN]: 24, [BROTLI_PARAM_SIZE_HINT]: module.length};
const compressed = zlib.brotliCompressSync(module, {params}).length;
console.log(`ir-opt.wasm: ${module.length} bytes, ${compressed} as Brotli, of at most ${MOST_BYTES}`);
process.exitCode = compressed > MOST_BYTES ? 1 : 0;

// What a worker does with a message: runs the tool on files in memory, and answers with what it wrote. buffersOf(answer) are those
// that the worker can hand over instead of copying them.
import {MemoryFiles, MemoryStream} from './memory_files.js';
import {runTool} from './tool.js';

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

export function work(module, {tool, args, files: given, stdin, env, maxMemory}) {
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
  const exitCode = runTool({module, name: tool, args, files, streams, env: {...env, PWD: FOLDER}, maxMemory, inputBytes});
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

export function buffersOf({stdout, stderr, files}) {
  return [stdout, stderr, ...files.map(([, bytes]) => bytes)].map((bytes) => bytes.buffer);
}

// Runs commands of the package for many short processes: the module is compiled once, and its code stays optimized.
//
//   node tool_server.mjs SOCKET PACKAGE THREADS
//
// A connection sends one JSON object, {name, args, env, stdin}, and ends; the answer is {code, output}, with the writes to the
// standard streams in their order. env.PWD is the folder of the run. Bytes are in base64. Ends when its standard input does.
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {Worker, isMainThread, parentPort, workerData} from 'node:worker_threads';

// As in lib/command.js of the package.
const STACK_MEGABYTES = 256;
const CRASHED = 134;

function serve(socket, folder, threads) {
  const module = new WebAssembly.Module(fs.readFileSync(path.join(folder, 'ir-opt.wasm')));
  const idle = [];
  const waiting = [];

  const start = () => {
    const thread = new Worker(new URL(import.meta.url), {
      workerData: {module, folder},
      resourceLimits: {stackSizeMb: STACK_MEGABYTES, maxOldGenerationSizeMb: 4096},
    });
    const worker = {thread, job: undefined};
    const end = (answer) => {
      worker.job?.(answer);
      worker.job = undefined;
    };
    thread.on('message', (answer) => {
      end(answer);
      idle.push(worker);
      next();
    });
    thread.on('error', (error) => end({code: CRASHED, output: [[2, Buffer.from(`${error}\n`).toString('base64')]]}));
    thread.on('exit', () => {
      end({code: CRASHED, output: []});
      start();
    });
    idle.push(worker);
    next();
  };
  const next = () => {
    while (idle.length > 0 && waiting.length > 0) {
      const {request, connection} = waiting.shift();
      if (connection.destroyed) continue;
      const worker = idle.pop();
      // Who does not wait for an answer has ended the command.
      const stop = () => void worker.thread.terminate();
      connection.on('close', stop);
      worker.job = (answer) => {
        connection.off('close', stop);
        connection.end(JSON.stringify(answer));
      };
      worker.thread.postMessage(request);
    }
  };
  for (let i = 0; i < threads; ++i) start();

  const server = net.createServer({allowHalfOpen: true}, (connection) => {
    const parts = [];
    connection.on('data', (part) => parts.push(part));
    connection.on('error', () => {});
    connection.on('end', () => {
      waiting.push({request: JSON.parse(Buffer.concat(parts).toString()), connection});
      next();
    });
  });
  server.listen(socket, () => console.log('ready'));
  process.stdin.on('end', () => process.exit(0)).resume();
}

async function work({module, folder}) {
  const library = (file) => import(pathToFileURL(path.join(folder, 'lib', file)).href);
  const {MemoryStream} = await library('memory_files.js');
  const {NodeFiles} = await library('node_files.js');
  const {Tool} = await library('tool.js');
  const tool = new Tool(module);
  parentPort.on('message', ({name, args, env, stdin}) => {
    const output = [];
    const stream = (fd) => new MemoryStream((part) => output.push([fd, Buffer.from(part).toString('base64')]), Buffer.from(stdin, 'base64'));
    const code = tool.run({name, args, files: new NodeFiles(), streams: [0, 1, 2].map(stream), env});
    parentPort.postMessage({code, output});
  });
}

if (isMainThread) serve(...process.argv.slice(2, 4), Number(process.argv[4]));
else work(workerData);

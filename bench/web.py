#!/usr/bin/env python3
"""Measures the WebAssembly build in headless Chromium, next to the native ir-opt, and to onnxsim's npm package.

    web.py [--ir-opt build/bin/ir-opt] [--models FOLDER] [--only NAME,...] [--node-modules DIR] [--repeat 5] [--check] [--node [--write]]

The models are those of onnx_peers.py and, with --models, a folder of models as TVMScript (squeezenet.ir, resnet50.ir), these with
random weights; onnxsim gets the first ones. Each is read, optimized by -O3 and written in a page that has loaded the module: the first time, when the engine has
compiled little of the code, and the best of the following times. The native time is the best one of a process. onnxsim runs in Node
with its module loaded as well, the best of the same number of times. With --node, Node runs both packages instead, each model in a
process of its own: from the start of a process to the result, the first call after the module is loaded, and the best of the following
ones; --write puts this table and the sentence below it into docs/web.md. With --check, the exit code is 1 if squeezenet takes more than
0.3 s, a model more than 4 times the native time, onnxsim leaves fewer nodes, or takes more than 0.1 s and less than ten times as long. Needs what
scripts/web.sh builds, Chromium, and Python's onnx (python3-onnx)."""
import argparse
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import with_onnx  # noqa: F401

import models
import onnx_peers as peers

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "test", "tools"))
from browser import Browser  # noqa: E402

SITE = os.path.join(ROOT, "build-wasm", "site")
PACKAGE = os.path.join(ROOT, "build-wasm", "npm", "package")
DOCUMENT = os.path.join(ROOT, "docs", "web.md")
# The table of the document, and its names of the models of onnx_peers.py.
HEADER = ("| model | command | start to result | first call | later calls | onnxsim: start to result | first call | later calls "
          "| times as long |")
TITLES = {"resnet50": "ResNet-50, 100 MB", "mobile": "convolutions by channel", "padded": "padding as nodes",
          "dense": "layers that take all before them", "images": "transposed convolutions", "encoder": "transformer, sizes unknown",
          "recurrent": "recurrent", "shapes": "grids and masks of a shape", "folded": "nodes that do nothing", "quantized": "quantized"}
MOST_SECONDS = {"squeezenet": 0.3}
MOST_OF_NATIVE = 4
LEAST_OF_ONNXSIM = 10
# A run of ir-opt takes some milliseconds at least, one of onnxsim less on models of a few nodes.
LEAST_SECONDS_OF_ONNXSIM = 0.1

# Each run is a message to a worker with the bytes, and back.
IN_PAGE = """
(async () => {
  const {load} = await import('/ir-opt/browser.js');
  const tool = await load();
  await tool.version();
  const results = {};
  for (const name of NAMES) {
    const bytes = new Uint8Array(await (await fetch(`/models/${name}.onnx`)).arrayBuffer());
    const times = [];
    for (let i = 0; i <= REPEAT; ++i) {
      const begin = performance.now();
      const result = await tool.optimize(bytes, {level: 3});
      times.push((performance.now() - begin) / 1000);
      if (!result.ok) return `${name}: ${JSON.stringify(result.diagnostics)}`;
    }
    results[name] = times;
  }
  return results;
})()
"""
# onnxsim in one process, which has loaded its module with the first model.
ONNXSIM = """
import fs from 'node:fs';
import path from 'node:path';
import url from 'node:url';
const [folder, repeat, out, ...files] = process.argv.slice(2);
const {simplify} = await import(url.pathToFileURL(path.join(folder, 'onnxsim', 'index.mjs')).href);
const results = {};
for (const file of files) {
  const name = path.basename(file, '.onnx');
  const bytes = fs.readFileSync(file);
  const times = [];
  try {
    for (let i = 0; i <= repeat; ++i) {
      const begin = performance.now();
      const {model} = await simplify(bytes);
      times.push((performance.now() - begin) / 1000);
      fs.writeFileSync(path.join(out, `${name}.onnx`), model);
    }
    results[name] = times;
  } catch (error) {
    results[name] = null;
  }
}
fs.writeFileSync(path.join(out, 'seconds.json'), JSON.stringify(results));
process.exit(0);
"""


# A process that writes the milliseconds of its calls, the first one first; `now` is that since its start.
NODE_TIMES = """
import fs from 'node:fs';
const [name, package_, file, repeat, out] = process.argv.slice(2);
const bytes = fs.readFileSync(file);
const {load, simplify} = await import(package_);
const tool = name === 'ir-opt' ? await load() : undefined;
const run = async () => tool ? (await tool.optimize(bytes, {level: 3})).output : (await simplify(bytes)).model;
const times = [];
let now, model;
for (let i = 0; i <= repeat; ++i) {
  const begin = performance.now();
  model = await run();
  times.push(performance.now() - begin);
  now ??= performance.now();
}
fs.writeFileSync(`${out}.onnx`, model);
fs.writeFileSync(out, JSON.stringify({now, times}));
process.exit(0);
"""


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".wasm": "application/wasm", ".js": "text/javascript"}

    def log_message(self, *_):
        pass


def make_models(args, folder):
    """Writes the models, and returns their names."""
    names = []
    only = args.only.split(",") if args.only else None
    for name, make in peers.MODELS.items():
        if only and name not in only:
            continue
        path = os.path.join(folder, f"{name}.onnx")
        make(path)
        peers.state_output(path, ["batch", "sequence", 64] if name == "encoder" else None)
        names.append(name)
    for path in models.models_in(args.models) if args.models else ():
        name = os.path.splitext(os.path.basename(path))[0]
        if name in names or (only and name not in only):
            continue
        with tempfile.TemporaryDirectory() as at_hand:
            out = os.path.join(at_hand, f"{name}.onnx")
            subprocess.run([args.ir_opt, f"-passes={models.bound_weights(path, at_hand)}", path, "-o", out], check=True, capture_output=True)
            # With the weights in the file.
            peers.big.onnx.save(peers.big.onnx.load(out), os.path.join(folder, f"{name}.onnx"))
        names.append(name)
    return names


def native_seconds(ir_opt, path, repeat):
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(repeat + 1):
            begin = time.monotonic()
            subprocess.run([ir_opt, "-O3", path, "-o", os.path.join(folder, "out.onnx")], check=True, capture_output=True)
            times.append(time.monotonic() - begin)
    return min(times)


def in_browser(site, names, repeat):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with Browser(seconds=600) as browser:
        page = browser.open(f"http://127.0.0.1:{server.server_port}/index.html")
        page.wait("['', 'loading', 'running'].indexOf(document.querySelector('#status').textContent) < 0")
        found = page.eval(IN_PAGE.replace("NAMES", json.dumps(names)).replace("REPEAT", str(repeat)))
    server.shutdown()
    if isinstance(found, str):
        sys.exit(found)
    return found


def onnxsim(node_modules, paths, repeat, folder):
    script = os.path.join(folder, "onnxsim.mjs")
    with open(script, "w", encoding="utf-8") as file:
        file.write(ONNXSIM)
    subprocess.run(["node", script, node_modules, str(repeat), folder, *paths], capture_output=True, check=True)
    with open(os.path.join(folder, "seconds.json"), encoding="utf-8") as file:
        return json.load(file)


def in_node(command, repeat, folder):
    """The milliseconds from the start to the first result, of the first call, and the least of the later ones; and the nodes of the result."""
    out = os.path.join(folder, "times.json")
    subprocess.run([*command, str(repeat), out], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(out, encoding="utf-8") as file:
        found = json.load(file)
    return found["now"], found["times"][0], min(found["times"][1:]), peers.big.nodes_in(f"{out}.onnx")


def command_ms(path, repeat, folder):
    """The least milliseconds of the command, from the start of its process to the end."""
    times = []
    for _ in range(repeat):
        begin = time.monotonic()
        subprocess.run(["node", os.path.join(PACKAGE, "bin", "ir-opt.js"), "-O3", path, "-o", os.path.join(folder, "out.onnx")], check=True,
                       capture_output=True)
        times.append((time.monotonic() - begin) * 1000)
    return min(times)


def node_rows(args, paths, folder, problems):
    """The measured model of each row: its name, the milliseconds of the command, and those of each package."""
    script = os.path.join(folder, "times.mjs")
    with open(script, "w", encoding="utf-8") as file:
        file.write(NODE_TIMES)
    packages = {"ir-opt": os.path.join(PACKAGE, "lib", "node.js")}
    if args.node_modules:
        packages["onnxsim"] = os.path.join(os.path.abspath(args.node_modules), "onnxsim", "index.mjs")
    for name, path in paths.items():
        command = command_ms(path, args.repeat, folder)
        found = []
        for package, module in packages.items():
            runs = [in_node(["node", script, package, module, path], args.repeat, folder) for _ in range(3)]
            found.append([min(column) for column in zip(*runs)])
        if len(found) == 2:
            (*_, later, nodes), (*_, their_later, their_nodes) = found
            problems += compared(name, nodes, their_nodes, later / 1000, their_later / 1000)
        yield name, command, *(times[:3] for times in found)


def row_in_node(name, command, ours, theirs=None):
    cells = [TITLES.get(name, name), f"{command:.0f} ms"]
    for start, first, later in filter(None, (ours, theirs)):
        cells += [f"{start:.0f} ms", f"{first:.0f} ms", f"{later:.1f} ms"]
    if theirs:
        cells.append(", ".join(f"{other / own:.1f}" for own, other in zip(ours, theirs)))
    return f"| {' | '.join(cells)} |"


def ratios_in_node(rows):
    """The sentence below the table."""
    ratios = [[other / own for own, other in zip(ours, theirs)] for _, _, ours, theirs in rows]
    start, first, later = ((min(column), max(column)) for column in zip(*ratios))
    return (f"So the first call is {first[0]:.0f} to {first[1]:.0f} times as fast, the start with the first result {start[0]:.1f} to {start[1]:.1f} "
            f"times, and later calls {later[0]:.1f} to {later[1]:.1f} times.")


def write_in_document(lines):
    """Replaces the table and the sentence below it."""
    with open(DOCUMENT, encoding="utf-8") as file:
        before, rest = file.read().split(f"{HEADER}\n")
    _, _, after = rest.split("\n\n", 1)[1].partition("times.")
    with open(DOCUMENT, "w", encoding="utf-8") as file:
        file.write(before + "\n".join(lines) + after)


def compare_in_node(args, paths, folder):
    theirs = bool(args.node_modules)
    lines = [HEADER if theirs else HEADER.split(" | onnxsim")[0] + " |"]
    lines.append("| --- " * lines[0].count(" |") + "|")
    print("\n".join(lines))
    problems, rows = [], []
    for row in node_rows(args, paths, folder, problems):
        rows.append(row)
        lines.append(row_in_node(*row))
        print(lines[-1], flush=True)
    if theirs:
        lines += ["", ratios_in_node(rows)]
        print(lines[-1])
    if args.write:
        write_in_document(lines)
    return problems


def compared(name, nodes, their_nodes, seconds, their_seconds):
    """Describes what does not hold of a model and onnxsim."""
    problems = []
    if nodes > their_nodes:
        problems.append(f"{name} has {nodes} nodes, and {their_nodes} after onnxsim")
    if LEAST_SECONDS_OF_ONNXSIM < their_seconds < LEAST_OF_ONNXSIM * seconds:
        problems.append(f"{name}: onnxsim takes {their_seconds / seconds:.1f} times as long")
    return problems


def report(name, times, native, theirs, nodes):
    """Prints a row, and returns what does not hold."""
    first, best = times[0], min(times[1:])
    problems = []
    if best > MOST_SECONDS.get(name, best):
        problems.append(f"{name} takes {best:.3f} s")
    if best > MOST_OF_NATIVE * native:
        problems.append(f"{name} takes {best / native:.1f} times the native time")
    row = f"| {name} | {first * 1000:.0f} ms | {best * 1000:.0f} ms | {native * 1000:.0f} ms | {best / native:.1f} | {nodes[0]} "
    if theirs:
        problems += compared(name, *nodes, best, min(theirs))
        row += f"| {nodes[1]} | {min(theirs) * 1000:.0f} ms | {min(theirs) / best:.0f} |"
    else:
        row += "| | | |"
    print(row)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", default=os.path.join(ROOT, "build", "bin", "ir-opt"))
    parser.add_argument("--models", metavar="FOLDER")
    parser.add_argument("--only", default="", help="names of models, between commas")
    parser.add_argument("--node-modules", metavar="DIR", help="a folder with the package onnxsim")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--node", action="store_true", help="measure the packages in Node")
    parser.add_argument("--write", action="store_true", help="write the table of --node into docs/web.md")
    args = parser.parse_args()
    if args.write and not (args.node and args.node_modules and not args.only):
        parser.error("--write needs --node, --node-modules and all models")
    with tempfile.TemporaryDirectory() as folder:
        site = shutil.copytree(SITE, os.path.join(folder, "site"))
        at = os.path.join(site, "models")
        os.mkdir(at)
        names = make_models(args, at)
        paths = {name: os.path.join(at, f"{name}.onnx") for name in names}
        if args.node:
            problems = compare_in_node(args, paths, folder)
            print("\n".join(problems))
            return 1 if args.check and problems else 0
        times = in_browser(site, names, args.repeat)
        theirs = {}
        if args.node_modules:
            theirs = onnxsim(os.path.abspath(args.node_modules), [paths[name] for name in peers.MODELS if name in paths], args.repeat, folder)
        print("| model | first | best | native | times native | nodes | onnxsim: nodes | onnxsim | times as long |\n" + "| --- " * 9 + "|")
        problems = []
        for name, path in paths.items():
            native = native_seconds(args.ir_opt, path, args.repeat)
            ours = os.path.join(folder, "ours.onnx")
            subprocess.run([args.ir_opt, "-O3", path, "-o", ours], check=True, capture_output=True)
            other = os.path.join(folder, f"{name}.onnx")
            nodes = peers.big.nodes_in(ours), peers.big.nodes_in(other) if theirs.get(name) else None
            problems += report(name, times[name], native, theirs.get(name), nodes)
    print("\n".join(problems))
    return 1 if args.check and problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Tests the package for npm: installs the packed file in an empty project, runs its commands and its functions in Node, and
compiles a program in TypeScript. Without npm, of which Debian makes hundreds of packages, the file is unpacked to where npm installs it.

  package.py [--native build/bin/ir-opt]

With --native, results of the commands are compared with those of that program, byte for byte. Prints a line for each thing that
works; the exit code is 1 at the first one that does not.
"""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build-wasm")
# Inputs, and the flags of the runs that are compared.
COMPARED = [("examples/cnn.onnx", ["-O3"], "out.onnx"), ("examples/cnn.ir", ["-O3"], "out.ir"),
            ("examples/resnet50.ir", ["-O3"], "out.ir"), ("examples/relay/sequential.relay", ["-O3"], "out.relay"),
            ("docs/passes/LegalizeOps.ir", ["-passes=LegalizeOps,FuseTIR"], "out.ir"),
            ("docs/passes/tir.Simplify.ir", ["-passes=tir.Simplify", "-report=report.html"], "out.ir")]

FUNCTIONS = r"""
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {evaluate, listPasses, load, optimize, RunEnded, verify, version} from 'ir-opt';

const text = '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    with R.dataflow():\n' +
  '        y = R.add(R.const(1.0, "float32"), R.const(2.0, "float32"))\n        z = R.multiply(x, y)\n        R.output(z)\n' +
  '    return z\n';
const folded = await optimize(text, {passes: ['FoldConstant'], report: true});
assert.equal(folded.ok, true);
assert.match(folded.text, /R.const\(3/);
assert.ok(folded.report.passes.some((pass) => pass.name === 'FoldConstant' && pass.outcome === 'changed'));

const wrong = await optimize(text.replace('return z', 'return w'));
assert.equal(wrong.ok, false);
assert.equal(wrong.exitCode, 2);
assert.deepEqual([wrong.diagnostics[0].line, wrong.diagnostics[0].column], [7, 12]);
assert.match(wrong.diagnostics[0].message, /unknown name 'w'/);
assert.equal((await verify(text)).ok, true);

const model = fs.readFileSync(process.argv[2]);
const small = await optimize(model, {level: 3});
assert.equal(small.ok, true);
assert.ok(small.output.length > 0);
const values = await evaluate(text, {seed: 7});
assert.equal(values.ok, true);
assert.ok(values.results.length > 0);

assert.ok((await listPasses()).length > 150);
assert.match(await version(), /\d+\.\d+/);

// Limits.
const own = await load();
const long = ['@R.function', 'def main(x: R.Tensor((2000, 2000), "float32")):'];
for (let i = 0; i < 40; ++i) long.push(`    x${i} = R.matmul(${i ? `x${i - 1}` : 'x'}, x)`);
const slow = [...long, '    return x39', ''].join('\n');
const reason = async (promise) => {
  try {
    await promise;
    return 'none';
  } catch (error) {
    assert.ok(error instanceof RunEnded);
    return error.reason;
  }
};
assert.equal(await reason(own.evaluate(slow, {timeout: 500})), 'timeout');
const controller = new AbortController();
setTimeout(() => controller.abort(), 500);
assert.equal(await reason(own.evaluate(slow, {signal: controller.signal})), 'cancelled');
// While a worker starts.
const early = new AbortController();
const ended = reason(own.evaluate(slow, {signal: early.signal}));
setTimeout(() => early.abort(), 1);
assert.equal(await ended, 'cancelled');
assert.equal((await own.optimize(text, {level: 1})).ok, true);
const large = '@R.function\ndef main(x: R.Tensor((10000, 10000), "float32")):\n    return R.add(x, x)\n';
const limited = await own.evaluate(large, {maxMemory: 100 << 20});
assert.equal(limited.ok, false);
assert.equal(limited.exitCode, 7);
assert.match(limited.diagnostics[0].message, /memory/);
own.close();

// Runs leave nothing behind, whatever their end is.
const again = await load();
const first = await again.optimize(model, {level: 3});
for (const other of [text.replace('return z', 'return w'), `${'('.repeat(100000)}`, large])
  await again.evaluate(other, {maxMemory: 2 ** 31});
for (const options of [{}, {maxMemory: 2 ** 30}, {}]) {
  const repeated = await again.optimize(model, {level: 3, ...options});
  assert.deepEqual(repeated.output, first.output);
  assert.deepEqual(repeated.diagnostics, first.diagnostics);
}
again.close();
console.log('functions');
process.exit(0);
"""

PROGRAM = r"""
import { optimize, listPasses, RunEnded, type Optimized } from 'ir-opt';

const result: Optimized = await optimize('text', { level: 3, passes: ['FoldConstant'], report: true, timeout: 1000 });
const names: string[] = (await listPasses()).map((pass) => pass.name);
const first: string | undefined = result.diagnostics[0]?.message;
export { names, first, RunEnded };
// @ts-expect-error: levels are numbers up to 4
await optimize('text', { level: 5 });
"""


def run(command, folder, **options):
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, **options)
    if result.returncode != 0:
        raise SystemExit(f"package: failed: {' '.join(command)}\n{result.stdout}{result.stderr}")
    return result.stdout


# What this build cannot do, and the message.
FAILURES = [(["ir-opt", "-load-pass-plugin=libmine.so", "in.ir"], "cannot load plugin 'libmine.so': this build loads no plugins"),
            (["ir-run", "-random-inputs", "-loops=compile", "in.ir"], "shared objects cannot be loaded in this build"),
            (["ir-opt", "-bisect=true", "-passes=FoldConstant", "in.ir"], "processes cannot be started in this build")]


def install(folder, packed):
    """Makes a project in the folder, and installs the packed file in it."""
    if shutil.which("npm"):
        run(["npm", "init", "-y"], folder)
        run(["npm", "pkg", "set", "type=module"], folder)
        run(["npm", "install", "--no-audit", "--no-fund", packed], folder)
        return
    with open(os.path.join(folder, "package.json"), "w", encoding="utf-8") as file:
        json.dump({"name": "project", "type": "module"}, file)
    modules = os.path.join(folder, "node_modules")
    with tarfile.open(packed) as tar:
        tar.extractall(modules)
    os.rename(os.path.join(modules, "package"), os.path.join(modules, "ir-opt"))
    with open(os.path.join(modules, "ir-opt", "package.json"), encoding="utf-8") as file:
        commands = json.load(file)["bin"]
    os.mkdir(os.path.join(modules, ".bin"))
    for name, path in commands.items():
        os.symlink(os.path.join("..", "ir-opt", path), os.path.join(modules, ".bin", name))


def installed(name):
    """The command of a project."""
    return ["npx", "--no-install", name] if shutil.which("npx") else [os.path.join("node_modules", ".bin", name)]


def expect_failures(folder):
    with open(os.path.join(folder, "in.ir"), "w", encoding="utf-8") as file:
        file.write('@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    return x\n')
    for (name, *flags), message in FAILURES:
        command = [*installed(name), *flags]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if result.returncode == 0 or message not in result.stderr:
            raise SystemExit(f"package: failed: {' '.join(command)}: {result.stderr}")
    print("messages of what is missing")


def try_oldest(folder, model):
    """The oldest version of Node that the package supports, if it is installed next to another one."""
    node = os.path.join(BUILD, "tools", "node_modules", "node", "bin", "node")
    if not os.path.exists(node):
        return
    command = os.path.join("node_modules", "ir-opt", "bin", "ir-opt.js")
    run([node, command, "-O3", model, "-o", "oldest.onnx"], folder)
    if run([node, "functions.js", model], folder).strip() != "functions":
        raise SystemExit(f"package: failed: the functions in {node}")
    print(f"Node {run([node, '--version'], folder).strip()}")


def compare(folder, native):
    for source, flags, output in COMPARED:
        path = os.path.join(ROOT, source)
        results = []
        for tool in (installed("ir-opt"), [native]):
            run([*tool, *flags, path, "-o", output], folder)
            with open(os.path.join(folder, output), "rb") as file:
                results.append(file.read())
        if results[0] != results[1]:
            raise SystemExit(f"package: failed: {source} {' '.join(flags)}: the bytes are not those of {native}")
        print(f"the same bytes: {source} {' '.join(flags)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--native", metavar="PROGRAM")
    args = parser.parse_args()
    [packed] = glob.glob(os.path.join(BUILD, "npm", "ir-opt-*.tgz"))
    with tempfile.TemporaryDirectory() as folder:
        install(folder, packed)
        optimize, evaluate = installed("ir-opt"), installed("ir-run")
        model = os.path.join(ROOT, "examples", "cnn.onnx")
        run([*optimize, "-O3", model, "-o", "small.onnx"], folder)
        printed = run([*evaluate, "-random-inputs", "-print", "small.onnx"], folder)
        if not printed.strip():
            raise SystemExit("package: failed: ir-run prints nothing")
        run([*evaluate, "-random-inputs", "-output=out.npz", "small.onnx"], folder)
        run([*evaluate, "-random-inputs", "-check=out.npz", "-rtol=1e-3", "-atol=0.5", "small.onnx"], folder)
        print("commands")
        for name in ("README.md", "LICENSE", "lib/index.d.ts"):
            if not os.path.exists(os.path.join(folder, "node_modules", "ir-opt", name)):
                raise SystemExit(f"package: failed: it has no {name}")
        piped = run([*optimize, "-O1", "-"], folder, input='@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    return x\n')
        if "return x" not in piped:
            raise SystemExit(f"package: failed: a pipe: {piped}")
        print("pipes")
        expect_failures(folder)
        with open(os.path.join(folder, "functions.js"), "w", encoding="utf-8") as file:
            file.write(FUNCTIONS)
        print(run(["node", "functions.js", model], folder).strip())
        try_oldest(folder, model)
        with open(os.path.join(folder, "program.ts"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        compiler = shutil.which("tsc", path=os.pathsep.join([os.path.join(BUILD, "tools", "node_modules", ".bin"), os.environ["PATH"]]))
        if compiler:
            run([compiler, "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom", "program.ts"], folder)
            print("types")
        if args.native:
            compare(folder, os.path.abspath(args.native))
    return 0


if __name__ == "__main__":
    sys.exit(main())

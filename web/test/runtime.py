#!/usr/bin/env python3
"""Tests web/runtime: compiles web/test/runtime_cases.cpp for WebAssembly and for this machine, runs both, and compares what they print."""
import difflib
import glob
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUNTIME = os.path.join(ROOT, "web", "runtime")
CASES = os.path.join(ROOT, "web", "test", "runtime_cases.cpp")
LLVM = "/usr/lib/llvm-22"
COMPILE = [f"{LLVM}/bin/clang++", "--target=wasm32-wasip1", "-nostdinc++", "-nostdlibinc", "-isystem", f"{RUNTIME}/include",
           "-isystem", f"{LLVM}/include/wasm32-wasi/c++/v1", "-isystem", "/usr/include/wasm32-wasi", "-fwasm-exceptions", "-std=c++20", "-O1",
           "-fno-builtin"]
LINK = ["-nostdlib", "-Wl,--import-memory", "-Wl,--export-memory", "-Wl,--initial-memory=50331648", "-Wl,--max-memory=4294967296",
        "/usr/lib/wasm32-wasi/crt1.o", "-L/usr/lib/wasm32-wasi", f"-L{LLVM}/lib/wasm32-wasi", "-lc++", "-lc++abi", "-lc",
        f"{LLVM}/lib/clang/22/lib/wasi/libclang_rt.builtins-wasm32.a"]
RUN = """
import fs from 'node:fs';
import {NodeFiles} from 'LIB/node_files.js';
import {runTool} from 'LIB/tool.js';
const files = new NodeFiles();
const module = new WebAssembly.Module(fs.readFileSync(process.argv[2]));
const streams = [0, 1, 2].map((fd) => files.standard(fd));
process.exitCode = runTool({module, name: 'cases', args: [], files, streams, env: {PWD: process.cwd()}});
""".replace("LIB", os.path.join(ROOT, "web", "npm", "lib"))


def output(command, folder):
    os.mkdir(folder)
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    with tempfile.TemporaryDirectory() as folder:
        sources = [path for path in glob.glob(f"{RUNTIME}/*.cpp") if not path.endswith("fmt.cpp")]
        module = os.path.join(folder, "cases.wasm")
        subprocess.run([*COMPILE, CASES, *sources, *LINK, "-o", module], check=True)
        program = os.path.join(folder, "cases")
        subprocess.run([f"{LLVM}/bin/clang++", "-std=c++20", CASES, "-o", program], check=True)
        script = os.path.join(folder, "run.mjs")
        with open(script, "w", encoding="utf-8") as file:
            file.write(RUN)
        expected = output([program], os.path.join(folder, "machine"))
        got = output(["node", script, module], os.path.join(folder, "wasm"))
    difference = list(difflib.unified_diff(expected, got, "machine", "wasm", lineterm=""))
    print("\n".join(difference) if difference else f"runtime: {len(got)} lines are the same")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())

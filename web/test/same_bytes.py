#!/usr/bin/env python3
"""Compares what the WebAssembly tools write with what the native ones do, byte for byte: the examples of all passes, and models.

  same_bytes.py --native build/bin/ir-opt
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

from tool_server import ROOT, ToolServer


def cases():
    """The flags of the runs, whose output goes to the file {}."""
    for path in sorted(glob.glob(os.path.join(ROOT, "docs", "passes", "*.ir"))):
        yield [f"-passes={os.path.basename(path)[:-3]}", path, "-o", "{}.ir"]
    for pattern in ("*.ir", "*.onnx", "relay/*.relay"):
        for path in sorted(glob.glob(os.path.join(ROOT, "examples", pattern))):
            kind = os.path.splitext(path)[1]
            yield ["-O3", path, "-o", "{}" + kind]
            yield ["-O3", "-metrics", path, "-emit=dot", "-o", "{}.dot"]
            yield ["-passes=LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR", path, "-emit=tvmscript", "-o", "{}.ir"]


def outcome(tool, flags, folder):
    """The exit code, the messages and the file of a run."""
    name = os.path.join(folder, "output")
    command = [tool, *(flag.replace("{}", name) for flag in flags)]
    done = subprocess.run(command, capture_output=True, check=False)
    if not os.path.exists(command[-1]):
        return done.returncode, done.stderr, b""
    with open(command[-1], "rb") as file:
        written = file.read()
    os.remove(command[-1])
    return done.returncode, done.stderr, written


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--native", required=True, metavar="PROGRAM")
    args = parser.parse_args()
    different, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        tools = os.path.join(folder, "bin")
        with ToolServer(tools):
            for flags in cases():
                count += 1
                if outcome(os.path.join(tools, "ir-opt"), flags, folder) != outcome(os.path.abspath(args.native), flags, folder):
                    different.append(" ".join(flags))
    print("\n".join(different))
    print(f"{count - len(different)} passed, {len(different)} failed")
    return 1 if different or count < 200 else 0


if __name__ == "__main__":
    sys.exit(main())

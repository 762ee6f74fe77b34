#!/usr/bin/env python3
"""Checks that all helps, pages of helps, lists and descriptions of passes fit a width.

  help_width.py COLUMNS IR_OPT

The other tools are next to ir-opt; scripts that users run are those of this repository.
"""
import json
import os
import subprocess
import sys


def text_of(command, columns):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "COLUMNS": str(columns)}, check=False,
                          timeout=60)
    if done.returncode != 0 or not done.stdout:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SCRIPTS = ("examples/resnet18.py", "integrations/model_changes.py", "scripts/onnx_nodes.py", "scripts/site_builder.py")


def commands_of(ir_opt, tools):
    """All commands that print a help or a list."""
    for tool in [ir_opt, *tools]:
        yield from ([tool, "-help"], [tool, "-help-all"], [tool, "-help=flags"], [tool, "-help=exit-codes"])
    for page in ("pipeline", "input", "output", "checks", "observation", "help", "other", "commands", "pipelines", "other-tools"):
        yield [ir_opt, f"-help={page}"]
    for mode in ("diff", "query", "eval", "list", "verify-rules", "verify", "bisect", "lint", "print-pipeline", "reproduce", "extract"):
        yield from ([ir_opt, mode, "-help"], [ir_opt, mode, "-help-all"])
    for what in ("passes", "pipelines", "instruments", "configs", "properties", "targets"):
        yield [ir_opt, f"-list-{what}"]
    names = [row["name"] for row in json.loads(text_of([ir_opt, "-list-passes=json"], 80))["passes"]]
    names += sorted({row["name"] for row in json.loads(text_of([ir_opt, "-list-pipelines=json"], 80))["pipelines"]})
    for name in names:
        yield [ir_opt, f"-help-pass={name}"]
    for script in SCRIPTS:
        yield [sys.executable, os.path.join(ROOT, script), "--help"]


def main():
    columns, ir_opt = int(sys.argv[1]), sys.argv[2]
    tools = [os.path.join(os.path.dirname(ir_opt), tool) for tool in ("ir-run", "ir-reduce", "ir-lsp")]
    wide = [f"{' '.join(command)}: {line}" for command in commands_of(ir_opt, tools)
            for line in text_of(command, columns).splitlines() if len(line) > columns]
    if wide:
        sys.exit("\n".join([f"lines of more than {columns} characters:", *wide[:20]]))


if __name__ == "__main__":
    main()

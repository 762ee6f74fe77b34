#!/usr/bin/env python3
"""Replays a session in Neovim, and compares what it shows with what a server says that sees each text for the first time.

  lsp_nvim_test.py IR-LSP NVIM EDITORS-NVIM [--edits=N] [--seed=N]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import lsp_session
from lsp_client import LspClient

TOOLS = os.path.dirname(os.path.abspath(__file__))


def shown(client, uri, diagnostics):
    """Diagnostics as Neovim has them: columns in bytes."""
    lines = client.texts[uri].replace("\r\n", "\n").split("\n")

    def column(position):
        line = lines[position["line"]] if position["line"] < len(lines) else ""
        return len(line.encode("utf-16-le")[:2 * position["character"]].decode("utf-16-le").encode())

    return sorted((d["range"]["start"]["line"], column(d["range"]["start"]), d["message"]) for d in diagnostics)


def replay(args, folder, lines, steps, fileformat):
    end = "\r\n" if fileformat == "dos" else "\n"
    path = os.path.join(folder, f"session_{fileformat}.ir")
    with open(path, "w", newline="") as f:
        f.write(end.join(lines) + end)
    session = os.path.join(folder, "session.json")
    result = os.path.join(folder, "result.json")
    with open(session, "w") as f:
        json.dump({"steps": steps, "fileformat": fileformat}, f)
    environment = dict(os.environ, IR_SESSION=session, IR_RESULT=result, IR_LSP=os.path.abspath(args.ir_lsp), IR_FILE=path,
                       IR_NVIM=os.path.abspath(args.plugin), XDG_STATE_HOME=folder, XDG_DATA_HOME=folder, XDG_CACHE_HOME=folder)
    subprocess.run([args.nvim, "--headless", "-u", "NONE", "-S", os.path.join(TOOLS, "nvim_session.lua")], env=environment, check=True,
                   timeout=500, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(result) as f:
        return json.load(f), end


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ir_lsp")
    parser.add_argument("nvim")
    parser.add_argument("plugin")
    parser.add_argument("--edits", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    lines, steps = lsp_session.record(args.seed, args.edits)
    wrong = 0
    for fileformat in ("unix", "dos"):
        with tempfile.TemporaryDirectory() as folder:
            result, end = replay(args, folder, lines, steps, fileformat)
        if result["failure"]:
            sys.exit(f"Neovim: {result['failure']}")
        client = LspClient([args.ir_lsp])
        client.initialize()
        for i, step in enumerate(result["steps"]):
            uri = f"file:///{i}.ir"
            client.open(uri, end.join(step["text"]) + end)
            expected = shown(client, uri, client.wait_for_diagnostics(uri))
            found = sorted((d["line"], d["column"], d["message"]) for d in step["diagnostics"])
            client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
            if found != expected:
                wrong += 1
                print(f"{fileformat}: step {i}: Neovim shows {found}, expected {expected}")
        if client.close() != 0:
            sys.exit("the server did not end")
        print(f"{fileformat}: {len(result['steps'])} steps")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

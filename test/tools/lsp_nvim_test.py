#!/usr/bin/env python3
"""Replays a session in Neovim, and compares what it shows with what a server says that sees each text for the first time.

  lsp_nvim_test.py IR-LSP NVIM EDITORS-NVIM [--edits=N] [--seed=N]

Then shows virtual documents in it.
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


def run_nvim(args, script, folder, **environment):
    """What a script in Lua writes to the file IR_RESULT."""
    result = os.path.join(folder, "result.json")
    environment = dict(os.environ, **environment, IR_RESULT=result, IR_LSP=os.path.abspath(args.ir_lsp), IR_NVIM=os.path.abspath(args.plugin),
                       XDG_STATE_HOME=folder, XDG_DATA_HOME=folder, XDG_CACHE_HOME=folder)
    subprocess.run([args.nvim, "--headless", "-u", "NONE", "-S", os.path.join(TOOLS, script)], env=environment, check=True,
                   timeout=500, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(result) as f:
        return f.read()


def replay(args, folder, lines, steps, fileformat):
    end = "\r\n" if fileformat == "dos" else "\n"
    path = os.path.join(folder, f"session_{fileformat}.ir")
    with open(path, "w", newline="") as f:
        f.write(end.join(lines) + end)
    session = os.path.join(folder, "session.json")
    with open(session, "w") as f:
        json.dump({"steps": steps, "fileformat": fileformat}, f)
    return json.loads(run_nvim(args, "nvim_session.lua", folder, IR_SESSION=session, IR_FILE=path)), end


def show_documents(args):
    with tempfile.TemporaryDirectory() as folder:
        # A name with characters that URIs encode.
        path = os.path.join(folder, "a & b=ä.ir")
        with open(path, "w") as f:
            f.write("\n".join(lsp_session.start(1)))
        other = os.path.join(TOOLS, "..", "text", "relay", "module.relay")
        failure = run_nvim(args, "nvim_documents.lua", folder, IR_FILE=path, IR_OTHER=os.path.abspath(other)).strip()
    if failure:
        sys.exit(f"Neovim: {failure}")
    print("virtual documents are shown")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ir_lsp")
    parser.add_argument("nvim")
    parser.add_argument("plugin")
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    lines, steps = lsp_session.record(args.seed, args.edits)
    wrong = 0
    for fileformat in ("unix", "dos"):
        with tempfile.TemporaryDirectory() as folder:
            result, end = replay(args, folder, lines, steps, fileformat)
        if result["failure"]:
            sys.exit(f"Neovim: {result['failure']}")
        for i, (step, shown_step) in enumerate(zip(steps, result["steps"][1:])):
            if step["after"] != shown_step["text"]:
                sys.exit(f"{fileformat}: step {i}, {step['kind']}: Neovim has\n" + "\n".join(shown_step["text"]))
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
    show_documents(args)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

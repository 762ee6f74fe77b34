#!/usr/bin/env python3
"""Compiles and packages the extension of VS Code, and replays sessions with the libraries of its client. What npm has to
fetch is kept in the folder WORK.

  lsp_vscode_test.py IR-LSP EDITORS-VSCODE WORK [--edits=N] [--seed=N]

The exit code is 77 where npm or the packages are not to be had.
"""
import argparse
import filecmp
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

import lsp_session

SKIPPED = 77


def install(source, work):
    """A copy of the extension with its packages."""
    if not shutil.which("npm"):
        return "npm was not found"
    shutil.copytree(source, work, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules", "out", "*.vsix"))
    lock = os.path.join(work, "package-lock.json")
    installed = os.path.join(work, "node_modules", "installed-lock.json")
    if os.path.exists(installed) and filecmp.cmp(lock, installed, shallow=False):
        return None
    try:
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=work, check=True, timeout=300,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        shutil.rmtree(os.path.join(work, "node_modules"), ignore_errors=True)
        return "npm can't install the packages"
    shutil.copyfile(lock, installed)
    return None


def package(work):
    """Packages the extension, and checks that what it needs at run time is in it."""
    subprocess.run(["npm", "run", "--silent", "package"], cwd=work, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    with open(os.path.join(work, "package.json"), encoding="utf-8") as file:
        version = json.load(file)["version"]
    with zipfile.ZipFile(os.path.join(work, f"tvmscript-{version}.vsix")) as archive:
        names = set(archive.namelist())
        extension = archive.read("extension/out/extension.js").decode()
    for needed in ("extension/package.json", "extension/syntaxes/tvmscript.tmLanguage.json", "extension/icon.png", "extension/LICENSE.txt"):
        if needed not in names:
            sys.exit(f"the package lacks {needed}")
    # The client's library is in the one file.
    if 'require("vscode-languageclient' in extension or any("node_modules" in name for name in names):
        sys.exit(f"the extension is not bundled: {sorted(names)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ir_lsp")
    parser.add_argument("extension")
    parser.add_argument("work")
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    reason = install(args.extension, args.work)
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    package(args.work)
    lines, steps = lsp_session.record(args.seed, args.edits)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as session:
        json.dump({"lines": lines, "steps": steps}, session)
        session.flush()
        command = ["node", os.path.join("out", "test", "session.js"), os.path.abspath(args.ir_lsp), session.name]
        sys.exit(subprocess.run(command, cwd=args.work, timeout=500).returncode)


if __name__ == "__main__":
    main()

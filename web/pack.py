#!/usr/bin/env python3
"""Packs what scripts/web.sh has built.

  pack.py

Writes build-wasm/npm/package, which is the package for npm, and ir-opt-VERSION.tgz next to it; and build-wasm/site, the page with
the same module and its examples.
"""
import json
import os
import re
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WEB = os.path.join(ROOT, "web")
BUILD = os.path.join(ROOT, "build-wasm")
MODULE = os.path.join(BUILD, "bin", "ir-opt.wasm")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def version():
    return re.search(r'define IROPT_VERSION "(.*)"', read("include/iropt/support/version.h")).group(1)


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


README = """# ir-opt

Optimizes machine learning models in ONNX, TVMScript and Relay: folds constants, simplifies graphs, merges and removes nodes, and shows
what each pass did. One WebAssembly module, for Node and for browsers, without other packages.

```sh
npm install ir-opt
npx ir-opt -O3 model.onnx -o small.onnx
npx ir-run -random-inputs -print small.onnx
npx ir-opt -help
```
"""


def readme():
    """What the package says of itself: the introduction, and the sections of the document that are about it, without links to others."""
    sections = dict(part.split("\n", 1) for part in read("docs/web.md").split("\n## ")[1:])
    functions = sections["The package"].split("```\n", 1)[1]
    limits = sections["What differs from the native tools"].split("\n\nOf the lit tests")[0]
    text = f"{README}\n## Functions\n{functions.rstrip()}\n\n## What differs from the native tools\n{limits.rstrip()}\n"
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def pack_npm():
    folder = fresh(os.path.join(BUILD, "npm"))
    package = shutil.copytree(os.path.join(WEB, "npm"), os.path.join(folder, "package"))
    shutil.copy(MODULE, package)
    shutil.copy(os.path.join(ROOT, "LICENSE"), package)
    with open(os.path.join(package, "README.md"), "w", encoding="utf-8") as file:
        file.write(readme())
    description = json.loads(read("web/npm/package.json"))
    description["version"] = version()
    with open(os.path.join(package, "package.json"), "w", encoding="utf-8") as file:
        json.dump(description, file, indent=2)
        file.write("\n")
    packed = subprocess.run(["npm", "pack", "--silent", "--pack-destination", folder, package], check=True, capture_output=True, text=True)
    return os.path.join(folder, packed.stdout.split()[-1])


def make_site():
    site = fresh(os.path.join(BUILD, "site"))
    shutil.copytree(os.path.join(WEB, "page"), site, dirs_exist_ok=True)
    os.remove(os.path.join(site, "examples.json"))
    examples = json.loads(read("web/page/examples.json"))
    for example in examples:
        path = example.pop("file")
        if path.endswith(".onnx"):
            shutil.copy(os.path.join(ROOT, path), site)
            example["model"] = os.path.basename(path)
        else:
            example["text"] = read(path)
    with open(os.path.join(site, "examples.js"), "w", encoding="utf-8") as file:
        file.write(f"// Made by web/pack.py.\nexport const EXAMPLES = {json.dumps(examples, indent=1)};\n")
    shutil.copytree(os.path.join(WEB, "npm", "lib"), os.path.join(site, "ir-opt"),
                    ignore=shutil.ignore_patterns("node*", "command.js", "*.d.ts"))
    shutil.copy(MODULE, site)
    return site


if __name__ == "__main__":
    print(pack_npm())
    print(make_site())

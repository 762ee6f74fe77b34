#!/usr/bin/env python3
"""Packs what scripts/web.sh has built.

  pack.py

Writes build-wasm/npm/package, which is the package for npm, and ir-opt-VERSION.tgz next to it; and build-wasm/site, the page with
the same module and its examples.
"""
import gzip
import json
import os
import re
import shutil
import tarfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WEB = os.path.join(ROOT, "web")
BUILD = os.path.join(ROOT, "build-wasm")
TIME_IN_PACKED = 499162500  # 1985-10-26
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


def write_packed(path, package):
    """What npm pack writes: all files below a folder `package`. The times are npm's, so that the same files give the same bytes."""
    names = sorted(os.path.join(above, name) for above, _, names in os.walk(package) for name in names)
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for name in names:
            inside = os.path.relpath(name, package)
            entry = tarfile.TarInfo(f"package/{inside}")
            entry.size = os.path.getsize(name)
            entry.mtime = TIME_IN_PACKED
            entry.mode = 0o755 if os.path.dirname(inside) == "bin" else 0o644
            with open(name, "rb") as contents:
                tar.addfile(entry, contents)
    return path


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
    return write_packed(os.path.join(folder, f"{description['name']}-{description['version']}.tgz"), package)


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

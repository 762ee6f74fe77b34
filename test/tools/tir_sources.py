"""The PrimFuncs that tir_values runs: modules of recorded cases, functions of models, random functions. Each is a name and the
text of a module."""
import gzip
import json
import os
import re
import subprocess
import tempfile
import textwrap

import models
import random_prim_funcs

FILES = ["tir_pass.jsonl.gz", "nets_tir_pass.jsonl.gz"]
HEADER = "from tvm.script import tir as T\n\n"
# A PrimFunc of a module: its decorator, and all lines that are indented more than that.
PRIM_FUNC = re.compile(r"^    (@T\.prim_func)(?:\(private=True\))?\n    def (\w+)(\(.*\n(?:(?:     .*)?\n)*)", re.MULTILINE)
# The first parameter, if it is a tensor of images.
IMAGES = re.compile(r'(def main\(\w+: R\.Tensor\(\(\d+, \d+), \d+, \d+\)')
RESULT = re.compile(r"(\n    def main\(.*\)) -> .*:\n")
SMALL_SIZES = [32, 64, 128]
NEEDS_MODULE = re.compile(r"metadata|cls\.|Module\.|@R\.function|global_symbol|I\.module_")
# Functions that differ in the names of their parameters only are the same.
PARAM = re.compile(r"\blv\d+")


def recorded(folder):
    """The distinct inputs of the cases, in their order."""
    texts = {}
    for name in FILES:
        path = os.path.join(folder, "cases", name)
        if not os.path.exists(path):
            continue
        with gzip.open(path, "rt", encoding="utf-8") as f:
            for line in f:
                texts.setdefault(json.loads(line)["before"])
    return [(str(index), text) for index, text in enumerate(texts)]


def generated(seed, count):
    return [(str(index), random_prim_funcs.generate(seed, index)) for index in range(count)]


def prim_funcs(text):
    """The PrimFuncs of a module by name, each as a module of its own in which it is public. Those that call others of the
    module are left out."""
    for decorator, name, rest in PRIM_FUNC.findall(text):
        body = "\n".join(line[4:] if line.startswith("    ") else line for line in rest.rstrip().split("\n"))
        if "cls." not in rest and "Module." not in rest:
            yield name, f"{HEADER}{decorator}\ndef main{body}\n"


def rest_of_function(text):
    """What follows the name of the only function of a module, if it is a PrimFunc that can stand in another module, too."""
    if text.count("@T.prim_func") != 1 or NEEDS_MODULE.search(text):
        return ""
    found = PRIM_FUNC.search(text if "@I.ir_module" in text else textwrap.indent(text, "    "))
    return found.group(3) if found else ""


def combine(texts):
    """One module with the functions of several, under new names."""
    functions = [f"    @T.prim_func\n    def f{i}{rest_of_function(text)}\n" for i, text in enumerate(texts)]
    return "from tvm.script import ir as I\n" + HEADER + "@I.ir_module\nclass Module:\n" + "\n".join(functions)


def lowered(ir_opt, text):
    """The module after `zero`; nothing if it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.ir")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        done = subprocess.run([ir_opt, "-passes=zero", path], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def with_small_images(ir_opt, text):
    """The same for smaller images; nothing if the model needs its own."""
    bare = RESULT.sub(r"\1:\n", models.strip_annotations(text)[0], count=1)
    for size in SMALL_SIZES if IMAGES.search(bare) else []:
        result = lowered(ir_opt, IMAGES.sub(rf"\1, {size}, {size})", bare, count=1))
        if result:
            return result
    return ""


def of_models(ir_opt, folder):
    """The distinct PrimFuncs of the models, and those that `zero` makes of models without any."""
    found = {}
    for path in models.find([folder]):
        model = os.path.basename(path).removesuffix(".ir")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        versions = {model: text}
        if "@T.prim_func" not in text:
            versions = {f"{model}.zero": lowered(ir_opt, text), f"{model}.small": with_small_images(ir_opt, text)}
        for version, module in versions.items():
            for name, function in prim_funcs(module):
                found.setdefault(PARAM.sub("lv", function), (f"{version}.{name}", function))
    return list(found.values())

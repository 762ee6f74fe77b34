#!/usr/bin/env python3
"""Compares the passes of TVM, as its sources register them, with those of ir-opt.

  tvm_passes.py --ir-opt IR_OPT --repository REPOSITORY [--documents FOLDER] [REVISION...]

A pass is a name that C++ code registers for a function that returns a Pass, or for a lambda under a name of a
transformation. Each must be one that ir-opt answers to, by the name of the registry and by that of Python's functions,
or be named in docs/passes.md, which says why it is missing. Without revisions, those of 0.18 and the newest are looked
at. Exits with 1 and a list if one is neither, and with 77 without a repository.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
# TVM_REGISTER_GLOBAL("relax.transform.X").set_body_typed(X), .def("tirx.transform.X", X), .def_packed("...", [](...
REGISTERED = re.compile(r'(?:TVM_REGISTER_GLOBAL\(|TVM_FFI_REGISTER_GLOBAL\(|\.def(?:_packed|_method)?\()\s*'
                        r'"(?P<name>[\w.\-]+)"\)?\s*(?:,|\.set_body(?:_typed)?\()\s*(?P<function>\[|[\w:]+)')
# Namespaces of the registry with passes in them.
FOLDERS = re.compile(r"^((relax|tir|tirx|s_tir|relay)\.(testing\.)?([\w\-]+\.)*(_?transforms?|analysis|training)\.[A-Z]"
                     r"|relay\._transform\.|transform\.[A-Z])")
PASS_FUNCTION = re.compile(r"\b(?:transform::)?Pass\s+(\w+)\s*\(")
# What passes are made of, and functions on expressions.
NO_PASSES = {"FusionPattern", "MakeDataflowBlockPass", "MakeFunctionPass", "CreatePrimFuncPass", "FoldConstantExpr",
             "InferTypeLocal", "InferCorrectLayoutOutput", "gradient", "to_cps", "un_cps"}


def git(repository, *arguments):
    return subprocess.run(["git", "-C", repository, *arguments], capture_output=True, text=True, errors="replace",
                          check=False).stdout


def registered(repository, revision):
    """The names of the registry that stand for passes."""
    listed = git(repository, "grep", "-lE", r"REGISTER_GLOBAL\(|\.def(_packed)?\(", revision, "--", "src/*.cc", "src/*.h")
    texts = [git(repository, "show", file) for file in listed.split()]
    functions = {name for text in texts for name in PASS_FUNCTION.findall(text)}
    names = set()
    for text in texts:
        for match in REGISTERED.finditer(text):
            name, function = match["name"], match["function"].split("::")[-1]
            body = text[match.end():match.end() + 400]
            is_lambda = function in ("[", "static_cast") and "Pass" in body and "transform" in name.split(".", 1)[1]
            makes_pass = function in functions or is_lambda
            if FOLDERS.match(name) and makes_pass and name.rsplit(".", 1)[-1] not in NO_PASSES:
                names.add(name)
    return names


def short(name):
    """tirx.X for tirx.transform.X, X for relax.transform.X: the name of the function in Python."""
    name = re.sub(r"_?transforms?\.|training\.", "", name, count=1)
    return re.sub(r"^(relax|relay)\.", "", name)


def unknown(ir_opt, names):
    """Those of the names that ir-opt does not answer to."""
    with tempfile.NamedTemporaryFile("w", suffix=".ir") as module:
        module.write('@R.function\ndef f(x: R.Tensor((4,), "float32")):\n    return x\n')
        module.flush()
        def is_unknown(name):
            done = subprocess.run([ir_opt, f"-passes={name}", module.name], capture_output=True, text=True, check=False)
            return "unknown pass" in done.stderr
        return {name for name in names if is_unknown(name)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--repository", required=True, help="a clone of TVM's repository")
    parser.add_argument("--documents", default=os.path.join(os.path.dirname(__file__), "../../docs"))
    parser.add_argument("revisions", nargs="*", default=["refs/tags/v0.18.0", "HEAD"])
    options = parser.parse_args()
    if not git(options.repository, "rev-parse", "--git-dir"):
        print(f"SKIPPED: no repository in {options.repository}")
        return SKIPPED
    with open(os.path.join(options.documents, "passes.md"), encoding="utf-8") as file:
        documented = set(re.findall(r"[\w.\-]+", file.read()))
    missing = False
    for revision in options.revisions:
        names = {name: short(name) for name in registered(options.repository, revision)}
        lacking = unknown(options.ir_opt, set(names) | set(names.values()))
        stated = {name for name, other in names.items()
                  if {name, other, other.rsplit(".", 1)[-1]} & documented and other in lacking}
        rest = sorted(name for name, other in names.items() if {name, other} & lacking and name not in stated)
        print(f"{revision}: {len(names)} passes, {len(stated)} of them missing for a stated reason, {len(rest)} unknown")
        print("".join(f"  {name} ({names[name]})\n" for name in rest), end="")
        missing |= bool(rest) or not names
    return int(missing)


if __name__ == "__main__":
    sys.exit(main())

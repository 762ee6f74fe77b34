"""lit configuration: every .ir and .test file below this folder is a test unless its folder is excluded.

Substitutions:
  %ir-opt       the tool that was built (plain `ir-opt` works too, as do `FileCheck` and `not`)
  %ir-run       the same of ir-run
  %ir-reduce    the same of ir-reduce
  %test-plugins the folder of the plugins of test/plugin
  %check-pass   ir-opt with the checks that every pass test makes:  # RUN: %check-pass -passes=FoldConstant %s | FileCheck %s
                With --not-idempotent=WHY, a second run on the result may change it.
  %refusals     runs a command on the cases in a test that it has to refuse, see tools/refusals.py:
                # RUN: %refusals %s ir-opt -eval={case}
  %big-weights  the check of a module with 20 GB of weights, see tools/big_weights.py
  %on-terminal  runs a command on a terminal, see tools/on_terminal.py
  %python       the interpreter that runs lit, for scripts that make inputs
  %onnx-model   writes the ONNX model in a test, in ONNX's text format:  # RUN: %onnx-model %s %t.onnx
  %onnx-nodes   prints the graph of an ONNX model, and checks it:  # RUN: %onnx-nodes %t.onnx | FileCheck %s
  %onnx-python  the interpreter that has the package onnx

Features: crash-handler, sparse-files, x86, compiled-loops, onnx (its files are read, and there is the Python package), and the names of some tools.
"""
import os
import platform
import shutil
import subprocess

import lit.formats

config.name = "ir-opt"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ir", ".relay", ".test"]
config.excludes = ["Inputs", "unit", "tools", "fuzz"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))

path = [config.bin_dir, *config.llvm_tool_dirs, config.environment.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(path)
for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "IROPT_MUTANT"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Default flags of the user are not for tests.
config.environment.pop("IROPT_FLAGS", None)

# Sanitizers report crashes themselves.
if config.sanitizers == [""]:
    config.available_features.add("crash-handler")


def has_sparse_files(folder):
    """Whether a big file without data takes no space."""
    path = os.path.join(folder, f"sparse-{os.getpid()}")
    try:
        with open(path, "wb") as f:
            f.truncate(32 << 30)
        return os.stat(path).st_blocks < 1000
    except OSError:
        return False
    finally:
        if os.path.exists(path):
            os.remove(path)


if has_sparse_files(config.bin_dir):
    config.available_features.add("sparse-files")

ir_opt = os.path.join(config.bin_dir, "ir-opt")
refusals = os.path.join(config.test_source_root, "tools", "refusals.py")
big_weights = os.path.join(config.test_source_root, "tools", "big_weights.py")
# Longer names first: a substitution also replaces the beginning of a longer word.
config.substitutions.append(("%refusals", f"{config.python} {refusals}"))
check_pass = f"{ir_opt} -verify-each -verify-roundtrip -verify-determinism"
config.substitutions.append((r"""%check-pass --not-idempotent=("[^"]*"|'[^']*'|\S+)""", check_pass))
config.substitutions.append(("%check-pass", f"{check_pass} -verify-idempotent"))
on_terminal = os.path.join(config.test_source_root, "tools", "on_terminal.py")
config.substitutions.append(("%on-terminal", f"{config.python} {on_terminal}"))
config.substitutions.append(("%big-weights", f"{config.python} {big_weights} --ir-opt={ir_opt}"))
# The distribution's package onnx belongs to its interpreter, which need not be the one that runs lit.
onnx_python = "/usr/bin/python3"
config.substitutions.append(("%onnx-python", onnx_python))
config.substitutions.append(("%onnx-nodes", f"{onnx_python} {os.path.join(config.test_source_root, 'tools', 'onnx_nodes.py')}"))
config.substitutions.append(("%onnx-model", f"{onnx_python} {os.path.join(config.test_source_root, 'tools', 'onnx_model.py')}"))
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%ir-opt", ir_opt))
config.substitutions.append(("%ir-run", os.path.join(config.bin_dir, "ir-run")))
config.substitutions.append(("%ir-reduce", os.path.join(config.bin_dir, "ir-reduce")))
config.substitutions.append(("%FileCheck", "FileCheck"))
config.substitutions.append(("%test-plugins", config.test_plugin_dir))
# Tests of compiled loops.
if os.path.exists(os.path.join(config.bin_dir, "..", "lib", "libiropt_codegen_llvm.so")):
    config.available_features.add("compiled-loops")
# Tests of ONNX files make them with the package.
if os.path.exists(os.path.join(config.bin_dir, "..", "lib", "libiropt_onnx.so")) and os.path.exists(onnx_python):
    found = subprocess.run([onnx_python, "-c", "import onnx.parser"], check=False, capture_output=True)
    if found.returncode == 0:
        config.available_features.add("onnx")
# Tests of what ir-opt prints for other programs ask for these with REQUIRES.
if platform.machine() == "x86_64":
    config.available_features.add("x86")
config.available_features.update(name for name in ("chromium", "dot", "fish", "git", "groff", "mandoc", "script", "zsh") if shutil.which(name))

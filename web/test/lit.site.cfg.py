"""The lit suite with the tools of the package for npm, in Node: web/test/run.py calls it."""
import os
import subprocess

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
build = os.path.join(root, "build-wasm")
config.bin_dir = os.path.join(build, "lit", "bin")
config.llvm_tool_dirs = os.environ["IROPT_LLVM_TOOLS"].split(os.pathsep)
config.test_plugin_dir = os.path.join(build, "lit", "plugin")
config.has_plugins = False
config.sanitizers = ["none"]
config.python = os.environ["IROPT_PYTHON"]
config.test_exec_root = os.path.join(build, "lit")
lit_config.load_config(config, os.path.join(root, "test", "lit.cfg.py"))
# The module has no libraries next to it: it reads ONNX files by itself.
if subprocess.run(["/usr/bin/python3", "-c", "import onnx.parser"], check=False, capture_output=True).returncode == 0:
    config.available_features.add("onnx")

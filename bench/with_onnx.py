"""Imported first, runs the script again with Debian's Python if this one lacks NumPy or onnx."""
import os
import sys

try:
    import numpy  # noqa: F401
    import onnx  # noqa: F401
except ImportError:
    if sys.executable == "/usr/bin/python3":
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

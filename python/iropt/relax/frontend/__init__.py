"""Ways into Relax: models that are written in Python (nn), models of ONNX and of PyTorch."""
import importlib

from .common import detach_params  # noqa: F401

_MODULES = ("common", "nn", "onnx", "torch")


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *_MODULES})

"""What language models have in common: caches of attention, and positions."""
import importlib

_MODULES = ("kv_cache", "position_embedding")


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")

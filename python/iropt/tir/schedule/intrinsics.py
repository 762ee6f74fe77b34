"""Tensor intrinsics: what `tensorize` replaces blocks by."""
from ..._core import native, require

# The texts of descriptions and implementations by name. Nodes would keep all modules of their time alive.
_registered = {}


class TensorIntrin:
    """An intrinsic: `desc` describes what is computed, and `impl` computes it."""

    def __init__(self, desc, impl):
        require(desc=desc, impl=impl)
        self.desc, self.impl = desc, impl

    @staticmethod
    def register(name, desc, impl, override=False):
        """Makes an intrinsic known under a name."""
        if name in _registered and not override:
            raise ValueError(f"TensorIntrin '{name}' has already been registered")
        _registered[name] = (desc.script(), impl.script())
        return TensorIntrin(desc, impl)

    @staticmethod
    def get(name, allow_missing=False):
        """The intrinsic of a name, a registered or a built-in one."""
        module = find(name)
        if module is None:
            if allow_missing:
                return None
            raise ValueError(f"TensorIntrin '{name}' is not registered")
        return TensorIntrin(module.find(f"{name}_desc"), module.find(f"{name}_impl"))


def find(name, version="0.18"):
    """A module with NAME_desc and NAME_impl, as that version of TVM has it; None if the name is not known."""
    if name in _registered:
        module = native.Module()
        for part, text in zip(("desc", "impl"), _registered[name]):
            (_, function), = native.from_source(text, name).entries()
            module.set(f"{name}_{part}", function)
        return module
    text = native.builtin_intrinsic(name, version)
    return native.from_source(text, name) if text else None

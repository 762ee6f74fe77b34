"""Runs a program that was written for TVM: python3 -m iropt.as_tvm PROGRAM [ARGUMENT...], or -m MODULE.

The names of tvm that exist in this package are answered by it. Others can be imported, and are an error when they are
used, which names them.
"""
import importlib.abc
import importlib.machinery
import runpy
import sys
import types

from ._core import Error

_ALIASES = {
    "iropt._tvm": ["", "error", "_ffi", "_ffi.base"],
    "iropt.ir": ["ir", "ir.base", "ir.module", "ir.expr", "ir.function", "ir.type", "ir.op", "ir.attrs", "ir.global_info",
                 "ir.container"],
    "iropt.ir.transform": ["ir.transform", "transform"],
    "iropt.ir.instrument": ["ir.instrument", "instrument"],
    "iropt.relax": ["relax", "relax.expr", "relax.struct_info"],
    "iropt.relax.op": ["relax.op"],
    "iropt.relax.transform": ["relax.transform", "relax.transform.transform"],
    "iropt.relax.analysis": ["relax.analysis", "relax.analysis.analysis"],
    "iropt.relax.expr_functor": ["relax.expr_functor"],
    "iropt.relax.block_builder": ["relax.block_builder"],
    "iropt.relax.checkpoint": ["relax.testing.nn"],
    "iropt.relax.utils": ["relax.utils"],
    "iropt.relax.vm_build": ["relax.vm", "relax.vm_build", "relax.pipeline"],
    "iropt.executable": ["runtime.module", "driver", "driver.build_module"],
    "iropt.contrib": ["contrib.utils"],
    "iropt.relax.py_module": ["relax.base_py_module"],
    "iropt.packed": ["_ffi.registry"],
    "iropt.relay": ["relay"],
    "iropt.tir": ["tir", "tir.expr", "tir.stmt", "tir.function", "tir.buffer", "tir.op"],
    "iropt.tir.transform": ["tir.transform", "tir.transform.transform"],
    "iropt.tir.tensor_intrin": ["tir.tensor_intrin", "tir.tensor_intrin.x86", "tir.tensor_intrin.arm_cpu",
                                "tir.tensor_intrin.cuda", "tir.tensor_intrin.rocm", "tir.tensor_intrin.hexagon"],
    "iropt.tir.stmt_functor": ["tir.stmt_functor"],
    "iropt.tir.functor": ["tir.functor"],
    "iropt.tir.ir_builder": ["tir.ir_builder"],
    "iropt.tir.analysis": ["tir.analysis", "tir.analysis.analysis"],
    "iropt.tir.schedule": ["tir.schedule", "tir.schedule.schedule", "tir.schedule.trace"],
    "iropt.tir.schedule.state": ["tir.schedule.state", "tir.schedule.block_scope"],
    "iropt.tir.schedule.testing": ["tir.schedule.testing"],
    "iropt.script": ["script", "script.parser"],
    "iropt.script.ir": ["script.ir", "script.parser.ir"],
    "iropt.script.tir": ["script.tir", "script.parser.tir"],
    "iropt.script.relax": ["script.relax", "script.parser.relax"],
    "iropt.target": ["target", "target.target"],
    "iropt.runtime": ["nd", "runtime", "runtime.ndarray", "runtime.object", "runtime.container", "_ffi.runtime_ctypes"],
    "iropt.testing": ["testing", "testing.utils"],
    "iropt.arith": ["arith", "arith.analyzer", "arith.iter_affine_map"],
    "iropt.arith.int_set": ["arith.int_set"],
    "iropt.te": ["te", "te.operation", "te.tensor", "te.tag"],
    "iropt.topi": ["topi"],
}


class Missing:
    """A part of TVM that this package does not have: an error when it is used."""

    def __init__(self, name):
        self.__name__ = name

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"{self.__name__} is not a part of iropt")

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")

    def __repr__(self):
        return f"<{self.__name__}, which is not a part of iropt>"


class _Alias(types.ModuleType):
    """A module of TVM whose names are those of a module of this package, or of a group of operators. What is imported
    into it, or set in it, is its own: the source stays as it is."""

    __path__ = []

    def __init__(self, name, source):
        super().__init__(name, getattr(source, "__doc__", None))
        self._source_ = source

    def __getattr__(self, name):
        source = self.__dict__.get("_source_")
        try:
            return getattr(source, name)
        except AttributeError:
            if name == "__all__":
                return [public for public in dir(source) if not public.startswith("_")]
            if name.startswith("_"):
                raise
        return Missing(f"{self.__name__}.{name}")

    def __dir__(self):
        return sorted({*super().__dir__(), *dir(self._source_)})


class _MissingModule(types.ModuleType):
    __path__ = []
    __all__ = []

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        full_name = f"{self.__name__}.{name}"
        return sys.modules[full_name] if full_name in sys.modules else Missing(full_name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules of tvm that are not modules of this package: its groups of operators, and what does not exist."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.startswith("tvm."):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        parent, _, last = spec.name.rpartition(".")
        source = getattr(sys.modules[parent], last, None)
        return _MissingModule(spec.name) if source is None or isinstance(source, Missing) else _Alias(spec.name, source)

    def exec_module(self, module):
        pass


def install():
    """From now on `import tvm` imports this package."""
    if "tvm" in sys.modules:
        if not isinstance(sys.modules["tvm"], _Alias):
            raise Error("tvm was imported already")
        return
    names = {"tvm." + name if name else "tvm": source for source, names in _ALIASES.items() for name in names}
    for name, source in names.items():
        sys.modules[name] = _Alias(name, importlib.import_module(source))
    for name in names:
        parent, _, last = name.rpartition(".")
        # A function or class of that name comes first.
        found = vars(sys.modules[parent]._source_).get(last) if parent in names else None
        if parent in names and (found is None or isinstance(found, types.ModuleType)):
            setattr(sys.modules[parent], last, sys.modules[name])
    sys.meta_path.append(_Finder())


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 1
    install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    # The module that runs is another than the one that programs import.
    from iropt import as_tvm

    sys.exit(as_tvm.main())

"""Runs a program that was written for TVM.

  python3 -m iropt.as_tvm [--tvm-version VERSION] PROGRAM [ARGUMENT...]
  python3 -m iropt.as_tvm [--tvm-version VERSION] -m MODULE [ARGUMENT...]

`import tvm` in the program imports this package. Names of TVM that it lacks can
be imported, and using one is an error that names it; names that no version of
TVM has do not exist. VERSION, such as 0.20, is what tvm.__version__ says, and
only the names of that version exist then; so it is with IROPT_TVM_VERSION in
the environment. By default, the names of all versions exist.
"""
import functools
import importlib
import importlib.abc
import importlib.machinery
import os
import runpy
import sys
import types

from ._core import Error, native
from .script._names import Name

_ALIASES = {
    "iropt._tvm_ffi": ["tvm_ffi", "tvm_ffi.container"],
    "iropt._tvm": ["", "error", "_ffi", "_ffi.base"],
    "iropt.ir": ["ir", "ir.base", "ir.module", "ir.expr", "ir.function", "ir.type", "ir.op", "ir.attrs", "ir.global_info",
                 "ir.container", "container"],
    "iropt.ir.diagnostics": ["ir.diagnostics"],
    "iropt.ir.transform": ["ir.transform", "transform"],
    "iropt.ir.instrument": ["ir.instrument", "instrument", "relax.ir.instrument"],
    "iropt.relax": ["relax", "relax.expr", "relax.struct_info", "relax.ty", "relax.type"],
    # Operators are in one module here; TVM has them in several, which programs import, too.
    "iropt.relax.op": ["relax.op", *("relax.op." + name for name in (
        "base binary create datatype index linear_algebra manipulate mask qdq sampling search set sorting statistical ternary "
        "unary").split())],
    "iropt.relax.transform": ["relax.transform", "relax.transform.transform"],
    "iropt.relax.analysis": ["relax.analysis", "relax.analysis.analysis"],
    "iropt.relax.expr_functor": ["relax.expr_functor"],
    "iropt.relax.block_builder": ["relax.block_builder"],
    "iropt.relax.testing": ["relax.testing"],
    "iropt.relax.testing.nn": ["relax.testing.nn"],
    "iropt.relax.testing.transform": ["relax.testing.transform"],
    "iropt.relax.testing.vm": ["relax.testing.vm"],
    "iropt.relax.testing.ast_printer": ["relax.testing.ast_printer"],
    "iropt.relax.testing.runtime_builtin": ["relax.testing.runtime_builtin"],
    "iropt.relax.training": ["relax.training"],
    "iropt.relax.training.loss": ["relax.training.loss"],
    "iropt.relax.training.optimizer": ["relax.training.optimizer"],
    "iropt.relax.training.setup_trainer": ["relax.training.setup_trainer"],
    "iropt.relax.training.trainer": ["relax.training.trainer"],
    "iropt.relax.training.utils": ["relax.training.utils"],
    "iropt.relax.dpl": ["relax.dpl", "relax.dpl.pattern", "relax.dpl.context", "relax.dpl.rewrite"],
    "iropt.relax.backend": ["relax.backend"],
    "iropt.relax.backend.contrib": ["relax.backend.contrib"],
    "iropt.relax.backend.contrib.cublas": ["relax.backend.contrib.cublas", "relax.backend.cuda.cublas"],
    "iropt.relax.backend.contrib.cudnn": ["relax.backend.contrib.cudnn", "relax.backend.cuda.cudnn"],
    "iropt.relax.backend.contrib.cutlass": ["relax.backend.contrib.cutlass", "relax.backend.cuda.cutlass", "contrib.cutlass.build"],
    "iropt.relax.backend.contrib.coreml": ["relax.backend.metal.coreml"],
    "iropt.relax.backend.contrib.hipblas": ["relax.backend.contrib.hipblas", "relax.backend.rocm.hipblas"],
    "iropt.relax.backend.contrib.nnapi": ["relax.backend.contrib.nnapi"],
    "iropt.relax.backend.contrib.tensorrt": ["relax.backend.contrib.tensorrt"],
    "iropt.relax.backend.pattern_registry": ["relax.backend.pattern_registry"],
    "iropt.relax.backend.patterns": ["relax.backend.patterns"],
    "iropt.relax.backend.dispatch": ["relax.backend.dispatch_sampling", "relax.backend.dispatch_sort_scan"],
    "iropt.relax.backend.utils": ["relax.backend.utils"],
    "iropt.relax.binding_rewrite": ["relax.binding_rewrite"],
    "iropt.relax.distributed": ["relax.distributed", "relax.distributed.global_info", "relax.distributed.struct_info",
                                "relax.distributed.type", "relax.distributed.transform", "relax.distributed.transform.transform"],
    "iropt.relax.exec_builder": ["relax.exec_builder"],
    "iropt.relax.tuning_api": ["relax.transform.tuning_api"],
    "iropt.relax.utils": ["relax.utils"],
    "iropt.relax.vm_build": ["relax.vm", "relax.vm_build", "relax.pipeline", "runtime.relax_vm", "runtime.vm"],
    "iropt.relax.legalizing": ["relax.transform.legalize_ops.common"],
    "iropt.executable": ["runtime.module", "runtime.executable", "driver", "driver.build_module"],
    "iropt.contrib": ["contrib.utils", "support.utils"],
    "iropt.tvmjs": ["contrib.tvmjs"],
    "iropt.clang": ["contrib.clang", "support.clang"],
    "iropt.rpc": ["rpc"],
    "iropt.params": ["runtime.params"],
    "iropt.support": ["support"],
    "iropt.ir.supply": ["ir.supply"],
    "iropt.auto_scheduler": ["auto_scheduler"],
    "iropt.meta_schedule": ["meta_schedule", "s_tir.meta_schedule"],
    "iropt.meta_schedule.tune_utils": ["meta_schedule.testing.tune_utils", "s_tir.meta_schedule.testing.tune_utils"],
    "iropt.meta_schedule.utils": ["meta_schedule.utils", "s_tir.meta_schedule.utils", "ir.utils", "runtime.support"],
    **{f"iropt.meta_schedule.{name}": [f"meta_schedule.{name}", f"s_tir.meta_schedule.{name}"]
       for name in ("builder", "runner", "measure_callback", "tune_context", "tune", "database", "space_generator")},
    "iropt.meta_schedule.arg_info": ["meta_schedule.arg_info", "s_tir.meta_schedule.arg_info"],
    "iropt.relax.py_module": ["relax.base_py_module"],
    "iropt.meta_schedule.te_workload": ["meta_schedule.testing.te_workload", "s_tir.meta_schedule.testing.te_workload"],
    "iropt.packed": ["_ffi.registry"],
    "iropt.relay": ["relay"],
    "iropt.tir": ["tir", "tir.expr", "tir.stmt", "tir.function", "tir.buffer", "tir.op", "tirx", "tirx.expr",
                  "tirx.stmt", "tirx.function", "tirx.buffer", "tirx.op", "s_tir"],
    "iropt.tir.transform": ["tir.transform", "tir.transform.transform"],
    "iropt.tir.tirx_transform": ["tirx.transform", "tirx.transform.transform"],
    "iropt.tir.s_tir_transform": ["s_tir.transform", "s_tir.transform.transform"],
    "iropt.tir.tensor_intrin": ["tir.tensor_intrin", "tir.tensor_intrin.x86", "tir.tensor_intrin.arm_cpu",
                                "tir.tensor_intrin.cuda", "tir.tensor_intrin.rocm", "tir.tensor_intrin.hexagon",
                                "s_tir.tensor_intrin", "s_tir.tensor_intrin.x86", "s_tir.tensor_intrin.arm_cpu",
                                "s_tir.tensor_intrin.cuda", "s_tir.tensor_intrin.rocm", "s_tir.tensor_intrin.hexagon"],
    "iropt.tir.data_layout": ["tir.data_layout"],
    "iropt.tir.stmt_functor": ["tir.stmt_functor", "tirx.stmt_functor"],
    "iropt.tir.functor": ["tir.functor", "tirx.functor"],
    "iropt.tir.ir_builder": ["tir.ir_builder"],
    "iropt.tir.analysis": ["tir.analysis", "tir.analysis.analysis", "tirx.analysis", "tirx.analysis.analysis",
                           "s_tir.analysis", "s_tir.analysis.analysis"],
    "iropt.tir.schedule": ["tir.schedule", "tir.schedule.schedule", "tir.schedule.trace", "s_tir.schedule",
                           "s_tir.schedule.schedule", "s_tir.schedule.trace"],
    "iropt.tir.schedule.state": ["tir.schedule.state", "tir.schedule.block_scope", "tir.block_scope", "tir.block_dependence_info",
                                 "s_tir.schedule.state", "s_tir.schedule.sblock_scope", "s_tir.sblock_scope",
                                 "s_tir.sblock_dependence_info"],
    "iropt.tir.schedule.testing": ["tir.schedule.testing", "s_tir.schedule.testing"],
    "iropt.script": ["script", "script.parser"],
    "iropt.script.ir": ["script.ir", "script.parser.ir"],
    "iropt.script.tir": ["script.tir", "script.parser.tir", "script.tirx", "script.parser.tirx"],
    "iropt.script.ir_builder": ["script.ir_builder", "script.ir_builder.base"],
    "iropt.script.tir_builder": ["script.ir_builder.tir", "script.ir_builder.tir.ir", "script.ir_builder.tirx",
                                 "script.ir_builder.tirx.ir"],
    "iropt.script.tir_frames": ["script.ir_builder.tir.frame", "script.ir_builder.tirx.frame"],
    "iropt.script.ir_module_builder": ["script.ir_builder.ir", "script.ir_builder.ir.ir"],
    "iropt.script.source": ["script.parser.core.diagnostics", "script.parser.core.evaluator"],
    "ast": ["script.parser.core.doc_core"],
    "iropt.script.doc": ["script.printer.doc"],
    "iropt.script.doc_printer": ["script.printer.doc_printer"],
    "iropt._object_path": ["runtime.object_path", "tvm_ffi.access_path"],
    "iropt.script.relax_builder": ["script.ir_builder.relax", "script.ir_builder.relax.ir"],
    "iropt.script.relax_entry": ["script.parser.relax.entry"],
    "iropt.script.relax": ["script.relax", "script.parser.relax"],
    "iropt.target": ["target", "target.target"],
    "iropt.runtime": ["nd", "runtime", "runtime.ndarray", "runtime.object", "runtime.container", "runtime.device", "_ffi.runtime_ctypes"],
    "iropt.testing": ["testing", "testing.utils"],
    "iropt.testing.plugin": ["testing.plugin"],
    "iropt.testing.env": ["testing.env"],
    "iropt.arith": ["arith", "arith.analyzer", "arith.iter_affine_map", "arith.bound", "arith.pattern"],
    "iropt.arith._ffi_api": ["arith._ffi_api"],
    "iropt.arith.int_set": ["arith.int_set"],
    "iropt.arith.int_solver": ["arith.int_solver"],
    "iropt.dlight": ["dlight", "s_tir.dlight"],
    "iropt.dlight.rules": ["dlight.base.transform", "dlight.base.schedule_rule", "s_tir.dlight.base.transform",
                           "s_tir.dlight.base.schedule_rule"],
    "iropt.dlight.base": ["dlight.base", "s_tir.dlight.base", "dlight.base.utils", "s_tir.dlight.base.utils",
                          "dlight.base.common_schedules", "s_tir.dlight.base.common_schedules", "dlight.gpu.utils"],
    "iropt.dlight.analysis": ["dlight.analysis", "s_tir.dlight.analysis", "dlight.base.analysis"],
    "iropt.dlight.gpu": ["dlight.gpu", "s_tir.dlight.gpu"],
    "iropt.dlight.cpu": ["dlight.cpu", "s_tir.dlight.cpu"],
    "iropt.te": ["te", "te.operation", "te.tensor", "te.tag"],
    # The functions of TVM's modules are all in one here.
    "iropt.topi": ["topi", "topi.argwhere", "topi.einsum", "topi.math", "topi.scan", "topi.scatter", "topi.scatter_elements",
                   "topi.searchsorted", "topi.tensor", "topi.unique"],
    "iropt.topi.nn": ["topi.nn", *("topi.nn." + name for name in (
        "batch_matmul batch_norm batch_to_space_nd conv1d conv1d_transpose conv2d conv2d_transpose conv3d conv3d_transpose dense "
        "depth_to_space depthwise_conv2d dilate elemwise flatten group_norm instance_norm layer_norm local_response_norm loss "
        "mapping pad rms_norm softmax space_to_batch_nd space_to_depth upsampling").split())],
    "iropt.topi.schedules": ["topi.generic", "topi.x86", "topi.cuda", "topi.gpu", "topi.rocm", "topi.arm_cpu", "topi.mali", "topi.bifrost",
                             "topi.intel_graphics", "topi.adreno", "topi.hls"],
    "iropt.topi.testing": ["topi.testing", "topi.testing.strided_slice_python"],
}


class Missing:
    """A part of TVM that this package does not have: an error when it is used."""

    def __init__(self, name):
        self.__name__ = name

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"{self.__name__} is not a part of iropt")

    def __mro_entries__(self, bases):
        return self()

    # Nothing is an instance of it.
    def __instancecheck__(self, instance):
        return False

    def __subclasscheck__(self, cls):
        return False

    # In annotations, and as one of several types.
    def __or__(self, other):
        return type(None) if other is None else other

    __ror__ = __or__

    def __getitem__(self, item):
        return self

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")

    def __repr__(self):
        return f"<{self.__name__}, which is not a part of iropt>"


class _Module(types.ModuleType):
    """A module of TVM."""

    __path__ = []

    def _find_(self, name):
        """The value of a name that is not the module's own."""
        full_name = f"{self.__name__}.{name}"
        if full_name in _sources() or (full_name.removeprefix("tvm.") in _names() and _has(full_name)):
            return importlib.import_module(full_name)
        # What pytest asks its plugins for is not a name of TVM.
        if not name.startswith(("_", "pytest_")) and _has(self.__name__, name):
            return Missing(full_name)
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")


class _Alias(_Module):
    """A module of TVM whose names are those of a module of this package, or of a group of operators. What is imported
    into it, or set in it, is its own: the source stays as it is."""

    def __init__(self, name, source):
        super().__init__(name, getattr(source, "__doc__", None))
        self._source_ = source

    def __getattr__(self, name):
        if name == "__version__" and self.__name__ == "tvm":
            return f"{_chosen_version or _seen_version()}.0"
        source = self.__dict__.get("_source_")
        if name == "PrimValue":
            _show_scalars_bare(False)
        found = getattr(source, name, None) if f"{self.__name__}.{name}" in _sources() else None
        # Prefixes of scripts have a text for every name.
        if isinstance(found, (types.ModuleType, Name)):
            return self._find_(name)
        try:
            return getattr(source, name)
        except AttributeError:
            # The table of TVM's names does not list those of scripts; the reader does.
            if hasattr(source, "_script_prefix_") and f"{self.__name__}.{name}" not in _sources() and name != "__all__" and \
                    self.__name__.startswith("tvm.script."):
                raise
            if name == "__all__":
                return [public for public in dir(source) if not public.startswith("_")]
        return self._find_(name)

    def __dir__(self):
        return sorted({*super().__dir__(), *dir(self._source_)})

    def __call__(self, *args, **kwargs):
        # A function that has the name of its module, such as topi.nn.softmax, of which an import makes an attribute.
        function = getattr(self._source_, self.__name__.rpartition(".")[2], None)
        if not callable(function):
            raise TypeError(f"the module {self.__name__} is not a function")
        return function(*args, **kwargs)


class _MissingModule(_Module):
    __all__: list = []

    def __call__(self, *args, **kwargs):
        # A function that has the name of its module.
        raise NotImplementedError(f"{self.__name__} is not a part of iropt")

    def __getattr__(self, name):
        return self._find_(name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules of tvm: those of this package, its groups of operators, and what does not exist."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in ("tvm", "tvm_ffi") and not fullname.startswith(("tvm.", "tvm_ffi.")):
            return None
        known = fullname in _sources() or fullname.startswith("tvm._ffi") or _group(fullname) is not None
        is_there = _has(fullname) if fullname.removeprefix("tvm.") in _names() else known or _has(fullname)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if is_there else None

    def create_module(self, spec):
        if spec.name == "tvm.tirx":
            _show_scalars_bare(True)
        source = _sources().get(spec.name)
        if source is not None:
            return _Alias(spec.name, importlib.import_module(source))
        group = _group(spec.name)
        return _MissingModule(spec.name) if group is None else _Alias(spec.name, group)

    def exec_module(self, module):
        pass


@functools.lru_cache(maxsize=None)
def _sources():
    """The modules of this package by those of TVM."""
    return {("tvm." + name if name else "tvm") if not name.startswith("tvm_ffi") else name: source
            for source, names in _ALIASES.items() for name in names}


def _show_scalars_bare(bare):
    """Scalars among the operands of calls are PrimValues before TVM 0.26. Without a chosen version, a program that asks for this
    name is for an older one, and one that imports tvm.tirx and does not, for a newer one."""
    from .relax import expr

    if _chosen_version is None or bare == (_number(_chosen_version) >= (0, 26)):
        expr.show_scalars_bare(bare)


def _group(name):
    """What a module of this package has under the name: a group of operators, or a module."""
    parent, _, last = name.rpartition(".")
    module = sys.modules.get(parent)
    found = getattr(module._source_, last, None) if isinstance(module, _Alias) else None
    # The operators of relax.op.nn are in relax.op.nn.nn.
    if found is None and parent.startswith("tvm.relax.op.") and parent.endswith("." + last):
        return None if isinstance(module, _MissingModule) else module._source_
    return None if found is None or isinstance(found, Missing) or callable(found) else found


_VERSION_VARIABLE = "IROPT_TVM_VERSION"
_chosen_version = None


@functools.lru_cache(maxsize=None)
def _names():
    """The public names of TVM by module: dictionaries of (since, until), under "" that of the module."""
    from . import _tvm_names

    table, row = {}, None
    for line in _tvm_names.TABLE.splitlines():
        words = line.split()
        if not line.startswith(" "):
            module, span = _span(words.pop(0))
            row = table["" if module == "." else module] = {"": span}
        row.update(_span(word) for word in words)
    return table


def _span(word):
    name, _, until = word.partition("-")
    name, _, since = name.partition("+")
    return name, (since, until)


def _number(version):
    return tuple(int(part) for part in version.split(".")[:2])


def _holds(span):
    since, until = span
    if _chosen_version is None:
        return True
    return (not since or _number(since) <= _number(_chosen_version)) and (not until or _number(_chosen_version) < _number(until))


def _has(module, name=""):
    """Returns whether some version of TVM, or the chosen one, has a module, or a name in it."""
    table = _names()
    if module.startswith("tvm_ffi"):
        return False
    module = module.removeprefix("tvm").removeprefix(".")
    if module not in table:
        # A package of which only the name is listed has everything below.
        parents = [module[:index] for index, letter in enumerate(module) if letter == "."]
        return any("*" in table.get(parent, ()) and _holds(table[parent][""]) for parent in parents)
    row = table[module]
    return _holds(row[""]) and ("*" in row or (name in row and _holds(row[name])))


def _seen_version():
    """The version that a program seems to be for: the newest if it has imported what older ones do not have."""
    newer = [name for name in list(sys.modules) if name.startswith(("tvm.", "tvm_ffi")) and _since(name)]
    return _versions()[-1] if newer else _versions()[0]


def version():
    """The version that was chosen, or that a program seems to be for, as numbers."""
    return _number(_chosen_version or _seen_version())


def _since(module):
    if module.startswith("tvm_ffi"):
        return True
    return _names().get(module.removeprefix("tvm."), {}).get("", ("", ""))[0]


def _versions():
    from . import _tvm_names

    return _tvm_names.VERSIONS


def install(version=None):
    """From now on `import tvm` imports this package, as a version of TVM if one is given."""
    global _chosen_version  # pylint: disable=global-statement
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if "tvm" in sys.modules:
        raise Error("tvm was imported already")
    version = version or os.environ.get(_VERSION_VARIABLE)
    if version:
        version = ".".join(version.split(".")[:2])
        if version not in _versions():
            raise Error(f"unknown version of TVM '{version}': expected one of {', '.join(_versions())}")
        _chosen_version = version
        native.set_unknown_version(version)
    sys.meta_path.insert(0, _Finder())
    import tvm  # type: ignore[import]  # noqa: F401


def main():
    arguments = sys.argv[1:]
    version = None
    if arguments[:1] == ["--tvm-version"] and len(arguments) > 1:
        version, arguments = arguments[1], arguments[2:]
    if not arguments or arguments[0] in ("-h", "--help") or (arguments[0] == "-m" and len(arguments) < 2):
        print(__doc__)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 1
    try:
        install(version)
    except Error as error:
        print(f"iropt.as_tvm: error: {error}", file=sys.stderr)
        return 1
    try:
        run = _run_module if arguments[0] == "-m" else _run_file
        run(arguments)
    except Exception as error:  # pylint: disable=broad-exception-caught
        error.__traceback__ = _of_program(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def _run_module(arguments):
    sys.argv = arguments[1:]
    runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)


def _run_file(arguments):
    """Runs a file as Python does: its folder is the first one for imports."""
    path = arguments[0]
    sys.argv = arguments
    if os.path.isdir(path):
        runpy.run_path(path, run_name="__main__")
        return
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        sys.exit(f"iropt.as_tvm: error: cannot read '{path}': {error.strerror}")
    program = types.ModuleType("__main__")
    program.__file__ = path
    program.__builtins__ = __builtins__
    sys.modules["__main__"] = program
    exec(compile(source, path, "exec"), program.__dict__)  # pylint: disable=exec-used


def _of_program(trace):
    """The part of a traceback that begins in the program."""
    own = (__file__, runpy.__file__, "<frozen runpy>")
    while trace is not None and trace.tb_next is not None and trace.tb_frame.f_code.co_filename in own:
        trace = trace.tb_next
    return trace


if __name__ == "__main__":
    # The module that runs is another than the one that programs import.
    from iropt import as_tvm

    sys.exit(as_tvm.main())

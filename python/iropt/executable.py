"""Modules that are ready to run: what tvm.build, tvm.compile and relax.build return, and the virtual machine.

Functions run on the host, whatever the target is. PrimFuncs that take long are compiled when they run.
"""
import io
import json
import os
import statistics
import time
import zipfile

from . import _shared_objects as _libraries
from ._core import Array, Error, native, require
from .ir import IRModule
from .ir.transform import Pass, PassContext
from .running import Function
from .runtime import Device, NDArray, ShapeTuple
from .target import Target

_ARCHIVE_ENTRY = "iropt.json"


class BenchmarkResult:
    """What a time evaluator has measured: `results` in seconds, and their mean, median, min, max and std."""

    def __init__(self, results):
        self.results = tuple(results)
        self.mean = statistics.fmean(self.results)
        self.median = statistics.median(self.results)
        self.min, self.max = min(self.results), max(self.results)
        self.std = statistics.pstdev(self.results)

    def __repr__(self):
        return (f"BenchmarkResult(min={self.min}, mean={self.mean}, median={self.median}, max={self.max}, "
                f"std={self.std}, results={self.results})")

    def __str__(self):
        names = ("mean", "median", "max", "min", "std")
        head = "  ".join(f"{name + ' (ms)':>11}" for name in names)
        return f"Execution time summary:\n{head}\n" + "  ".join(f"{getattr(self, name) * 1e3:>11.4f}" for name in names)


def time_evaluator(function, number=10, repeat=1, min_repeat_ms=0):
    """A function that takes the arguments of another one, calls it and measures it.

    number: calls in a measurement; more are made until one takes min_repeat_ms.
    repeat: measurements. Returns a function whose result is a BenchmarkResult.
    """

    def evaluate(*args):
        function(*args)
        results, calls = [], max(number, 1)
        while len(results) < max(repeat, 1):
            begin = time.perf_counter()
            for _ in range(calls):
                function(*args)
            seconds = time.perf_counter() - begin
            if seconds * 1e3 < min_repeat_ms:
                calls = int(calls * max(min_repeat_ms / max(seconds * 1e3, 1e-3), 1.5)) + 1
                continue
            results.append(seconds / calls)
        return BenchmarkResult(results)

    return evaluate


class Module:
    """A built module: its functions are called by their names, rt_mod["main"](a, b, c). `ir_mod` is the module of the IR."""

    def __init__(self, mod, target=None, kind="module"):
        self.ir_mod, self.target, self._kind = mod, target, kind
        self._imports = None
        self.type_key = "iropt"

    def _names(self):
        return [name.name for name in self.ir_mod.keys()]

    # The name that get_function knows the entry function by, too.
    entry_name = "__tvm_main__"

    def _find(self, name):
        if name == self.entry_name:
            return "main" if self._find("main") else self._names()[0]
        for variable, func in self.ir_mod.items():
            symbol = func.attrs.get("global_symbol") if func.attrs is not None else None
            if name in (variable.name, symbol):
                return variable.name
        return None

    def implements_function(self, name, query_imports=False):
        """Returns whether there is a function of a name."""
        del query_imports
        return self._find(name) is not None

    def get_function(self, name, query_imports=False):
        """The function of a name, which is called with tensors, numbers and shapes."""
        del query_imports
        found = self._find(name)
        if found is None:
            raise AttributeError(f"Module has no function '{name}': it has {', '.join(self._names()) or 'none'}")
        return _Callable(self.ir_mod, found)

    def __getitem__(self, name):
        if not isinstance(name, str):
            raise ValueError("Can only take string as function name")
        return self.get_function(name)

    @property
    def imported_modules(self):
        """The module of the functions for a device, if the target is one. Its source is their text: they run on the host."""
        if self._imports is None:
            kind = None if self.target is None else str(Target(self.target).kind)
            is_host = kind in (None, "llvm", "c") or self._kind == kind
            self._imports = [] if is_host else [Module(self.ir_mod, self.target, kind)]
            for module in self._imports:
                module.type_key = kind
        return self._imports

    imports = property(lambda self: self.imported_modules)

    def import_module(self, module):
        """Adds a module to those that are imported."""
        self.imported_modules.append(module)

    @property
    def entry_func(self):
        """The function `main`, or the first one."""
        return self.get_function(self.entry_name)

    def __call__(self, *args):
        return self.entry_func(*args)

    def time_evaluator(self, func_name, dev=None, number=10, repeat=1, min_repeat_ms=0, **_):
        """A function that measures a function on its arguments; see `time_evaluator` of this module."""
        del dev
        return time_evaluator(self.get_function(func_name), number, repeat, min_repeat_ms)

    def get_source(self, fmt=""):
        """The text of the functions."""
        del fmt
        return self.ir_mod.script(show_meta=False)

    inspect_source = get_source

    def export_library(self, file_name, **options):
        """Writes a file that `load_module` reads, and returns its path.

        A name that ends with .so or .dylib is that of a shared object, with the module as its data, where a C compiler is
        found (cc=PATH names one); else it is an archive.
        """
        path = os.fspath(file_name)
        target = None if self.target is None else str(self.target)
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(_ARCHIVE_ENTRY, json.dumps({"kind": self._kind, "target": target}))
            archive.writestr("module.py", self.ir_mod.script())
        _libraries.write(path, data.getvalue(), options.get("cc"))
        return path

    save = export_library

    def __repr__(self):
        return f"<module with {', '.join(self._names())}>"


def _listed(result):
    """The result of a call with lists of the IR as tuples."""
    return Array(_listed(item) for item in result) if isinstance(result, tuple) and not isinstance(result, ShapeTuple) else result


class _Callable(Function):
    """A function of a built module."""

    def __init__(self, mod, name):
        super().__init__(mod, name, loops="auto")
        self.name, self._mod = name, mod

    def __call__(self, *args):
        from .tir import PrimFunc

        func = self._mod[self.name]
        result = super().__call__(*args)
        # Who gives the outputs gets them as arguments.
        is_complete = isinstance(func, PrimFunc) and len(args) == len(func.params)
        return None if is_complete and isinstance(result, (NDArray, tuple)) else _listed(result)

    def time_evaluator(self, number=10, repeat=1, min_repeat_ms=0):
        return time_evaluator(self, number, repeat, min_repeat_ms)


class Executable(Module):
    """A module that is ready to run: one of Relax by VirtualMachine. `ir_mod` is the module of the IR."""

    def __init__(self, mod, target=None):
        require(mod=mod)
        # The module may be built already: Executable(tvm.build(mod)).
        self._built, self._jitted_mod = mod if isinstance(mod, Module) else None, None
        super().__init__(*(mod.ir_mod, mod.target) if isinstance(mod, Module) else (mod, target), "executable")

    def get_function(self, name, query_imports=False):
        """The function of a name; also what modules of TVM have as functions: stats, as_text and as_python."""
        if name in ("stats", "as_text", "as_python") and self._find(name) is None:
            return getattr(self, name)
        return super().get_function(name, query_imports)

    @property
    def mod(self):
        """The functions as a module of the runtime: executable.mod["main"](x). It imports the one that has the kernels."""
        if self._built is not None:
            return self._built
        made = Module(self.ir_mod, self.target)
        if not made.imported_modules:
            made.import_module(Module(self.ir_mod, self.target, "llvm"))
            made.imported_modules[0].type_key = "llvm"
        return made

    def jit(self, *_args, force_recompile=False, **_kwargs):
        """A module that runs: functions are compiled when they are called. It is the same one until force_recompile is given."""
        if self._jitted_mod is None or force_recompile:
            self._jitted_mod = Executable(self.ir_mod, self.target)
        return self._jitted_mod

    def as_text(self):
        """The functions as text."""
        return self.ir_mod.script(show_meta=False)

    as_python = as_text

    def stats(self):
        """A summary: the functions, and the number of constants."""
        from .relax import Constant
        from .relax.analysis import post_order_visit

        constants = []
        for func in self.ir_mod.values():
            if hasattr(func, "body") and hasattr(func, "ret_struct_info"):
                post_order_visit(func, lambda node: constants.append(node) if isinstance(node, Constant) else None)
        names = ", ".join(self._names())
        return f"Relax VM executable statistics:\n  Constant pool (# {len(constants)})\n  Functions (# {len(self.ir_mod)}): [{names}]\n"


def load_module(path, fmt=""):
    """Reads what `export_library` has written: a Module or an Executable."""
    del fmt
    try:
        with zipfile.ZipFile(io.BytesIO(_libraries.read(os.fspath(path)))) as archive:
            about = json.loads(archive.read(_ARCHIVE_ENTRY))
            text = archive.read("module.py").decode()
    except (zipfile.BadZipFile, KeyError):
        raise Error(f"{path} is not a file that export_library of iropt has written") from None
    mod = IRModule.from_source(text, os.fspath(path), verify=False)
    return Executable(mod, about["target"]) if about["kind"] == "executable" else Module(mod, about["target"])


def enabled(target):
    """Returns whether code for a target can run here: only that for the host."""
    return Device(str(target).split()[0]).exist if not str(target).startswith("llvm") else True


def _module_of(inputs, name):
    from . import tir

    if isinstance(inputs, IRModule):
        return inputs
    if isinstance(inputs, tir.PrimFunc):
        return IRModule({name or "main": inputs})
    if hasattr(inputs, "ir_mod"):
        return inputs.ir_mod
    if hasattr(inputs, "mod"):
        return inputs.mod
    raise native.ArgumentError(f"expected a module or a PrimFunc to build, not {type(inputs).__name__}")


def build(inputs, args=None, target=None, target_host=None, runtime=None, name=None, binds=None, **_):
    """Builds the PrimFuncs of a module: rt_mod["main"](a, b, c) calls them.

    inputs: an IRModule, a PrimFunc, modules by their targets, or a schedule of te, whose parameters are `args`.
    name: of the function, if there is only one; by default its global symbol, or "main".
    Returns a Module.
    """
    del target_host, runtime, binds
    from .te import schedule as te_schedule

    if isinstance(inputs, te_schedule.Schedule):
        inputs = te_schedule.module_of(inputs, args, name or "main")
    if isinstance(inputs, dict):
        merged = IRModule()
        for mod in inputs.values():
            merged.update(_module_of(mod, name))
        return Module(merged, target)
    if PassContext.current().config.get("tir.add_lower_pass"):
        from ._tvm import lower

        return Module(lower(_module_of(inputs, name)), target)
    symbol = getattr(inputs, "attrs", None) and not isinstance(inputs, IRModule) and inputs.attrs.get("global_symbol")
    return Module(_module_of(inputs, name or symbol or None).copy(), target)


def schedule_to_module(sch, args=None, name="main", binds=None):
    """The module of a schedule of te with its parameters: loops, without blocks."""
    del binds
    from .te import schedule as te_schedule

    module = te_schedule.loops_of(te_schedule.module_of(sch, args, name))
    return IRModule({name: module[name].with_attr("from_legacy_te_schedule", True)})


def _has_relax(mod):
    from .relax import Function as RelaxFunction

    return any(isinstance(func, RelaxFunction) for func in mod.values())


def compile(mod, target=None, *, relax_pipeline=None, tir_pipeline=None, **_):  # pylint: disable=redefined-builtin
    """Builds a module: as relax.build if it has functions of Relax, else as tvm.build. Returns an Executable."""
    module = _module_of(mod, None)
    if _has_relax(module):
        return build_relax(module, target, relax_pipeline=relax_pipeline, tir_pipeline=tir_pipeline)
    return Executable(module.copy(), target)


def build_relax(mod, target=None, params=None, relax_pipeline=None, tir_pipeline=None, exec_mode="bytecode", *, pipeline=None,
                **_):
    """A module that VirtualMachine runs.

    params: constants for parameters of `main` by their names.
    relax_pipeline: a pass, or the name of a pipeline, that is run first; the functions run as they are otherwise.
    tir_pipeline: a pass that is run then.
    """
    del exec_mode
    from .relax import get_pipeline
    from .relax.transform import BindParams
    from .target import Target

    module = _module_of(mod, None)
    if params:
        module = BindParams("main", params)(module)
    for step in (relax_pipeline or pipeline, tir_pipeline):
        if isinstance(step, str) and step != "default":
            step = get_pipeline(step)
        if isinstance(step, Pass):
            if target is None:
                module = step(module)
            else:
                with Target(target) if isinstance(target, str) else target:
                    module = step(module)
    return Executable(module.copy(), target)


class VirtualMachine:
    """Runs the functions of a module: `VirtualMachine(relax.build(mod), tvm.cpu())["main"](x)`."""

    NAIVE_ALLOCATOR, POOLED_ALLOCATOR = 1, 2

    def __init__(self, rt_mod, device=None, memory_cfg=None, profile=False):
        del memory_cfg, profile
        self._executable = rt_mod if isinstance(rt_mod, Module) else Executable(_module_of(rt_mod, None))
        self.device = device
        self._inputs, self._outputs, self._saved = {}, {}, {}

    @property
    def module(self):
        """The machine as a module: its functions by their names."""
        return self

    # What the machine itself has as functions in TVM.
    _OWN = ("invoke_stateful", "set_input", "get_output", "save_function", "invoke_closure")

    def __getitem__(self, name):
        if name in self._OWN and not self._executable.implements_function(name):
            return getattr(self, "get_outputs" if name == "get_output" else name)
        return self._saved[name] if name in self._saved else self._executable[name]

    get_function = __getitem__

    def _arguments(self, name, args, kwargs):
        if not kwargs:
            return list(args)
        names = [param.name for param in self._executable.ir_mod[name].params][len(args):]
        unknown = [key for key in kwargs if key not in names]
        if unknown:
            raise ValueError(f"the function {name} has no parameter '{unknown[0]}'")
        missing = [key for key in names if key not in kwargs]
        if missing:
            raise ValueError(f"the argument '{missing[0]}' of {name} is missing")
        return list(args) + [kwargs[key] for key in names]

    def set_input(self, func_name, *args, **kwargs):
        """Sets the arguments for invoke_stateful, by position or by name."""
        self._inputs[func_name] = self._arguments(func_name, args, kwargs)

    def invoke_stateful(self, func_name):
        """Calls a function with the arguments that set_input has set; get_outputs has the result."""
        if func_name not in self._inputs:
            raise ValueError(f"set_input comes before invoke_stateful: {func_name} has no arguments")
        self._outputs[func_name] = self[func_name](*self._inputs[func_name])

    def get_outputs(self, func_name):
        """The result of invoke_stateful: a tensor, or a tuple."""
        if func_name not in self._outputs:
            raise ValueError(f"invoke_stateful comes before get_outputs: {func_name} has no result")
        return self._outputs[func_name]

    def invoke_closure(self, closure, *args):
        """Calls a function that the machine has returned."""
        return closure(*args)

    def save_function(self, func_name, saved_name, *args, include_return=True, **kwargs):
        """Makes a function without parameters that calls another one with these arguments.

        include_return: whether it returns the result.
        """
        function, arguments = self[func_name], self._arguments(func_name, args, kwargs)

        def saved():
            result = function(*arguments)
            return result if include_return else None

        self._saved[saved_name] = saved

    def time_evaluator(self, func_name, dev=None, number=10, repeat=1, min_repeat_ms=0, **_):
        """A function that measures a function on its arguments: its result is a BenchmarkResult."""
        del dev
        return time_evaluator(self[func_name], number, repeat, min_repeat_ms)

    def profile(self, func_name, *args):
        """Calls a function, and returns a text that says how long that took."""
        begin = time.perf_counter()
        self[func_name](*args)
        return f"{func_name}: {(time.perf_counter() - begin) * 1e3:.3f} ms"


def __getattr__(name):
    if name == "lower":
        from ._tvm import lower

        return lower
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")

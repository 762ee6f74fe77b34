"""Modules that have functions of Python, @I.pyfunc, next to those of the IR."""
import sys

from .. import _newer
from ..executable import Executable
from ..ir import IRModule
from ..runtime import NDArray, cpu, empty, from_dlpack
from . import TensorStructInfo, TupleStructInfo
from ..packed import get_global_func


class PyModuleFactory(IRModule):
    """A module with functions of Python, in `pyfuncs`. A call with a device makes an object whose methods are all functions."""

    __slots__ = ()

    def __init__(self, mod, pyfuncs):
        super().__init__(_module=mod._module)
        self.__dict__["pyfuncs"] = dict(pyfuncs)

    def __call__(self, device=None, target=None):
        return BasePyModule(self, device, target)


class BasePyModule:
    """The functions of a module as methods: those of Python, which get the object as `self`, and those of the IR, which take
    and return tensors.

    ir_mod: the module, whose `pyfuncs` are the functions of Python.
    device: where tensors are said to be; the memory is that of the host.
    """

    def __init__(self, ir_mod=None, device=None, target=None):
        self.ir_mod, self.device, self.target = ir_mod, device or cpu(), target
        self.pyfuncs = dict(getattr(ir_mod, "pyfuncs", None) or {})
        self._executable = Executable(IRModule() if ir_mod is None else ir_mod)
        for name, function in self.pyfuncs.items():
            setattr(self, name, function.__get__(self))

    def __getattr__(self, name):
        if name.startswith("_") or not self._executable.implements_function(name):
            raise AttributeError(f"the module has no function '{name}'")
        function = self._executable[name]

        def call(*args):
            return _like(args, function(*args))

        call.__name__ = name
        return call

    @_newer.keywords
    def call_tir(self, tir_func, args, out_sinfo):
        """Calls a PrimFunc of the module on tensors.

        tir_func: its name, or the attribute of this object. out_sinfo: the type of the result, or a list of types.
        Returns a new tensor, or a list of them.
        """
        name = tir_func if isinstance(tir_func, str) else getattr(tir_func, "__name__", None) or tir_func.name
        return self._into_outputs(self._executable[name], args, out_sinfo)

    @_newer.keywords
    def call_dps_packed(self, func_name, args, out_sinfo):
        """Calls a registered function, which writes its last arguments, on tensors; see call_tir."""
        return self._into_outputs(get_global_func(func_name), args, out_sinfo)

    def _into_outputs(self, function, args, out_sinfo):
        args = list(args) if isinstance(args, (list, tuple)) else [args]
        fields = out_sinfo.fields if isinstance(out_sinfo, TupleStructInfo) else out_sinfo
        types = list(fields) if isinstance(fields, (list, tuple)) else [fields]
        outputs = [self._output(type_) for type_ in types]
        function(*args, *outputs)
        outputs = [_like(args, output) for output in outputs]
        return outputs if isinstance(fields, (list, tuple)) else outputs[0]

    def _output(self, type_):
        if not isinstance(type_, TensorStructInfo) or type_.shape is None:
            raise ValueError(f"expected the type of a tensor with a shape, not {type_}")
        return empty([int(dim) for dim in type_.shape.values], type_.dtype, self.device)

    def _convert_pytorch_to_tvm(self, tensors):
        """Tensors of PyTorch, or a list of them, as tensors in the same memory."""
        if isinstance(tensors, (list, tuple)):
            return [self._convert_pytorch_to_tvm(item) for item in tensors]
        return tensors if isinstance(tensors, NDArray) or not hasattr(tensors, "__dlpack__") else from_dlpack(tensors)

    def _convert_tvm_to_pytorch(self, tensors):
        """Tensors, or a list of them, as tensors of PyTorch in the same memory."""
        if isinstance(tensors, (list, tuple)):
            return [self._convert_tvm_to_pytorch(item) for item in tensors]
        return sys.modules["torch"].from_dlpack(tensors) if isinstance(tensors, NDArray) else tensors

    def list_functions(self):
        """The names of the functions by their kinds: "tirx" of loops, "relax" of the graph, "extern" of Python."""
        from ..tir import PrimFunc

        loops = [name.name_hint for name, func in self.ir_mod.items() if isinstance(func, PrimFunc)]
        graph = [name.name_hint for name, func in self.ir_mod.items() if not isinstance(func, PrimFunc)]
        return {"tirx": loops, "relax": graph, "extern": list(self.pyfuncs)}

    def call_py_func(self, func_name, args):
        """Calls a function of Python on tensors, of PyTorch where that is imported. Returns what it returns."""
        if func_name not in self.pyfuncs:
            raise ValueError(f"the module has no function of Python '{func_name}'")
        given = self._convert_tvm_to_pytorch(list(args)) if "torch" in sys.modules else list(args)
        return self._convert_pytorch_to_tvm(getattr(self, func_name)(*given))

    def script(self, **options):
        """The functions of the IR as text."""
        return self.ir_mod.script(**options)

    def show(self, **options):
        self.ir_mod.show(**options)


def _like(args, result):
    """The result as a tensor of the library whose tensors the arguments are."""
    if isinstance(result, (list, tuple)):
        return type(result)(_like(args, item) for item in result)
    is_torch = any(type(arg).__module__.split(".")[0] == "torch" for arg in args)
    return sys.modules["torch"].from_dlpack(result) if is_torch and isinstance(result, NDArray) else result

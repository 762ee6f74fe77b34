"""The prefix R of scripts. Outside of scripts, its types are types, and its operators make calls."""
import inspect
import re

from .. import _newer, _script
from .. import relax as _relax
from .. import runtime as _runtime
from . import _functions
from ._names import Name, named

_text = str

_script_prefix_ = "R"

function = _functions.decorator("function")
macro = _functions.macro("R")


def _named(text, *args, **kwargs):
    return Name(f"R.{text}")(*args, **kwargs)


def Tensor(shape=None, dtype=None, vdevice=None, ndim=-1):
    """The type of a tensor. With names of dimensions it is for signatures of scripts."""
    given = {name: value for name, value in (("shape", shape), ("dtype", dtype), ("vdevice", vdevice)) if value is not None}
    if isinstance(shape, _text):
        return _relax.TensorStructInfo(None, shape, vdevice, ndim)
    names = any(isinstance(dim, _text) for dim in shape) if isinstance(shape, (list, tuple)) else False
    if names or isinstance(vdevice, _text):
        return _named("Tensor", **given, **({} if ndim == -1 else {"ndim": ndim}))
    return _relax.TensorStructInfo(shape, dtype if dtype is not None else "", vdevice, ndim)


def Shape(values=None, ndim=-1):
    """The type of a shape."""
    if values is not None and any(isinstance(value, _text) for value in values):
        return _named("Shape", values)
    return _relax.ShapeStructInfo(values, ndim)


def Prim(dtype=None, value=None):
    """The type of a scalar."""
    if isinstance(value, _text):
        return _named("Prim", value=value)
    return _relax.PrimStructInfo(dtype, value)


def Tuple(*fields):
    """The type of a tuple."""
    if len(fields) == 1 and isinstance(fields[0], (list, tuple)) and not hasattr(fields[0], "same_as"):
        fields = fields[0]
    fields = [field() if callable(field) and not hasattr(field, "_kind_") and not isinstance(field, Name) else field
              for field in fields]
    if any(isinstance(field, Name) for field in fields):
        return _named("Tuple", *fields)
    return _relax.TupleStructInfo(fields)


def Callable(params=None, ret=None, purity=None, derive_func=None):
    """The type of a function."""
    del derive_func
    if params is None:
        return _relax.FuncStructInfo.opaque_func(ret=ret, purity=bool(purity))
    params = params if isinstance(params, (list, tuple)) else [params]
    if any(isinstance(param, Name) for param in params) or isinstance(ret, Name):
        return _named("Callable", params, ret)
    return _relax.FuncStructInfo([_type(param) for param in params], _type(ret), True if purity is None else purity)


def _type(value):
    return value() if callable(value) and not isinstance(value, Name) and not hasattr(value, "same_as") else value


def Object():
    """The type of any value."""
    return _relax.ObjectStructInfo()


Any = Object


for _name, _value in list(globals().items()):
    if _name in ("Tensor", "Shape", "Prim", "Tuple", "Callable", "Object"):
        _value._script_name_ = f"R.{_name}"


def rewriter(rewriter_mod, check_well_formed=False):
    """Makes a rewriter of a class or a module with the functions `pattern` and `replacement`."""
    from ..relax.dpl import PatternMatchingRewriter

    if inspect.isclass(rewriter_mod):
        frame = _script.caller()
        source, path, line = _script.source_of_class(rewriter_mod, frame)
        source = re.sub(r"@\S+", "@I.ir_module", source, count=1)
        rewriter_mod = _script.read(source, _script.environment(frame), path, line, verify=check_well_formed)
    return PatternMatchingRewriter.from_module(rewriter_mod)


def const(value, dtype=None):
    return _relax.const(value, dtype)


def shape(values):
    return _relax.ShapeExpr(values)


def str(value):  # pylint: disable=redefined-builtin
    return _relax.StringImm(value)


def dtype(value):
    return _relax.DataTypeImm(value)


def prim_value(value):
    return _relax.PrimValue(value)


@_newer.keywords
def ExternFunc(name, struct_info=None):
    return _relax.ExternFunc(name, struct_info)


for _value in (const, shape, str, dtype, prim_value, ExternFunc):
    _value._script_name_ = f"R.{_value.__name__}"


def device_mesh(shape, device_ids):
    """A mesh of devices."""
    from ..ir import DeviceMesh

    return DeviceMesh(shape, device_ids)


for _name in ("cpu", "cuda", "device", "metal", "opencl", "rocm", "vulkan", "webgpu"):
    globals()[_name] = getattr(_runtime, _name)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    from . import ir_builder

    # In the scope of an IRBuilder, statements of scripts are calls.
    if ir_builder.IRBuilder.is_in_scope() and name in ir_builder.STATEMENTS:
        return ir_builder.STATEMENTS[name]
    try:
        return getattr(_relax.op, name)
    except AttributeError:
        return named("R", name)

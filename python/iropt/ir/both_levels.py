"""Classes that newer versions have once for both levels: `tvm.ir.Var`, `tvm.ir.Call`."""
from .. import tir
from .base import GlobalVar, Op, PointerType, PrimType


def _relax():
    from .. import relax

    return relax


class _BothLevels(type):
    """The class of what is one of two classes here. Its instances are theirs, and calling it makes one of them."""

    def _classes_(cls):
        return (getattr(tir, cls.__name__), getattr(_relax(), cls.__name__))

    def __instancecheck__(cls, instance):
        return isinstance(instance, cls._classes_())

    def __subclasscheck__(cls, other):
        return issubclass(other, cls._classes_())

    def __call__(cls, *args, **kwargs):
        return cls.make(*args, **kwargs)


def _scalar_dtype(type_):
    """The dtype of a type of scalars or pointers; None for other types."""
    if isinstance(type_, _relax().PrimStructInfo):
        return str(type_.dtype)
    return type_ if isinstance(type_, (str, PrimType, PointerType)) else None


class Var(metaclass=_BothLevels):
    """A variable: of a scalar or a pointer, or of Relax."""

    @staticmethod
    def make(name=None, ty=None, span=None, *, name_hint=None):
        """The variable; a text is a dtype."""
        del span
        if name is not None and name_hint is not None:
            raise TypeError("Specify either name or name_hint, not both")
        name = name_hint if name is None else name
        if not isinstance(name, str):
            raise TypeError("name must be a str")
        dtype = _scalar_dtype(ty)
        return _relax().Var(name, ty) if dtype is None else tir.Var(name, ty=dtype)


class Call(metaclass=_BothLevels):
    """A call: of an intrinsic, or of Relax."""

    @staticmethod
    def make(op, args, attrs=None, ty_args=None, span=None, ret_ty=None):
        """The call; one with the type of a scalar as `ret_ty`, or of an intrinsic, is a scalar."""
        del span
        op = Op.get(op) if isinstance(op, str) else op
        dtype = _scalar_dtype(ret_ty)
        is_intrinsic = isinstance(op, Op) and op.name.startswith(("tir.", "tirx."))
        if not is_intrinsic and not (dtype is not None and isinstance(op, (Op, GlobalVar))):
            return _relax().Call(op, args, attrs, ty_args)
        if dtype is None:
            return getattr(tir, op.name.partition(".")[2])(*args)
        return tir.Call(dtype if isinstance(dtype, str) else "handle" if isinstance(dtype, PointerType) else dtype.dtype, op, args)


def is_prim_expr(value):
    """Returns whether something is a scalar expression."""
    return isinstance(value, tir.PrimExpr)


def is_prim_var(value):
    """Returns whether something is a variable of a scalar, not of a pointer."""
    return isinstance(value, tir.Var) and value.dtype != "handle"

"""Names of Relay that mean the same in Relax, for programs that were written for it.

Expressions become Relax functions, and passes are those of the same names. Texts in Relay are read by
`iropt.from_source(text, format="relay")`.
"""
import types

from . import ir, relax
from .ir import GlobalVar, IRModule  # noqa: F401
from .relax import const  # noqa: F401
from .relax import TensorStructInfo as TensorType  # noqa: F401
from .relax import op as _op

Module = IRModule
op = types.SimpleNamespace(get=ir.Op.get)


def var(name_hint, type_annotation=None, shape=None, dtype="float32"):
    """A variable with a type, or with a shape and a dtype."""
    if type_annotation is None and shape is not None:
        type_annotation = TensorType(shape, dtype)
    return relax.Var(name_hint, type_annotation)


def Function(params, body, ret_type=None, type_params=None, attrs=None):
    """A Relax function of a nested expression."""
    del ret_type, type_params
    builder = relax.BlockBuilder()
    with builder.function("main", list(params)):
        with builder.dataflow():
            result = builder.emit_output(builder.normalize(body))
        builder.emit_func_output(result)
    function = builder.get()["main"].without_attr("global_symbol")
    return function.with_attrs(attrs) if attrs else function


def build_config(opt_level=2, required_pass=None, disabled_pass=None, trace=None):
    """The context of passes, under its old name."""
    return ir.transform.PassContext(opt_level, required_pass, disabled_pass, trace=trace)


class _Transform:
    """The passes of Relax, and those of Relay that make Relax's normal form."""

    def InferType(self):
        return relax.transform.Normalize()

    ToANormalForm = InferType

    def __getattr__(self, name):
        for module in (relax.transform, ir.transform):
            if hasattr(module, name):
                return getattr(module, name)
        raise AttributeError(f"there is no pass '{name}'")


transform = _Transform()


def __getattr__(name):
    from .as_tvm import Missing

    found = None if name.startswith("_") else getattr(_op, name, None)
    if found is None or isinstance(found, Missing):
        raise AttributeError(f"iropt.relay has no '{name}'")
    return found

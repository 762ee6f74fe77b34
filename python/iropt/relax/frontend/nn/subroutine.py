"""Modules that become functions of their own: those with `define_subroutine = True`."""
import contextlib
import functools
import inspect
import re

from ... import Expr, Tuple, TupleStructInfo, Var
from ...block_builder import BlockBuilder
from ...utils import copy_with_new_vars
from ....ir import structural_equal


def _snake_case(name):
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def _expression(value):
    from .core import Tensor

    if isinstance(value, (tuple, list)):
        return Tuple([_expression(item) for item in value])
    if isinstance(value, Tensor):
        return value._expr
    if isinstance(value, Expr):
        return value if value.struct_info_ is not None else BlockBuilder.current().emit(value)
    raise TypeError(f"an argument of a subroutine is a tensor or an expression, not {type(value).__name__}")


class SubroutineMixin:
    """Calls `forward`, or where `define_subroutine` is set a function that is made of it once for each type of arguments."""

    define_subroutine = False

    def __init_subclass__(cls):
        forward = getattr(cls, "forward", None)
        if forward is None or getattr(forward, "_is_subroutine_mixin", False):
            return

        @functools.wraps(forward)
        def dispatch(self, *args, **kwargs):
            return _call(self, forward, args, kwargs) if self.define_subroutine else forward(self, *args, **kwargs)

        dispatch._is_subroutine_mixin = True
        cls.forward = dispatch


def _call(module, forward, args, kwargs):
    from .core import Tensor

    builder = BlockBuilder.current()
    if builder is None:
        raise RuntimeError(f"{type(module).__name__} has define_subroutine, so it can be called only while a function is built")
    arguments = inspect.signature(forward).bind(module, *args, **kwargs).arguments
    arguments.pop(next(iter(arguments)))
    weights = [getattr(param, "_expr", param) for param in module.parameters()]
    actual = {name: _expression(value) for name, value in arguments.items()}
    is_tensor = {name: isinstance(value, Tensor) for name, value in arguments.items()}
    gvar, gives_tensor = _subroutine(module, forward, builder, actual, is_tensor, weights)
    result = builder.emit(gvar(*actual.values(), *weights), f"{gvar.name_hint}_output")
    return Tensor(_expr=result) if gives_tensor else result


def _subroutine(module, forward, builder, actual, is_tensor, weights):
    """The name of the function, and whether its result is a tensor of nn."""
    from .core import Tensor

    types = TupleStructInfo([arg.struct_info for arg in [*actual.values(), *weights]])
    in_dataflow = builder.current_block_is_dataflow()
    known = builder.__dict__.setdefault("_subroutines", {}).setdefault(type(module), [])
    for other, other_in_dataflow, found in known:
        if other_in_dataflow == in_dataflow and structural_equal(other, types, map_free_vars=True):
            return found
    params = [Var(name, arg.struct_info) for name, arg in actual.items()]
    args = [Tensor(_expr=param) if is_tensor[name] else param for name, param in zip(actual, params)]
    with builder.function(_snake_case(type(module).__name__), [*params, *weights], private=True):
        with builder.dataflow() if in_dataflow else contextlib.nullcontext():
            result = forward(module, *args)
            gives_tensor = isinstance(result, Tensor)
            result = _expression(result)
            if in_dataflow:
                result = builder.emit_output(result)
        gvar = builder.emit_func_output(result)
    # Two functions of a module have no symbolic variables in common.
    builder.update_func(gvar, copy_with_new_vars(builder.get()[gvar]))
    known.append((types, in_dataflow, (gvar, gives_tensor)))
    return known[-1][2]

"""Small tools for functions of Relax."""
from .. import ir
from .._core import native


def bind_function(func, params, symbols):
    """The function with constants for parameters, and values for symbolic variables."""
    from . import transform

    module = ir.IRModule({"main": func})
    if symbols:
        module = transform.BindSymbolicVars({getattr(key, "name", key): int(value) for key, value in symbols.items()},
                                            "main")(module)
    if params:
        module = transform.BindParams("main", {getattr(key, "name", key): value for key, value in params.items()})(module)
    return module["main"]


def convert_to_expr(value):
    return native.to_expr(value)


def copy_with_new_vars(func):
    """A copy of a function with variables and symbolic variables of its own."""
    return native.copy_function(func)


def gen_call_tir_inputs(func, *args, **kwargs):
    """What a call of call_tir needs that computes what a function on tensors does: see BlockBuilder.call_te."""
    from .te_call import gen_call_tir_inputs as generate

    return generate(func, *args, **kwargs)

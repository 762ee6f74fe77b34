"""Legalizations that programs register: what LegalizeOps makes of calls of an operator."""
from typing import Callable

from . import Constant
from .. import ir, tir

TEFunc = Callable
LegalizeFunc = Callable


def register_legalize(op_name, legal_func=None):
    """Registers what LegalizeOps makes of a call of an operator: a function of a BlockBuilder and the call. Also a decorator."""
    return ir.register_op_attr(op_name, "FLegalize", legal_func)


def _call_topi_without_attr(te_func, primfunc_name=None):
    """The legalization by a function on tensors that takes the operands."""
    return lambda bb, call: bb.call_te(te_func, *call.args, primfunc_name_hint=primfunc_name or te_func.__name__)


def _try_convert_to_scalar_const(expr, python_native=False):
    """The number of a constant of rank 0, with its dtype unless `python_native`; other expressions stay."""
    if not isinstance(expr, Constant) or expr.struct_info.ndim != 0:
        return expr
    value = expr.data.numpy()[()].item()
    return value if python_native else tir.const(value, expr.struct_info.dtype)

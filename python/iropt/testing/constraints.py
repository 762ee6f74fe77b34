"""Checks of conditions on integers, by all values that variables have in their ranges."""
import numpy as np

from .. import arith, te, tir
from ..executable import build
from ..runtime import empty
from ..tir.stmt_functor import substitute


def check_bool_expr_is_true(bool_expr, vranges, cond=None):
    """Fails unless an expression is true for all values of variables in their ranges, of which a condition is true."""
    if cond is not None:
        bool_expr = tir.any(tir.Not(cond), bool_expr)
    variables = list(vranges.items())

    def value(*indices):
        return substitute(bool_expr, {var: index.astype(var.dtype) + rng.min for (var, rng), index in zip(variables, indices)})

    values = _values([rng.extent.value for _, rng in variables], value)
    if not np.all(values):
        found = np.argwhere(~np.asarray(values, bool))[0]
        example = ", ".join(sorted(f"{var.name} = {int(index) + rng.min}" for (var, rng), index in zip(variables, found)))
        raise AssertionError(f"Expression {arith.Analyzer().simplify(bool_expr)}\nis not true on {vranges}\nCounterexample: {example}")


def _values(shape, value):
    """What an expression of indices is for all of them."""
    if not shape:
        return [arith.Analyzer().simplify(value()).value]
    result = te.compute(shape, value)
    memory = empty(shape, result.dtype)
    build(te.create_prim_func([result]))(memory)
    return memory.numpy()


def check_int_constraints_trans_consistency(constraints_trans, vranges=None):
    """Fails unless a change of variables has an inverse, and keeps what relations and ranges say."""
    there, back = constraints_trans.src_to_dst, constraints_trans.dst_to_src
    for first, second, names, inverse in ((constraints_trans.src, constraints_trans.dst, there, back),
                                          (constraints_trans.dst, constraints_trans.src, back, there)):
        _check(first, second, names, inverse, dict(vranges or {}))


def _check(first, second, names, inverse, vranges):
    analyzer, true = arith.Analyzer(), tir.const(True, "bool")
    returns = [var.equal(analyzer.simplify(substitute(names[var], inverse))) for var in first.variables if var in names]
    holds = list(second.relations)
    for var in second.variables:
        if var in second.ranges:
            rng = second.ranges[var]
            holds += [var >= rng.min, var < rng.min + rng.extent]
    holds = analyzer.simplify(substitute(tir.all(true, *holds), inverse))
    check_bool_expr_is_true(tir.all(true, holds, *returns), {**vranges, **first.ranges}, cond=tir.all(true, *first.relations))

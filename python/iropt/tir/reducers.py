"""Reductions over axes of tensor expressions."""
import functools

from .expr import Reduce, Var, _binary, const, convert, of_texts
from .buffer import CommReducer, IterVar
from .op import max_value, min_value


def _values(expr):
    return [convert(item) if not hasattr(item, "_node_") else item._node_() for item in expr]


def _reduction(fcombine, fidentity, expr, axis, where, init):
    is_single = not isinstance(expr, (list, tuple))
    source = _values([expr] if is_single else expr)
    axes = list(axis) if isinstance(axis, (list, tuple)) else [axis]
    left, right = fcombine.__code__.co_varnames[:2]
    dtypes = [value.dtype for value in source]
    if is_single:
        lhs, rhs = [Var(left, dtypes[0])], [Var(right, dtypes[0])]
        result, identity = [fcombine(lhs[0], rhs[0])], [fidentity(dtypes[0])]
    else:
        lhs = [Var(f"{left}_{i}", dtype) for i, dtype in enumerate(dtypes)]
        rhs = [Var(f"{right}_{i}", dtype) for i, dtype in enumerate(dtypes)]
        result, identity = fcombine(lhs, rhs), fidentity(*dtypes)
    combiner = CommReducer(lhs, rhs, _values(result), _values(identity))
    where = const(1, "bool") if where is None else where
    start = [] if init is None else _values([init] if is_single else init)
    results = tuple(Reduce(combiner, source, axes, where, i, start) for i in range(len(source)))
    return results[0] if is_single else results


def comm_reducer(fcombine, fidentity, name="reduce"):
    """A reduction of a commutative function.

    Args:
        fcombine: the function of two values, or of two lists of values.
        fidentity: a function of the dtype, or of the dtypes, that gives the value that changes nothing.
        name: its name.

    Returns: a function of (expr, axis, where=None, init=None), which reduces the expression, or a tuple of them, over
    axes; of more than one expression, it combines them.
    """

    @of_texts
    def reducer(expr, axis, where=None, init=None, *args):
        if isinstance(axis, (IterVar, list, tuple)):
            return _reduction(fcombine, fidentity, expr, axis, where, init)
        others = [arg for arg in (axis, where, init, *args) if arg is not None]
        return functools.reduce(fcombine, others, expr)

    reducer.__name__ = name
    return reducer


def _commutative(name, combine, identity):
    function = comm_reducer(combine, identity, name)
    function.__doc__ = f"The {name} of an expression over axes, or of several expressions: ({name})(expr, axis) or {name}(a, b)."
    return function


sum = _commutative("sum", lambda x, y: x + y, lambda dtype: const(0, dtype))  # pylint: disable=redefined-builtin
min = _commutative("min", lambda x, y: _binary("Min", x, y), max_value)  # pylint: disable=redefined-builtin
max = _commutative("max", lambda x, y: _binary("Max", x, y), min_value)  # pylint: disable=redefined-builtin

__all__ = ["comm_reducer", "max", "min", "sum"]

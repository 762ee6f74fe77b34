"""What functions on tensors need of numbers, shapes and scripts."""
import functools

from .. import tir
from .._core import native
from ..arith import Analyzer
from ..tir.expr import IntImm


def simplify(expr):
    """The simplified expression; a number stays one."""
    return expr if isinstance(expr, int) else Analyzer().simplify(expr)


def get_const_int(expr):
    """The number of a constant expression."""
    if isinstance(expr, int):
        return expr
    expr = expr if isinstance(expr, IntImm) else simplify(expr)
    if not isinstance(expr, IntImm):
        raise ValueError("Expect value to be constant int")
    return expr.value


def get_const_tuple(in_tuple):
    """The dimensions as numbers where they are constant."""
    return tuple(dim.value if isinstance(dim, IntImm) else dim for dim in in_tuple)


def prod(values):
    """The product of numbers and expressions; 1 of none."""
    return functools.reduce(lambda a, b: a * b, values, 1)


def pair(value, count=2):
    """The values of a list, or a number several times."""
    return tuple(value) if isinstance(value, (list, tuple)) else (value,) * count


def is_one(dim):
    """Returns whether a dimension is 1."""
    return isinstance(dim, int) and dim == 1 or isinstance(dim, IntImm) and dim.value == 1


def is_equal(a, b):
    """Returns whether two dimensions are known to be equal."""
    if isinstance(a, int) or isinstance(b, int):
        a, b = get_const_tuple((a, b))
        if isinstance(a, int) and isinstance(b, int):
            return a == b
    if isinstance(a, IntImm) and isinstance(b, IntImm):
        return a.value == b.value
    if not isinstance(a, int) and not isinstance(b, int) and native.node_id(a) == native.node_id(b):
        return True
    return Analyzer().can_prove_equal(a, b)


def real_axis(ndim, axis):
    """The number of an axis, which may be counted from the end."""
    axis = get_const_int(axis)
    if not -ndim <= axis < ndim:
        raise ValueError(f"the axis {axis} does not exist: there are {ndim}")
    return axis % ndim if ndim else 0


def real_axes(ndim, axes):
    """The numbers of axes in order, each once; all of them for None."""
    if axes is None:
        return list(range(ndim))
    return sorted({real_axis(ndim, axis) for axis in (axes if isinstance(axes, (list, tuple)) else [axes])})


def ravel_index(indices, shape):
    """The position of an element in a flat array."""
    flat = None
    for index, dim in zip(indices, shape):
        flat = index if flat is None else flat * dim + index
    return 0 if flat is None else flat


def unravel_index(index, shape):
    """The indices of an element by its position in a flat array."""
    indices = []
    for number, dim in enumerate(reversed(shape)):
        last = number == len(shape) - 1
        indices.append(tir.indexmod(index, dim))
        index = index if last else tir.indexdiv(index, dim)
    return list(reversed(indices))


def axis_names(ndim):
    """The names of the loops of functions that C++ defines in TVM."""
    return [f"ax{i}" for i in range(ndim)]

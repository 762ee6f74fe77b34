"""Arithmetic as functions."""
from .expr import convert
from .op import floordiv  # noqa: F401


def add(lhs, rhs, span=None):
    """lhs + rhs."""
    del span
    return convert(lhs) + rhs


def subtract(lhs, rhs, span=None):
    """lhs - rhs."""
    del span
    return convert(lhs) - rhs


def multiply(lhs, rhs, span=None):
    """lhs * rhs."""
    del span
    return convert(lhs) * rhs


def divide(lhs, rhs, span=None):
    """lhs / rhs; of integers as C divides them."""
    from . import div

    del span
    return div(lhs, rhs)


def cast(src, dtype, span=None):
    """The expression converted to a dtype."""
    del span
    return convert(src).astype(dtype)

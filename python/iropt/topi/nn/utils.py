"""Paddings of convolutions as numbers."""
from .convolution import padding_of


def get_pad_tuple_generic(padding, kernel):
    """The paddings before and after each axis, as two lists.

    padding: a number, "SAME", "VALID", one number for each axis, or one for each side.
    kernel: the sizes of the window.
    """
    before, after = padding_of(padding, list(kernel))
    return list(before), list(after)


def _joined(padding, kernel):
    before, after = get_pad_tuple_generic(padding, kernel)
    return (*before, *after)


def get_pad_tuple1d(padding, kernel):
    """The paddings (left, right) for a window of one size."""
    return _joined(padding, kernel)


def get_pad_tuple(padding, kernel):
    """The paddings (top, left, bottom, right) for a window of two sizes."""
    return _joined(padding, kernel)


def get_pad_tuple3d(padding, kernel):
    """The paddings (front, top, left, back, bottom, right) for a window of three sizes."""
    return _joined(padding, kernel)

"""Layouts such as "NCHW4c": axes are upper-case letters, and parts of them are sizes with lower-case letters."""
import re

from .. import tir


def axes_of(layout):
    """The axes of a layout as (letter, size), where the size of a whole axis is None."""
    return [(letter, int(size) if size else None) for size, letter in re.findall(r"(\d*)([A-Za-z])", layout)]


def convert(src_layout, dst_layout, shape):
    """The shape of a tensor in another layout, and a function from indices there to those of the tensor."""
    src, dst = axes_of(src_layout), axes_of(dst_layout)
    letters = {letter.upper() for letter, _ in src}
    if letters != {letter.upper() for letter, _ in dst} or len(src) != len(shape):
        raise ValueError(f"the layout {src_layout} of {len(shape)} axes cannot become {dst_layout}")
    src_parts, dst_parts = _parts(src), _parts(dst)
    whole = {}
    for letter in letters:
        extent = 1
        for (name, size), dim in zip(src, shape):
            if name == letter:
                extent = dim * extent
        for name, size in src:
            if name == letter.lower():
                extent = extent * size
        whole[letter] = extent
    new_shape = [size if size else tir.floordiv(whole[letter] + (dst_parts[letter] - 1), dst_parts[letter])
                 if dst_parts[letter] > 1 else whole[letter] for letter, size in dst]

    def position(indices):
        flat = {}
        for letter in letters:
            upper = [i for (name, _), i in zip(dst, indices) if name == letter]
            flat[letter] = upper[0]
            for (name, size), i in zip(dst, indices):
                if name == letter.lower():
                    flat[letter] = flat[letter] * size + i
        own = []
        for letter, size in src:
            index, inner = flat[letter.upper()], src_parts[letter.upper()]
            if size:
                own.append(tir.indexmod(index, size))
            else:
                own.append(tir.indexdiv(index, inner) if inner > 1 else index)
        return own

    return new_shape, position


def _parts(axes):
    sizes = {}
    for letter, size in axes:
        sizes[letter.upper()] = sizes.get(letter.upper(), 1) * (size or 1)
    if any(sum(1 for name, _ in axes if name == letter.lower()) > 1 for letter in sizes):
        raise ValueError("an axis is split at most once here")
    return sizes

"""Layouts of data: the order of named axes, some of them split, as in NCHW16c."""
import re

from ..ir.base import Array
from .buffer import IterVar, Range
from .expr import Var, const, convert


class Layout:
    """Axes by their letters: big ones for whole axes or their outer parts, small ones with a factor for inner parts."""

    def __init__(self, name, dtype="int32"):
        if dtype not in ("int32", "int64"):
            raise TypeError(f"the axes of a layout are of int32 or int64, not of {dtype}")
        self.name = name
        self.factors = {letter: int(factor) for factor, letter in re.findall(r"(\d+)([a-z])", name)}
        self.letters = [] if name in ("", "__undef__") else re.findall(r"[A-Za-z]", name)
        parts = "".join(f"{self.factors.get(letter, '')}{letter}" for letter in self.letters)
        if self.letters and (parts != name or len(set(self.letters)) < len(self.letters)):
            raise ValueError(f"'{name}' is not a layout: expected letters, small ones after a factor, each once")
        for letter in self.letters:
            if letter.islower() and (letter not in self.factors or letter.upper() not in self.letters):
                raise ValueError(f"the axis '{letter}' of the layout '{name}' needs a factor and the axis '{letter.upper()}'")
        self.axes = Array(
            IterVar(Range(const(0, dtype), const(self.factors[letter], dtype) if letter.islower() else Var(letter, dtype)),
                    Var(letter, dtype), IterVar.DataPar) for letter in self.letters)

    def __len__(self):
        return len(self.letters)

    def __contains__(self, axis):
        return axis in self.letters

    def __getitem__(self, index):
        return self.letters[index]

    def index_of(self, axis):
        """The place of an axis; -1 if there is none."""
        return self.letters.index(axis) if axis in self.letters else -1

    def factor_of(self, axis):
        """The factor by which an axis is split; -1 if it is not."""
        return self.factors.get(axis.lower(), -1)

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"Layout({self.name})"

    def whole(self, values):
        """The index of each whole axis for those of the axes."""
        named = dict(zip(self.letters, values, strict=True))
        return {letter: named[letter] * self.factor_of(letter) + named[letter.lower()] if self.factor_of(letter) > 0
                else named[letter] for letter in self.letters if letter.isupper()}

    def parts(self, whole):
        """The indices of the axes for those of whole axes."""
        def part(letter):
            value, factor = whole[letter.upper()], self.factor_of(letter)
            return value if factor < 0 else value // factor if letter.isupper() else value % factor

        return [part(letter) for letter in self.letters]


class BijectiveLayout:
    """Two layouts of the same axes."""

    def __init__(self, src_layout, dst_layout):
        self.src_layout, self.dst_layout = layout(src_layout), layout(dst_layout)

    def forward_index(self, index):
        """The indices in the second layout."""
        return _simple(self.dst_layout.parts(self.src_layout.whole([convert(item) for item in index])))

    def backward_index(self, index):
        """The indices in the first layout."""
        return _simple(self.src_layout.parts(self.dst_layout.whole([convert(item) for item in index])))

    def forward_shape(self, shape):
        """The shape in the second layout, where the last part of an axis may not be full."""
        return _shape(self.src_layout, self.dst_layout, shape)

    def backward_shape(self, shape):
        """The shape in the first layout."""
        return _shape(self.dst_layout, self.src_layout, shape)


def _simple(values):
    from ..arith import Analyzer

    simplify = Analyzer().simplify
    return Array(simplify(convert(value)) for value in values)


def _shape(source, target, shape):
    dims = dict(zip(source.letters, map(convert, shape), strict=True))
    whole = {letter: dims[letter] * max(source.factor_of(letter), 1) for letter in dims if letter.isupper()}

    def extent(letter):
        factor = target.factor_of(letter)
        if letter.islower():
            return factor
        return whole[letter] if factor < 0 else (whole[letter] + (factor - 1)) // factor

    return _simple(extent(letter) for letter in target.letters)


def layout(layout_str, dtype="int32"):
    """The layout of a name."""
    return layout_str if isinstance(layout_str, Layout) else Layout(layout_str, dtype)


def bijective_layout(src_layout, dst_layout):
    """The two layouts, or None if they do not have the same axes."""
    found = BijectiveLayout(src_layout, dst_layout)
    axes = [{letter for letter in side.letters if letter.isupper()} for side in (found.src_layout, found.dst_layout)]
    return found if axes[0] and axes[0] == axes[1] else None

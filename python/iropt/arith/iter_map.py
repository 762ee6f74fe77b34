"""Indices as maps of iterators: sums of digits of loops in some mixed radix."""
import enum

from .. import tir
from .._core import native
from .analyzer import Analyzer, plain


class IterMapLevel(enum.IntEnum):
    """What is asked of indices together."""

    Bijective = 0
    Surjective = 1
    NoCheck = 3

    @staticmethod
    def from_str(name):
        """The level of a name; None is NoCheck."""
        levels = {"bijective": IterMapLevel.Bijective, "surjective": IterMapLevel.Surjective, "nocheck": IterMapLevel.NoCheck}
        if name is None:
            return IterMapLevel.NoCheck
        if name.lower() not in levels:
            raise ValueError(f"Unknown check level {name.lower()}")
        return levels[name.lower()]


# The numbers of levels in the library.
_LEVELS = {IterMapLevel.NoCheck: 0, IterMapLevel.Surjective: 1, IterMapLevel.Bijective: 2}


class IterMapExpr:
    """A part of a map of iterators."""


class IterMark:
    """An iterator that takes the values from 0 to extent - 1: a variable, or a sum of digits."""

    _structure_ = ("source", "extent")

    def __init__(self, source, extent):
        self.source, self.extent = source, tir.convert(extent)


class IterSplitExpr(IterMapExpr):
    """A digit of an iterator: source // lower_factor % extent * scale."""

    _structure_ = ("source", "lower_factor", "extent", "scale")

    def __init__(self, source, lower_factor, extent, scale):
        self.source = source
        self.lower_factor, self.extent, self.scale = tir.convert(lower_factor), tir.convert(extent), tir.convert(scale)

    dtype = property(lambda self: self.extent.dtype)

    def _node_(self):
        source = self.source.source
        expr = source._node_() if isinstance(source, IterMapExpr) else source
        if int_of(self.lower_factor) != 1:
            expr = tir.floordiv(expr, self.lower_factor)
        if not native.structural_equal(self.extent, self.source.extent, False):
            expr = tir.floormod(expr, self.extent)
        return expr if int_of(self.scale) == 1 else expr * self.scale


class IterSumExpr(IterMapExpr):
    """A sum of digits and of a base."""

    _structure_ = ("args", "base")

    def __init__(self, args, base):
        self.args, self.base = list(args), tir.convert(base)
        self._marks = []  # the iterators in the base

    dtype = property(lambda self: self.base.dtype)

    def _node_(self):
        total = None
        for arg in self.args:
            total = arg._node_() if total is None else total + arg._node_()
        return self.base if total is None else total if int_of(self.base) == 0 else total + self.base


class IterMapResult:
    """The indices as sums, the predicate of padded values, and what was wrong if there are no indices."""

    def __init__(self, indices, errors, padding_predicate):
        self.indices, self.errors, self.padding_predicate = indices, errors, padding_predicate


def int_of(expr):
    """The number of a constant, or None."""
    return expr if isinstance(expr, int) else expr.value if isinstance(expr, tir.IntImm) else None


def _iters(input_iters, analyzer=None):
    ranges = [(plain(var), dom if isinstance(dom, tir.Range) else tir.Range(0, dom)) for var, dom in dict(input_iters).items()]
    if analyzer is None:
        return ranges
    return [(var, tir.Range.from_min_extent(analyzer.with_values(dom.min), analyzer.with_values(dom.extent))) for var, dom in ranges]


def _exprs(values, analyzer):
    return [plain(value) if analyzer is None else analyzer.with_values(value) for value in values]


def _condition(predicate, analyzer=None):
    predicate = plain(predicate) if analyzer is None else analyzer.with_values(predicate)
    return None if int_of(predicate) == 1 else predicate


def _sum(index, iters):
    """The index as a sum of digits."""
    digits, base = native.normalize_index(index, iters)
    extents = {native.node_id(var): dom.extent for var, dom in iters}
    args = []
    for var, lower_factor, extent, scale in digits:
        if var is None:
            raise NotImplementedError("an iterator that is a sum of others is not a part of iropt in Python")
        args.append(IterSplitExpr(IterMark(var, extents[native.node_id(var)]), lower_factor, extent, scale))
    return IterSumExpr(args, base)


def _fused(index, iters, extent, scale, base):
    """An index of a map as a digit of one iterator."""
    simplify = Analyzer().simplify
    zero = tir.const(0, extent.dtype)
    try:
        total = _sum(index, iters)
    except NotImplementedError:
        total = IterSumExpr([], index)
    if len(total.args) == 1 and native.structural_equal(simplify(total.args[0].extent), simplify(extent), False):
        return total
    if not total.args:
        if int_of(extent) == 1:
            return total
        # An iterator that is padded, or a sum of others, is known by its expression only.
        source = IterSumExpr([], simplify(tir.floordiv(index - base, scale)))
        used = {native.node_id(var) for var in native.free_vars(source.base)}
        source._marks = [IterMark(var, dom.extent) for var, dom in iters if native.node_id(var) in used]
    else:
        source = IterSumExpr([IterSplitExpr(arg.source, arg.lower_factor, arg.extent, simplify(tir.floordiv(arg.scale, scale)))
                              for arg in total.args], zero)
    return IterSumExpr([IterSplitExpr(IterMark(source, extent), tir.const(1, extent.dtype), extent, scale)], base)


def detect_iter_map(indices, input_iters, predicate=True, check_level=IterMapLevel.Surjective,
                    simplify_trivial_iterators=True, analyzer=None):
    """Indices as maps of iterators that are independent of each other.

    Args:
        indices: the expressions.
        input_iters: the range of each variable.
        predicate: the condition under which they are such maps.
        check_level: an IterMapLevel, or its name.
        simplify_trivial_iterators: replace iterators that run once by their value.
        analyzer: an Analyzer, whose values of variables are used.

    Returns: an IterMapResult, without indices if they are not such maps.
    """
    level = IterMapLevel.from_str(check_level) if isinstance(check_level, str) or check_level is None else check_level
    iters = _iters(input_iters, analyzer)
    found = native.detect_iter_map(_exprs(indices, analyzer), iters, _condition(predicate, analyzer), _LEVELS[level],
                                   simplify_trivial_iterators)
    if found is None:
        return IterMapResult([], ["the indices are not maps of the iterators"], tir.const(0, "bool"))
    sums = [_fused(expr, iters, *shape) for expr, *shape in found[0]]
    return IterMapResult(sums, [], tir.const(0, "bool") if found[1] is None else found[1])


def normalize_to_iter_sum(index, input_iters, analyzer=None):
    """An index as a sum of digits of iterators; what is not one is in its base.

    Args:
        index: the expression.
        input_iters: the range of each variable.
        analyzer: an Analyzer, whose values of variables are used.

    Returns: an IterSumExpr, whose digits are in the order of decreasing scales.
    """
    return _sum(_exprs([index], analyzer)[0], _iters(input_iters, analyzer))


def iter_map_simplify(indices, input_iters, predicate=True, check_level=IterMapLevel.Surjective,
                      simplify_trivial_iterators=True, analyzer=None):
    """The normal forms of indices as maps of iterators; the indices themselves where they are not.

    Args and result: as of detect_iter_map, with a list of expressions.
    """
    del check_level
    return native.simplify_iter_maps(_exprs(indices, analyzer), _iters(input_iters, analyzer), _condition(predicate, analyzer),
                                     simplify_trivial_iterators)


def normalize_iter_map_to_expr(expr):
    """The scalar expression of a part of a map of iterators."""
    return expr._node_() if isinstance(expr, IterMapExpr) else expr


def subspace_divide(bindings, input_iters, sub_iters, predicate=True, check_level=IterMapLevel.Surjective,
                    simplify_trivial_iterators=True, analyzer=None):
    """Indices as an outer and an inner part each: of the iterators that are not in sub_iters, and of those that are.

    Args:
        bindings: the expressions.
        input_iters: the range of each variable.
        sub_iters: the variables of the inner part.
        predicate, check_level, simplify_trivial_iterators, analyzer: as of detect_iter_map.

    Returns: a list of [outer mark, inner mark] for each index; the last ones have the two conditions as their extents. It is
        empty if the indices cannot be divided.
    """
    del check_level
    found = native.divide_subspace(_exprs(bindings, analyzer), _iters(input_iters, analyzer), [plain(var) for var in sub_iters],
                                   _condition(predicate, analyzer), simplify_trivial_iterators)
    if found is None:
        return []
    parts = [[IterMark(outer, outer_extent), IterMark(inner, inner_extent)] for outer, outer_extent, inner, inner_extent in found[0]]
    conditions = [tir.const(1, "bool") if item is None else item for item in found[1:]]
    return [*parts, [IterMark(IterSumExpr([], tir.const(0, "int32")), condition) for condition in conditions]]


def inverse_affine_iter_map(iter_map, outputs):
    """The value of each iterator of a map for values of its indices.

    Args:
        iter_map: the sums of detect_iter_map.
        outputs: the values of the indices.

    Returns: a dictionary of expressions by variable.
    """
    def marks_of(total):
        """The iterators that are variables."""
        yield from total._marks
        for arg in total.args:
            source = arg.source.source
            yield from marks_of(source) if isinstance(source, IterSumExpr) else [arg.source]

    marks = {native.node_id(mark.source): mark for item in iter_map for mark in marks_of(item)}
    iters = [(mark.source, tir.Range(0, mark.extent)) for mark in marks.values()]
    found = native.inverse_iter_map([item._node_() for item in iter_map], iters, [plain(output) for output in outputs])
    if found is None:
        raise ValueError("the map cannot be inverted")
    return dict(found)

"""Sets of integers between two ends, which are expressions."""
from .. import tir
from .._core import native
from .analyzer import Analyzer, plain


class _Infinity:
    """An end that does not exist."""

    def __init__(self, name):
        self._name = self.name = name

    def same_as(self, other):
        """Returns whether both are the same end."""
        return self is other

    def __repr__(self):
        return self._name


_POS, _NEG = _Infinity("pos_inf"), _Infinity("neg_inf")


def pos_inf():
    """The upper end of a set without one."""
    return _POS


def neg_inf():
    """The lower end of a set without one."""
    return _NEG


def _end(value):
    """The end as the library has it: None if it does not exist."""
    return None if value is None or isinstance(value, _Infinity) else plain(value)


class IntSet:
    """A set of integers."""

    @staticmethod
    def vector(vec):
        """The values of all lanes of a vector."""
        if not isinstance(vec, tir.Ramp):
            return IntSet.single_point(vec.value if isinstance(vec, tir.Broadcast) else vec)
        if not isinstance(vec.lanes, (int, tir.IntImm)):
            return IntervalSet(vec.base, None) if Analyzer().can_prove(vec.stride >= 0) else IntervalSet(None, None)
        last = vec.base + vec.stride * (int(vec.lanes) - 1)
        is_ascending = Analyzer().can_prove(vec.stride >= 0)
        return IntervalSet(vec.base, last) if is_ascending else IntervalSet(last, vec.base)

    @staticmethod
    def single_point(point):
        """The set of one value."""
        return IntervalSet(point, point)

    @staticmethod
    def nothing():
        """The set of no values."""
        return IntervalSet(_POS, _NEG)

    def is_nothing(self):
        """Returns whether the set has no values."""
        return self._is_empty

    def is_everything(self):
        """Returns whether the set has all values."""
        return not self._is_empty and self.min_value is _NEG and self.max_value is _POS


class IntervalSet(IntSet):
    """All integers from min_value to max_value, both included."""

    def __init__(self, min_value, max_value, _is_empty=False):
        self._is_empty = _is_empty or min_value is _POS or max_value is _NEG
        none = (_POS, _NEG) if self._is_empty else (_NEG, _POS)
        self.min_value = none[0] if self._is_empty or _end(min_value) is None else _end(min_value)
        self.max_value = none[1] if self._is_empty or _end(max_value) is None else _end(max_value)

    def __repr__(self):
        return f"IntervalSet[{self.min_value}, {self.max_value}]"


def _region(region, var_dom, predicate, strict, analyzer):
    value = plain if analyzer is None else analyzer.with_values
    parts = [(item.min, item.extent) if isinstance(item, tir.Range) else item for item in region]
    domains = [(plain(var), tir.Range.from_min_extent(value(dom.min), value(dom.extent))) for var, dom in dict(var_dom).items()]
    found = native.estimate_region([tuple(map(value, part)) for part in parts], domains, value(predicate), strict)
    return None if found is None else [IntervalSet(low, high) for low, high in found]


def estimate_region_lower_bound(region, var_dom, predicate, analyzer=None):
    """The part of a region that is surely accessed; None if it is not known."""
    return _region(region, var_dom, predicate, True, analyzer)


def estimate_region_strict_bound(region, var_dom, predicate, analyzer=None):
    """The part of a region that is accessed, and no more; None if it is not known."""
    return _region(region, var_dom, predicate, True, analyzer)


def estimate_region_upper_bound(region, var_dom, predicate, analyzer=None):
    """A part of a region that has everything that is accessed."""
    return _region(region, var_dom, predicate, False, analyzer)


def union_lower_bound(sets):
    """The least interval of sets that overlap or touch each other: one that has no other values."""
    low = high = None
    analyzer = Analyzer()

    def reaches(end, begin):
        """Returns whether no integer is between the end of an interval and the begin of another."""
        return _end(end) is None or _end(begin) is None or analyzer.can_prove(_end(begin) <= _end(end) + 1)

    for item in sets:
        if item.is_nothing():
            continue
        if low is None:
            low, high = item.min_value, item.max_value
        elif reaches(high, item.min_value) and reaches(item.max_value, low):
            low = _pick(tir.min, low, item.min_value)
            high = _pick(tir.max, high, item.max_value)
    return IntSet.nothing() if low is None else IntervalSet(low, high)


def _pick(function, a, b):
    """The lower or upper one of two ends, which may be infinite on that side."""
    if _end(a) is None or _end(b) is None:
        return a if _end(a) is None else b
    return Analyzer().simplify(function(a, b))

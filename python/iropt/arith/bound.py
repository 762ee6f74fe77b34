"""What conditions say about variables, and what statements access."""
from .. import tir
from .._core import Array, native
from .analyzer import Analyzer, plain
from .int_set import IntervalSet, _end, _pick

_COMPARISONS = {"LT", "LE", "GT", "GE", "EQ", "NE"}


def _domains(sets):
    return [(plain(var), _end(domain.min_value), _end(domain.max_value)) for var, domain in dict(sets or {}).items()]


def deduce_bound(var, cond, hint_map, relax_map):
    """The values of a variable for which a comparison holds, whatever values other variables have in their sets.

    Args:
        var: the variable, which occurs once.
        cond: the comparison.
        hint_map: IntervalSets of variables, which tell the signs of factors.
        relax_map: IntervalSets of the variables that the result does not depend on.

    Returns: an IntervalSet, empty if none is known.
    """
    found = Analyzer()._analyzer.deduce_bound(plain(var), plain(cond), _domains(hint_map), _domains(relax_map))
    return IntervalSet(*found)


def detect_linear_equation(expr, var_list):
    """The coefficients of variables in a sum, and its rest; empty if the expression is not linear in them."""
    return Array(Analyzer()._analyzer.linear_equation(plain(expr), [plain(var) for var in var_list]) or ())


def detect_clip_bound(expr, var_list):
    """The least and the greatest value of each variable, each None if it has none, for a conjunction of comparisons.

    Empty if one of them is not a bound of one of the variables.
    """
    analyzer, variables = Analyzer(), [plain(var) for var in var_list]
    bounds = {native.node_id(var): [None, None] for var in variables}
    for part in _parts(analyzer.simplify(expr)):
        used = [var for var in native.free_vars(part) if native.node_id(var) in bounds]
        found = _clip(part, used[0]) if len({native.node_id(var) for var in used}) == 1 else None
        if found is None:
            return Array()
        known = bounds[native.node_id(used[0])]
        for end, value in enumerate(found):
            if value is not None:
                pick = tir.min if end else tir.max
                known[end] = value if known[end] is None else pick(known[end], value)
    return Array(None if end is None else analyzer.simplify(end) for var in variables for end in bounds[native.node_id(var)])


def _parts(condition):
    """The conditions of a conjunction."""
    return [*_parts(condition.a), *_parts(condition.b)] if isinstance(condition, tir.And) else [condition]


def _clip(condition, var):
    """The least and the greatest value of a variable for a comparison, or None."""
    kind = type(condition).__name__
    if kind not in _COMPARISONS - {"NE"} or not condition.a.dtype.startswith("int"):
        return None
    a, b = (condition.b, condition.a) if kind in ("LT", "LE") else (condition.a, condition.b)
    # The difference is not negative, or zero.
    found = detect_linear_equation(a - b - (kind in ("LT", "GT")), [var])
    factor = int(found[0]) if len(found) and isinstance(found[0], tir.IntImm) else 0
    if factor not in (1, -1):
        return None
    value = found[1] * -factor
    return (value, value) if kind == "EQ" else (value, None) if factor == 1 else (None, value)


def detect_common_subexpr(expr, threshold):
    """The subexpressions that occur at least `threshold` times, with how often they do."""
    counts, parts = {}, []

    def count(node):
        # Nodes that occur several times count each time.
        for child in native.children(node):
            if isinstance(child, tir.PrimExpr):
                count(child)
        if isinstance(node, (tir.Var, tir.IntImm, tir.FloatImm, tir.StringImm)):
            return
        same = next((part for part in parts if native.structural_equal(part, node, False)), None)
        if same is None:
            parts.append(node)
            same = node
        counts[native.node_id(same)] = counts.get(native.node_id(same), 0) + 1

    count(plain(expr))
    return {part: counts[native.node_id(part)] for part in parts if counts[native.node_id(part)] >= threshold}


def narrow_predicate_expression(expr, free_parameters):
    """A condition without some variables that implies the condition for all of their values in ranges."""
    return _Narrower(free_parameters).condition(plain(expr), True)


class _Narrower:
    """Replaces variables by ends of their ranges."""

    def __init__(self, ranges):
        self._ranges = {native.node_id(plain(var)): dom for var, dom in dict(ranges).items()}

    def _is_fixed(self, expr):
        """Returns whether the value of an expression does not depend on the variables, or on memory."""
        return not any(native.node_id(node) in self._ranges or isinstance(node, (tir.BufferLoad, tir.ProducerLoad))
                       for node in native.post_order(expr))

    def condition(self, expr, implies):
        """A condition that implies another one; without `implies`, one that is implied by it."""
        kind = type(expr).__name__
        if kind in ("And", "Or"):
            return type(expr)(self.condition(expr.a, implies), self.condition(expr.b, implies))
        if kind == "Not":
            part = self.condition(expr.a, not implies)
            return tir.const(not part.value, "bool") if isinstance(part, tir.IntImm) else tir.Not(part)
        if kind == "EQ":
            parts = [self.condition(tir.LE(*pair), implies) for pair in ((expr.a, expr.b), (expr.b, expr.a))]
            return parts[0] if isinstance(parts[0], tir.IntImm) and not parts[0].value else tir.all(*parts)
        if kind == "NE":
            parts = [self.condition(tir.LT(*pair), implies) for pair in ((expr.a, expr.b), (expr.b, expr.a))]
            return parts[0] if isinstance(parts[0], tir.IntImm) and parts[0].value else tir.any(*parts)
        if kind in _COMPARISONS:
            is_less = kind in ("LT", "LE")
            a, b = self.value(expr.a, is_less == implies), self.value(expr.b, is_less != implies)
            if a is not None and b is not None:
                return type(expr)(a, b)
        elif self._is_fixed(expr):
            return expr
        return tir.const(not implies, "bool")

    def value(self, expr, is_greatest):
        """The greatest value of an expression, or the least; None if it is not known."""
        if self._is_fixed(expr):
            return expr
        dom = self._ranges.get(native.node_id(expr))
        if dom is not None:
            return dom.min + dom.extent - 1 if is_greatest else dom.min
        kind = type(expr).__name__
        if kind in ("Mul", "FloorDiv"):
            a, b = (expr.b, expr.a) if kind == "Mul" and isinstance(expr.a, tir.IntImm) else (expr.a, expr.b)
            factor = b.value if isinstance(b, tir.IntImm) else 0
            part = self.value(a, is_greatest == (factor > 0)) if factor else None
            return None if part is None else type(expr)(part, b)
        if kind not in ("Add", "Sub", "Min", "Max"):
            return None
        a, b = self.value(expr.a, is_greatest), self.value(expr.b, is_greatest != (kind == "Sub"))
        return None if a is None or b is None else type(expr)(a, b)


def domain_touched(stmt, buffer, consider_loads=True, consider_stores=True):
    """The ranges of indices with which a statement accesses a buffer; empty if it does not."""
    analyzer, found = Analyzer(), []

    def visit(node, loops):
        kind = type(node).__name__
        if kind == "For":
            loops = {**loops, node.loop_var: IntervalSet(node.min, node.min + node.extent - 1)}
        is_access = (kind == "BufferLoad" and consider_loads) or (kind == "BufferStore" and consider_stores)
        if is_access and node.buffer.same_as(buffer):
            found.append([analyzer.int_set(_all_lanes(index), {**loops, **_lane_domain(index)}) for index in node.indices])
        for child in native.children(node):
            visit(child, loops)

    visit(stmt, {})
    ranges = []
    for sets in zip(*found):
        low, high = sets[0].min_value, sets[0].max_value
        for item in sets[1:]:
            low, high = _pick(tir.min, low, item.min_value), _pick(tir.max, high, item.max_value)
        if _end(low) is None or _end(high) is None:
            raise ValueError("the statement accesses the buffer with indices that have no bounds")
        ranges.append(tir.Range.from_min_extent(low, analyzer.simplify(high - low + 1)))
    return Array(ranges)


_LANE = tir.Var("lane", "int32")


def _all_lanes(index):
    """An index as a scalar: of a vector base + stride * lane."""
    if isinstance(index, tir.Ramp):
        return index.base + index.stride * _LANE
    return index.value if isinstance(index, tir.Broadcast) else index


def _lane_domain(index):
    return {_LANE: IntervalSet(0, tir.convert(index.lanes) - 1)} if isinstance(index, tir.Ramp) else {}

"""The pass that looks for accesses to buffers out of their bounds."""
from .._core import native
from . import expr, stmt
from .buffer import Range

_FAR = 2**31 - 1


class _Accesses:
    """Finds accesses whose indices have bounds that are not within the buffer."""

    def __init__(self):
        from ..arith import Analyzer

        self._analyzer, self.found = Analyzer(), []

    def visit(self, node):
        """Looks at what is below a node, with what is known there."""
        kind = type(node).__name__
        if kind == "For":
            self._analyzer.bind(node.loop_var, Range.from_min_extent(node.min, node.extent))
        elif kind == "Block":
            for axis in node.iter_vars:
                self._analyzer.bind(axis.var, axis.dom)
        elif kind in ("BufferLoad", "BufferStore"):
            self._check(node)
        if kind in ("IfThenElse", "Select", "BlockRealize"):
            self._conditional(node, kind)
            return
        is_choice = kind == "Call" and getattr(node.op, "name", "") == "tir.if_then_else"
        if is_choice:
            self._branches(*node.args)
            return
        for child in native.children(node):
            self.visit(child)

    def _conditional(self, node, kind):
        if kind == "BlockRealize":
            self._branches(node.predicate, node.block)
        elif kind == "Select":
            # Both values are computed.
            for child in (node.condition, node.true_value, node.false_value):
                self.visit(child)
        else:
            self._branches(node.condition, node.then_case, node.else_case)

    def _branches(self, condition, then_case, else_case=None):
        self.visit(condition)
        with self._analyzer.constraint_scope(condition):
            self.visit(then_case)
        if else_case is not None:
            with self._analyzer.constraint_scope(expr.Not(condition)):
                self.visit(else_case)

    def _check(self, node):
        for index, extent in zip(node.indices, node.buffer.shape):
            if isinstance(index, (expr.Ramp, expr.Broadcast)):
                continue
            bound, limit = self._analyzer.const_int_bound(index), self._analyzer.const_int_bound(extent)
            # Values without bounds may be anything, but need not.
            is_above = bound.max_value < _FAR and bound.max_value >= limit.max_value
            if is_above or -_FAR < bound.min_value < 0:
                what = "writes" if isinstance(node, stmt.BufferStore) else "reads"
                self.found.append(f"{what} buffer {node.buffer.name} at index {index} of an axis with extent {extent}")


def OOBChecker():
    """The pass that raises ScheduleError if bounds of an index are out of those of its buffer. Indices without bounds are left out."""
    from ..ir.transform import module_pass
    from .function import PrimFunc
    from .schedule import ScheduleError

    def check(mod, _context):
        for name, func in mod.items():
            if isinstance(func, PrimFunc):
                accesses = _Accesses()
                accesses.visit(func.body)
                if accesses.found:
                    raise ScheduleError("\n".join(f"function {name.name_hint} {text}" for text in accesses.found))
        return mod

    return module_pass(check, opt_level=0, name="tir.analysis.OOBChecker")

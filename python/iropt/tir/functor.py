"""Visitors and mutators of the loop level, with a method for each kind of node.

    @tir.functor.mutator
    class Double(tir.functor.PyStmtExprMutator):
        def visit_int_imm_(self, op):
            return tir.IntImm(op.dtype, op.value * 2)
"""
import re

from .._core import Node
from . import stmt_functor
from .expr import PrimExpr, Stmt


def _method_name(cls):
    name = cls.__name__
    if name.isupper():  # EQ, NE, ...
        return f"visit_{name.lower()}_"
    return "visit_" + re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() + "_"


_names = {}


def _method_of(value):
    cls = type(value)
    name = _names.get(cls)
    if name is None:
        name = _names[cls] = _method_name(cls)
    return name


class PyStmtExprVisitor:
    """Calls `visit_<kind>_` on each statement and expression; what is not overridden visits what is below."""

    def visit_stmt(self, stmt):
        """Visits a statement."""
        getattr(self, _method_of(stmt))(stmt)

    def visit_expr(self, expr):
        """Visits an expression."""
        getattr(self, _method_of(expr))(expr)

    def visit_children(self, value):
        """Visits what is below a node."""
        stmt_functor.map_children(value, self._part)

    def _part(self, value):
        if isinstance(value, (list, tuple)):
            for item in value:
                self._part(item)
        elif isinstance(value, Stmt):
            self.visit_stmt(value)
        elif isinstance(value, PrimExpr):
            self.visit_expr(value)
        elif isinstance(value, Node) and type(value).__name__ not in ("Buffer", "Op", "GlobalVar"):
            self.visit_children(value)
        return value


class PyStmtExprMutator:
    """Calls `visit_<kind>_` on each statement and expression for what replaces it; what is not overridden is rebuilt where
    something below changed."""

    def visit_stmt(self, stmt):
        """The statement that replaces one."""
        return getattr(self, _method_of(stmt))(stmt)

    def visit_expr(self, expr):
        """The expression that replaces one."""
        return getattr(self, _method_of(expr))(expr)

    def visit_children(self, value):
        """The node with what is below replaced; the same node if nothing changed."""
        return stmt_functor.map_children(value, self._part)

    def _part(self, value):
        if isinstance(value, (list, tuple)):
            new = [self._part(item) for item in value]
            return value if all(a is b for a, b in zip(value, new)) else new
        if isinstance(value, Stmt):
            return self.visit_stmt(value)
        if isinstance(value, PrimExpr):
            return self.visit_expr(value)
        if isinstance(value, Node) and type(value).__name__ not in ("Buffer", "Op", "GlobalVar"):
            return self.visit_children(value)
        return value


def visitor(cls):
    """The decorator of visitors; it changes nothing here."""
    return cls


def mutator(cls):
    """The decorator of mutators; it changes nothing here."""
    return cls


def _add_defaults(base):
    from .._core import CLASSES

    for node_class in CLASSES.values():
        if isinstance(node_class, type) and issubclass(node_class, (Stmt, PrimExpr)):
            def method(self, op):
                return self.visit_children(op)

            method.__doc__ = f"Visits what is below a {node_class.__name__}."
            setattr(base, _method_name(node_class), method)


_add_defaults(PyStmtExprVisitor)
_add_defaults(PyStmtExprMutator)

"""Walks over the loop level."""
from .. import _core
from .._core import Node, native


def post_order_visit(stmt, fvisit):
    """Calls a function on every node below, children first."""
    native.post_order_visit(stmt, fvisit)


def pre_order_visit(stmt, fvisit):
    """Calls a function on every node below, parents first; children of those for which it is false are left out."""
    stack = [stmt]
    while stack:
        current = stack.pop()
        if fvisit(current):
            stack.extend(reversed(_core.native.children(current)))


def ir_transform(stmt, preorder, postorder, only_enable=None):
    """Rewrites statements: preorder gives a result or None to go on, postorder changes what was rebuilt."""
    names = None if only_enable is None else {name.rsplit(".", 1)[-1] for name in only_enable}

    def wanted(value):
        return names is None or type(value).__name__ in names

    def rewrite(value):
        if isinstance(value, (list, tuple)):
            new = [rewrite(item) for item in value]
            return value if all(a is b for a, b in zip(value, new)) else new
        if not isinstance(value, Node):
            return value
        if preorder is not None and wanted(value):
            result = preorder(value)
            if result is not None:
                return result
        value = map_children(value, rewrite)
        if postorder is not None and wanted(value):
            result = postorder(value)
            if result is not None:
                return result
        return value

    return rewrite(stmt)


def map_children(value, function):
    """The node with a function applied to the nodes in its fields; the same node if none changes."""
    changes = {}
    for name in type(value)._fields_:
        field = getattr(value, name)
        if isinstance(field, (Node, list, tuple)) and name not in ("type", "attrs", "annotations"):
            new = function(field)
            if new is not field:
                changes[name] = new
    return native.copy_with(value, changes) if changes else value


def substitute(node, vmap):
    """The node with other expressions for variables."""
    values = {native.node_id(var): value for var, value in dict(vmap).items()}
    # What is one node, such as a buffer, stays one.
    known = {}

    def rewrite(value):
        if isinstance(value, (list, tuple)):
            new = [rewrite(item) for item in value]
            return value if all(a is b for a, b in zip(value, new)) else new
        if not isinstance(value, Node):
            return value
        place = native.node_id(value)
        if place in values:
            return values[place]
        if place not in known:
            known[place] = value, map_children(value, rewrite)
        return known[place][1]

    return rewrite(node)


def renew_defs(func):
    """A copy of a PrimFunc with variables and buffers of its own."""
    return native.copy_function(func)

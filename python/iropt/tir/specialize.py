"""PrimFuncs for given values of their parameters."""
import operator

from .._core import Node, native
from .buffer import Buffer
from .expr import PrimExpr, Var, convert

_FOLDED = {"Add": operator.add, "Sub": operator.sub, "Mul": operator.mul, "FloorDiv": operator.floordiv, "FloorMod": operator.mod}


class _Specializer:
    """Replaces variables, also in the shapes of buffers, which stay one buffer each."""

    def __init__(self, func, values):
        self.values = values  # by the numbers of variables
        self.pointers = {}  # those of which a statement binds the values, which are other expressions
        self._known = {}
        for var in func.params:
            value = values.get(native.node_id(var))
            if var.dtype == "handle" and value is not None and not isinstance(value, Var):
                self.pointers[native.node_id(var)] = (var, values.pop(native.node_id(var)))

    def rewrite(self, value):
        """The value with what stands for its variables."""
        if isinstance(value, (list, tuple)):
            new = [self.rewrite(item) for item in value]
            return value if all(a is b for a, b in zip(value, new)) else new
        if not isinstance(value, Node):
            return value
        number = native.node_id(value)
        if number in self.values:
            return self.values[number]
        if isinstance(value, Buffer):
            if number not in self._known:
                self._known[number] = self._children(value)
            return self._known[number]
        kind = type(value).__name__
        new = self._children(value)
        if new is not value and kind in _FOLDED:
            return _FOLDED[kind](new.a, new.b)
        if kind == "DeclBuffer" and native.node_id(value.buffer.data) in self.pointers:
            from .stmt import LetStmt

            var, bound = self.pointers.pop(native.node_id(value.buffer.data))
            return LetStmt(var, self.rewrite(bound), new)
        return new

    def _children(self, value):
        from .stmt_functor import map_children

        return map_children(value, self.rewrite)


def _match(own, given, values):
    """Notes that a part of a buffer is to have a value."""
    given = convert(given)
    if native.structural_equal(own, given, False):
        return
    if not isinstance(own, Var):
        raise TypeError(f"the parameter's buffer has {own} where {given} is given: expected a variable of its own")
    known = values.setdefault(native.node_id(own), given)
    if known is not given and not native.structural_equal(known, given, False):
        raise ValueError(f"{own.name} is to be {known} and {given}")


def _match_buffer(own, given, values):
    if own.dtype != given.dtype or len(own.shape) != len(given.shape) or len(own.strides) != len(given.strides):
        raise ValueError(f"a buffer of {len(given.shape)} dimensions of {given.dtype} with {len(given.strides)} strides is given for "
                         f"{own.name}, of {len(own.shape)} of {own.dtype} with {len(own.strides)}")
    for mine, other in zip([own.data, *own.shape, *own.strides, own.elem_offset],
                           [given.data, *given.shape, *given.strides, given.elem_offset]):
        _match(mine, other, values)


def specialize(func, param_map):
    """The function for some values of its parameters: numbers and expressions, whose parameters it no longer has, and
    buffers, whose shapes, strides and offsets it then has. Values that are constant are computed."""
    if not param_map:
        return func
    params = {native.node_id(param): param for param in func.params}
    values = {}
    for param, value in param_map.items():
        number = native.node_id(param)
        if number not in params:
            raise ValueError(f"{param} is not a parameter of the function")
        if isinstance(value, Buffer):
            if param not in func.buffer_map:
                raise ValueError(f"the parameter {param} has no buffer")
            _match_buffer(func.buffer_map[param], value, values)
            continue
        if param in func.buffer_map:
            raise ValueError(f"the parameter {param} has a buffer: expected a buffer for it")
        value = value if isinstance(value, PrimExpr) else convert(value)
        if value.dtype != param.dtype:
            raise ValueError(f"the parameter {param.name} is of dtype {param.dtype}, not {value.dtype}")
        values[number] = value
    given = set(values)
    specializer = _Specializer(func, values)
    kept = [(param, buffer) for param, buffer in zip(func.params, func.param_buffers) if native.node_id(param) not in given]
    return native.copy_with(func, {"params": [param for param, _ in kept],
                                   "param_buffers": [specializer.rewrite(buffer) for _, buffer in kept],
                                   "body": specializer.rewrite(func.body)})

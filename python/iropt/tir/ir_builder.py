"""Building of statements piece by piece."""
from .._core import Node
from ..ir import base as ir
from .buffer import Buffer, IterVar, decl_buffer
from .expr import BufferLoad, Call, PrimExpr, Ramp, StringImm, Var, const, convert
from .stmt import Allocate, AttrStmt, BufferStore, Evaluate, For, ForKind, IfThenElse, LetStmt, SeqStmt, While

_KINDS = {"serial": ForKind.SERIAL, "parallel": ForKind.PARALLEL, "vectorize": ForKind.VECTORIZED,
          "vectorized": ForKind.VECTORIZED, "unroll": ForKind.UNROLLED, "unrolled": ForKind.UNROLLED}


class _Scope:
    def __init__(self, value, leave):
        self._value, self._leave = value, leave

    def __enter__(self):
        return self._value

    def __exit__(self, kind, value, trace):
        self._leave()


class BufferVar:
    """A buffer whose elements are read and written with brackets."""

    def __init__(self, builder, buffer, content_type):
        self._builder, self._buffer, self._content_type = builder, buffer, content_type

    dtype = property(lambda self: self._content_type)

    def _node_(self):
        return self._buffer.data

    def asobject(self):
        return self._buffer

    def _indices(self, index):
        indices = list(index) if isinstance(index, (tuple, list)) else [index]
        shape = self._buffer.shape
        if len(indices) == 1 and len(shape) > 1:
            flat, indices = convert(indices[0]), []
            for extent in reversed(shape):
                indices.insert(0, flat % extent)
                flat = flat // extent
        return [convert(item) for item in indices]

    def __getitem__(self, index):
        return BufferLoad(self._buffer, self._indices(index))

    # Each index gives an element, so Python would never reach an end.
    __iter__ = None

    def __setitem__(self, index, value):
        value = convert(value)
        if value.dtype.split("x")[0] != self._content_type.split("x")[0] and isinstance(value, PrimExpr):
            value = value.astype(self._content_type)
        self._builder.emit(BufferStore(self._buffer, value, self._indices(index)))


class IRBuilder:
    """Builds a statement: scopes are context managers, and what is emitted in them is their body."""

    def __init__(self):
        self._parts = [[]]

    def _pop(self):
        result = None
        for part in reversed(self._parts.pop()):
            if callable(part) and not isinstance(part, Node):
                result = part(Evaluate(const(0, "int32")) if result is None else result)
            else:
                result = part if result is None else _join(part, result)
        return Evaluate(const(0, "int32")) if result is None else result

    def emit(self, stmt):
        """Adds a statement, an expression, or a function that makes a statement around what follows."""
        if isinstance(stmt, PrimExpr):
            stmt = Evaluate(stmt)
        self._parts[-1].append(stmt)

    def scope_attr(self, node, attr_key, value):
        """Puts what follows in the scope under an attribute."""
        if isinstance(node, str):
            node = StringImm(node)
        if isinstance(node, BufferVar):
            node = node._node_()
        if isinstance(value, (int, str)):
            value = convert(value)
        self.emit(lambda body: AttrStmt(node, attr_key, value, body))

    def for_range(self, begin, end, name="i", dtype=None, kind="serial"):
        """The scope of a loop, which gives the variable."""
        if dtype is None:
            dtype = next((item.dtype for item in (end, begin) if isinstance(item, PrimExpr)), "int32")
        name = name if len(self._parts) < 2 else f"{name}"
        var = Var(name, dtype)
        extent = end if isinstance(begin, int) and begin == 0 else convert(end) - begin
        self._parts.append([])

        def leave():
            self.emit(For(var, _typed(begin, dtype), _typed(extent, dtype), _KINDS[kind], self._pop()))

        return _Scope(var, leave)

    def while_loop(self, condition):
        self._parts.append([])
        return _Scope(None, lambda: self.emit(While(convert(condition), self._pop())))

    def if_scope(self, cond):
        """The scope of the first branch of a conditional."""
        self._parts.append([])
        return _Scope(None, lambda: self.emit(IfThenElse(_condition(cond), self._pop(), None)))

    def else_scope(self):
        """The scope of the second branch, right after that of the first."""
        if not self._parts[-1] or not isinstance(self._parts[-1][-1], IfThenElse):
            raise RuntimeError("else_scope can only follow an if_scope")
        previous = self._parts[-1].pop()
        self._parts.append([])
        return _Scope(None, lambda: self.emit(IfThenElse(previous.condition, previous.then_case, self._pop())))

    def new_scope(self):
        self._parts.append([])
        return _Scope(None, lambda: self.emit(self._pop()))

    def let(self, var_name, value):
        value = convert(value)
        var = Var(var_name, value.dtype)
        self.emit(lambda body: LetStmt(var, value, body))
        return var

    def allocate(self, dtype, shape, name="buf", axis_separators=None, scope=""):
        """Memory for what follows in the scope."""
        shape = list(shape) if isinstance(shape, (list, tuple)) else [shape]
        data = Var(name, ir.PointerType(ir.PrimType(dtype), scope))
        buffer = decl_buffer(shape, dtype, name, data=data, scope=scope, axis_separators=axis_separators)
        self.emit(lambda body: Allocate(data, dtype, shape, const(1, "bool"), body))
        return BufferVar(self, buffer, dtype)

    def pointer(self, content_type, name="ptr", scope=""):
        """The elements that a pointer variable refers to."""
        data = Var(name, ir.PointerType(ir.PrimType(content_type), scope))
        return BufferVar(self, decl_buffer([0], content_type, name, data=data, scope=scope), content_type)

    def buffer_ptr(self, buf):
        return BufferVar(self, buf, buf.dtype)

    def likely(self, expr):
        expr = _condition(expr)
        return Call(expr.dtype, "tir.likely", [expr])

    def get(self):
        """The statement that was built."""
        return self._pop()


def _condition(cond):
    return cond._node_() if hasattr(cond, "_node_") else convert(cond)


def _typed(value, dtype):
    return const(value, dtype) if isinstance(value, int) else value


def _join(first, rest):
    items = []
    for part in (first, rest):
        items += list(part.seq) if isinstance(part, SeqStmt) else [part]
    return SeqStmt(items)


def create():
    return IRBuilder()


__all__ = ["Buffer", "BufferVar", "IRBuilder", "IterVar", "Ramp", "create"]

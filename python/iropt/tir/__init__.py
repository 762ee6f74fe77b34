"""The loop level: scalar expressions, statements, and PrimFuncs."""
from .. import _core
from .._core import Array, Node, make, native, node

_script_prefix_ = "T"
_KIND = {name: row[0] for name, row in _core.KINDS.items()}


def _object():
    # The base class is in ir, which needs this module.
    from .. import ir

    return ir


class _Operators:
    """Arithmetic: a new expression, folded if the operands are numbers."""

    __slots__ = ()

    def __add__(self, other):
        return _binary("Add", self, other)

    def __radd__(self, other):
        return _binary("Add", other, self)

    def __sub__(self, other):
        return _binary("Sub", self, other)

    def __rsub__(self, other):
        return _binary("Sub", other, self)

    def __mul__(self, other):
        return _binary("Mul", self, other)

    def __rmul__(self, other):
        return _binary("Mul", other, self)

    def __truediv__(self, other):
        return div(self, other)

    def __rtruediv__(self, other):
        return div(other, self)

    def __floordiv__(self, other):
        return _binary("FloorDiv", self, other)

    def __rfloordiv__(self, other):
        return _binary("FloorDiv", other, self)

    def __mod__(self, other):
        return _binary("FloorMod", self, other)

    def __rmod__(self, other):
        return _binary("FloorMod", other, self)

    def __neg__(self):
        return _binary("Mul", self, const(-1, self.dtype))

    def __lshift__(self, other):
        return native.bitwise(0, self, other)

    def __rshift__(self, other):
        return native.bitwise(1, self, other)

    def __and__(self, other):
        return native.bitwise(2, self, other)

    def __rand__(self, other):
        return native.bitwise(2, other, self)

    def __or__(self, other):
        return native.bitwise(3, self, other)

    def __ror__(self, other):
        return native.bitwise(3, other, self)

    def __xor__(self, other):
        return native.bitwise(4, self, other)

    def __lt__(self, other):
        return _binary("LT", self, other)

    def __le__(self, other):
        return _binary("LE", self, other)

    def __gt__(self, other):
        return _binary("GT", self, other)

    def __ge__(self, other):
        return _binary("GE", self, other)

    def __eq__(self, other):
        return EqualOp(self, other)

    def __ne__(self, other):
        return NotEqualOp(self, other)

    def __hash__(self):
        return Node.__hash__(self)

    def __bool__(self):
        raise ValueError("a symbolic expression has no truth value; use T.And, T.Or and T.Not")

    def equal(self, other):
        return _binary("EQ", self, other)

    def astype(self, dtype, span=None):
        del span
        return native.cast(dtype, self)


class EqualOp:
    """The comparison of two expressions: as a truth value, whether they are the same."""

    _kind_name = "EQ"
    _same = True

    def __init__(self, a, b):
        self.a, self.b = a, b

    def _node_(self):
        return _binary(self._kind_name, self.a, self.b)

    asobject = _node_

    def __bool__(self):
        a, b = self.a, self.b
        if isinstance(a, Node) and isinstance(b, Node):
            same = native.node_id(a) == native.node_id(b) or (
                isinstance(a, (IntImm, FloatImm)) and type(a) is type(b) and a.value == b.value)
        elif isinstance(a, (IntImm, FloatImm, StringImm)) and isinstance(b, (int, float, str)):
            same = a.value == b
        else:
            same = False
        return same == self._same

    def __getattr__(self, name):
        return getattr(self._node_(), name)

    def __and__(self, other):
        return self._node_() & other

    def __or__(self, other):
        return self._node_() | other


class NotEqualOp(EqualOp):
    """The comparison of two expressions: as a truth value, whether they differ."""

    _kind_name = "NE"
    _same = False


class _Base(Node):
    __slots__ = ()

    def same_as(self, other):
        return isinstance(other, Node) and native.node_id(self) == native.node_id(other)

    @property
    def span(self):
        return native.place(self)

    def script(self, **options):
        from .. import _text

        return _text.script(self, **_object()._printing(options))

    def show(self, *_, **options):
        from .. import _text

        _text.show(self.script(**options))

    def __str__(self):
        return self.script()

    def __repr__(self):
        return self.script()

    def _script_(self):
        from .. import _text

        return _text.captured(self)

    def __copy__(self):
        return self

    def __deepcopy__(self, _):
        return self


class PrimExpr(_Operators, _Base):
    """A scalar expression."""

    __slots__ = ()


class Stmt(_Base):
    """A statement."""

    __slots__ = ()


def _binary(kind, a, b):
    return native.binary(_KIND[kind], a, b)


def convert(value, dtype=None):
    """The expression of a number or a text."""
    if isinstance(value, Node):
        return value
    if isinstance(value, (list, tuple)):
        return Array(convert(item) for item in value)
    return native.to_prim(value, dtype)


def const(value, dtype=None, span=None):
    """A constant of a dtype: by default int32, float32 or bool."""
    del span
    if dtype is None:
        return native.to_prim(value)
    return native.const_prim(value, dtype)


def _as_var_dtype(dtype):
    return dtype if isinstance(dtype, str) else getattr(dtype, "dtype", dtype)


@node("PrimVar")
class Var(PrimExpr):
    """A scalar variable."""

    __slots__ = ()

    def __new__(cls, name="v", dtype="int32", span=None):
        del span
        kind = "SizeVar" if cls is SizeVar else "PrimVar"
        if hasattr(dtype, "_pointer_"):
            return make(kind, name=name, dtype="handle", pointer=dtype._pointer_())
        return make(kind, name=name, dtype=_as_var_dtype(dtype))

    name_hint = property(lambda self: self.name)

    @property
    def type_annotation(self):
        if self.pointer is not None:
            return _object().PointerType(_object().PrimType(self.pointer[0]), self.pointer[1])
        return _object().PrimType(self.dtype)


@node("SizeVar")
class SizeVar(Var):
    """A variable that is not negative."""

    __slots__ = ()


@node("IntImm")
class IntImm(PrimExpr):
    """An integer constant."""

    __slots__ = ()

    def __new__(cls, dtype, value, span=None):
        del span
        return make("IntImm", dtype=dtype, value=int(value))

    def __int__(self):
        return self.value

    def __index__(self):
        return self.value

    def __float__(self):
        return float(self.value)

    def __bool__(self):
        return self.value != 0

    def __hash__(self):
        return hash((self.value, self.dtype))

    def __eq__(self, other):
        if isinstance(other, (int, bool)):
            return self.value == other
        if isinstance(other, IntImm):
            return self.value == other.value and self.dtype == other.dtype
        return EqualOp(self, other)

    def __ne__(self, other):
        if isinstance(other, (int, bool, IntImm)):
            return not self == other
        return NotEqualOp(self, other)


@node("FloatImm")
class FloatImm(PrimExpr):
    """A floating-point constant."""

    __slots__ = ()

    def __new__(cls, dtype, value, span=None):
        del span
        return make("FloatImm", dtype=dtype, value=float(value))

    def __float__(self):
        return self.value


@node("PrimStringImm")
class StringImm(PrimExpr):
    """A text."""

    __slots__ = ()

    def __new__(cls, value, span=None):
        del span
        return make("PrimStringImm", value=value)

    def __eq__(self, other):
        return self.value == (other.value if isinstance(other, StringImm) else other)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.value)


@node("Cast")
class Cast(PrimExpr):
    """A conversion to another dtype."""

    __slots__ = ()

    def __new__(cls, dtype, value, span=None):
        del span
        return make("Cast", dtype=dtype, value=value)


class BinaryOpExpr(PrimExpr):
    """An operation on two operands, a and b."""

    __slots__ = ()

    def __new__(cls, a, b, span=None):
        del span
        a, b = convert(a), convert(b)
        if a.dtype != b.dtype and isinstance(b, IntImm):
            b = const(b.value, a.dtype)
        elif a.dtype != b.dtype and isinstance(a, IntImm):
            a = const(a.value, b.dtype)
        return native.make(cls._kind_, {"a": a, "b": b})


class CmpExpr(BinaryOpExpr):
    __slots__ = ()


class LogicalExpr(BinaryOpExpr):
    __slots__ = ()


def _binary_class(name, base):
    return node(name)(type(name, (base,), {"__slots__": (), "__doc__": f"The operation {name}.", "__module__": __name__}))


Add, Sub, Mul, Div, Mod, FloorDiv, FloorMod, Min, Max = (
    _binary_class(name, BinaryOpExpr)
    for name in ("Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max"))
EQ, NE, LT, LE, GT, GE = (_binary_class(name, CmpExpr) for name in ("EQ", "NE", "LT", "LE", "GT", "GE"))
And, Or = (_binary_class(name, LogicalExpr) for name in ("And", "Or"))


@node("Not")
class Not(PrimExpr):
    """The negation of a condition."""

    __slots__ = ()

    def __new__(cls, a, span=None):
        del span
        return make("Not", a=a)


@node("Select")
class Select(PrimExpr):
    """One of two values, both of which are computed."""

    __slots__ = ()

    def __new__(cls, condition, true_value, false_value, span=None):
        del span
        return make("Select", condition=condition, true_value=true_value, false_value=false_value)


@node("Let")
class Let(PrimExpr):
    """An expression with a variable for a value."""

    __slots__ = ()

    def __new__(cls, var, value, body, span=None):
        del span
        return make("Let", var=var, value=value, body=body)


@node("PrimCall")
class Call(PrimExpr):
    """A call of an intrinsic or of a function of the module."""

    __slots__ = ()

    def __new__(cls, dtype, op, args, span=None):
        del span
        if isinstance(op, str):
            op = _object().Op.get(op)
        return make("PrimCall", dtype=dtype, op=op, args=list(args))


@node("BufferLoad")
class BufferLoad(PrimExpr):
    """An element of a buffer."""

    __slots__ = ()

    def __new__(cls, buffer, indices, predicate=None, span=None):
        del span
        return make("BufferLoad", buffer=buffer, indices=list(indices), predicate=predicate)


@node("ProducerLoad")
class ProducerLoad(PrimExpr):
    """An element of a tensor before buffers are assigned."""

    __slots__ = ()


@node("Ramp")
class Ramp(PrimExpr):
    """A vector base, base + stride, ..."""

    __slots__ = ()

    def __new__(cls, base, stride, lanes, span=None):
        del span
        return make("Ramp", base=base, stride=stride, lanes=lanes)


@node("Broadcast")
class Broadcast(PrimExpr):
    """A vector of one value."""

    __slots__ = ()

    def __new__(cls, value, lanes, span=None):
        del span
        return make("Broadcast", value=value, lanes=lanes)


@node("Shuffle")
class Shuffle(PrimExpr):
    """Elements of vectors."""

    __slots__ = ()


@node("Reduce")
class Reduce(PrimExpr):
    """A reduction over axes."""

    __slots__ = ()


# ---- Parts


@node("Range")
class Range(_Base):
    """From min, extent many."""

    __slots__ = ()

    def __new__(cls, begin, end=None, span=None):
        del span
        if end is None:
            return make("Range", min=0, extent=begin)
        begin, end = convert(begin), convert(end)
        return make("Range", min=begin, extent=end - begin)

    @staticmethod
    def from_min_extent(min_value, extent, span=None):
        del span
        return make("Range", min=min_value, extent=extent)


@node("IterVar")
class IterVar(_Operators, _Base):
    """An iteration variable with its domain."""

    __slots__ = ()
    DataPar, ThreadIndex, CommReduce, Ordered, DimInfo, Unrolled, Vectorized, Parallelized, Tensorized = range(9)

    def __new__(cls, dom, var, iter_type, thread_tag="", span=None):
        del span
        if isinstance(dom, (list, tuple)):
            dom = Range(*dom)
        if isinstance(var, str):
            var = Var(var, dom.extent.dtype if dom is not None else "int32")
        return make("IterVar", dom=dom, var=var, iter_type=iter_type, thread_tag=thread_tag)

    dtype = property(lambda self: self.var.dtype)


@node("Buffer")
class Buffer(_Base):
    """A typed view of memory."""

    __slots__ = ()

    def scope(self):
        scope = self.data.pointer[1] if self.data.pointer else ""
        return scope or "global"

    def vload(self, begin, dtype=None):
        del dtype
        return BufferLoad(self, [begin] if isinstance(begin, (int, PrimExpr)) else list(begin))

    def vstore(self, begin, value):
        return BufferStore(self, value, [begin] if isinstance(begin, (int, PrimExpr)) else list(begin))

    def __getitem__(self, indices):
        if not isinstance(indices, tuple):
            indices = (indices,)
        if any(isinstance(index, slice) for index in indices):
            region = []
            for axis, index in enumerate(indices):
                if isinstance(index, slice):
                    start = 0 if index.start is None else index.start
                    stop = self.shape[axis] if index.stop is None else index.stop
                    region.append(Range(start, stop))
                else:
                    region.append(Range.from_min_extent(index, 1))
            return BufferRegion(self, region)
        return BufferLoad(self, list(indices))

    elem_type = property(lambda self: self.dtype)


def decl_buffer(shape, dtype=None, name="buffer", data=None, strides=None, elem_offset=None, scope="", data_alignment=-1,
                offset_factor=0, buffer_type="", axis_separators=None, span=None):
    """A new buffer, and unless it is given a new variable for its memory."""
    del span
    shape = list(shape) if isinstance(shape, (list, tuple)) else [shape]
    dtype = native.dtype_name("float32" if dtype is None else dtype)
    if data is None:
        pointer = "int8" if dtype == "bool" else dtype
        data = make("PrimVar", name=name, dtype="handle", pointer=(pointer, scope or "global"))
    return make("Buffer", data=data, dtype=dtype, shape=shape, strides=list(strides or []),
                elem_offset=const(0, "int32") if elem_offset is None else elem_offset,
                axis_separators=[int(axis) for axis in axis_separators or []], name=name,
                data_alignment=64 if data_alignment <= 0 else data_alignment,
                offset_factor=1 if offset_factor == 0 else offset_factor,
                buffer_type=1 if buffer_type == "auto_broadcast" else 0)


@node("BufferRegion")
class BufferRegion(_Base):
    """A part of a buffer."""

    __slots__ = ()

    def __new__(cls, buffer, region):
        return make("BufferRegion", buffer=buffer, region=list(region))


@node("MatchBufferRegion")
class MatchBufferRegion(_Base):
    """A buffer for a part of another one."""

    __slots__ = ()

    def __new__(cls, buffer, source):
        return make("MatchBufferRegion", buffer=buffer, source=source)


@node("CommReducer")
class CommReducer(_Base):
    """A commutative function of two values with its neutral element."""

    __slots__ = ()


@node("DataProducer")
class DataProducer(_Base):
    """A tensor before buffers are assigned."""

    __slots__ = ()


# ---- Statements


@node("LetStmt")
class LetStmt(Stmt):
    """A statement with a variable for a value."""

    __slots__ = ()

    def __new__(cls, var, value, body, span=None):
        del span
        return make("LetStmt", var=var, value=value, body=body)


@node("AttrStmt")
class AttrStmt(Stmt):
    """A statement under an attribute."""

    __slots__ = ()

    def __new__(cls, node, attr_key, value, body, span=None):
        del span
        return make("AttrStmt", node=node if isinstance(node, Node) else convert(node), attr_key=attr_key, value=value,
                    body=body)


@node("AssertStmt")
class AssertStmt(Stmt):
    """A statement under an assertion."""

    __slots__ = ()

    def __new__(cls, condition, message, body, span=None):
        del span
        return make("AssertStmt", condition=condition, message=message, body=body)


@node("BufferStore")
class BufferStore(Stmt):
    """The assignment of an element of a buffer."""

    __slots__ = ()

    def __new__(cls, buffer, value, indices, predicate=None, span=None):
        del span
        value = const(value, buffer.dtype) if isinstance(value, (int, float)) else value
        return make("BufferStore", buffer=buffer, value=value, indices=list(indices), predicate=predicate)


@node("BufferRealize")
class BufferRealize(Stmt):
    """The allocation of a buffer over bounds."""

    __slots__ = ()

    def __new__(cls, buffer, bounds, condition, body, span=None):
        del span
        return make("BufferRealize", buffer=buffer, bounds=list(bounds), condition=condition, body=body)


@node("Prefetch")
class Prefetch(Stmt):
    """A hint that elements will be read."""

    __slots__ = ()

    def __new__(cls, buffer, bounds, span=None):
        del span
        return make("Prefetch", buffer=buffer, bounds=list(bounds))


@node("Allocate")
class Allocate(Stmt):
    """The allocation of memory for a statement."""

    __slots__ = ()

    def __new__(cls, buffer_var, dtype, extents, condition, body, annotations=None, span=None):
        del span
        return make("Allocate", buffer_var=buffer_var, dtype=dtype, extents=list(extents), condition=condition, body=body,
                    annotations=annotations)


@node("AllocateConst")
class AllocateConst(Stmt):
    """The allocation of constant memory."""

    __slots__ = ()


@node("DeclBuffer")
class DeclBuffer(Stmt):
    """The declaration of a buffer for a statement."""

    __slots__ = ()

    def __new__(cls, buffer, body, span=None):
        del span
        return make("DeclBuffer", buffer=buffer, body=body)


@node("SeqStmt")
class SeqStmt(Stmt):
    """Statements one after another."""

    __slots__ = ()

    def __new__(cls, seq, span=None):
        del span
        return make("SeqStmt", seq=list(seq))

    def __getitem__(self, index):
        return self.seq[index]

    def __len__(self):
        return len(self.seq)

    def __iter__(self):
        return iter(self.seq)


@node("IfThenElse")
class IfThenElse(Stmt):
    """One of two statements."""

    __slots__ = ()

    def __new__(cls, condition, then_case, else_case=None, span=None):
        del span
        return make("IfThenElse", condition=condition, then_case=then_case, else_case=else_case)


@node("Evaluate")
class Evaluate(Stmt):
    """The evaluation of an expression for its effects."""

    __slots__ = ()

    def __new__(cls, value, span=None):
        del span
        return make("Evaluate", value=value)


class ForKind:
    """The kinds of loops."""

    SERIAL, PARALLEL, VECTORIZED, UNROLLED, THREAD_BINDING = range(5)


@node("For")
class For(Stmt):
    """A loop."""

    __slots__ = ()

    def __new__(cls, loop_var, min, extent, kind, body, thread_binding=None, annotations=None, span=None):
        del span
        dtype = loop_var.dtype
        return make("For", loop_var=loop_var, min=_index(min, dtype), extent=_index(extent, dtype), kind=kind, body=body,
                    thread_binding=thread_binding, annotations=annotations)


def _index(value, dtype):
    return const(value, dtype) if isinstance(value, int) else value


@node("While")
class While(Stmt):
    """A loop under a condition."""

    __slots__ = ()

    def __new__(cls, condition, body, span=None):
        del span
        return make("While", condition=condition, body=body)


@node("BlockStmt")
class Block(Stmt):
    """A block: iteration variables, accesses, memory, and a body."""

    __slots__ = ()

    def __new__(cls, iter_vars, reads, writes, name_hint, body, init=None, alloc_buffers=None, match_buffers=None,
                annotations=None, span=None):
        del span
        return make("BlockStmt", iter_vars=list(iter_vars), reads=list(reads), writes=list(writes), name_hint=name_hint,
                    body=body, init=init, alloc_buffers=list(alloc_buffers or []),
                    match_buffers=list(match_buffers or []), annotations=annotations)


@node("BlockRealize")
class BlockRealize(Stmt):
    """A block with values for its iteration variables."""

    __slots__ = ()

    def __new__(cls, iter_values, predicate, block, span=None):
        del span
        return make("BlockRealize", iter_values=list(iter_values), predicate=predicate, block=block)


def stmt_seq(*args):
    """The statements one after another; expressions are evaluated."""
    statements = [arg if isinstance(arg, Stmt) else Evaluate(arg) for arg in args]
    return statements[0] if len(statements) == 1 else SeqStmt(statements)


def stmt_list(stmt):
    """The statements of a sequence, or the one statement."""
    return [item for part in stmt for item in stmt_list(part)] if isinstance(stmt, SeqStmt) else [stmt]


# ---- Operators


def div(a, b, span=None):
    del span
    a, b = convert(a), convert(b)
    return _binary("Div", a, b)


truncdiv = div


def truncmod(a, b, span=None):
    del span
    return _binary("Mod", a, b)


def floordiv(a, b, span=None):
    del span
    return _binary("FloorDiv", a, b)


def floormod(a, b, span=None):
    del span
    return _binary("FloorMod", a, b)


indexdiv, indexmod = floordiv, floormod


def min(a, b, span=None):  # pylint: disable=redefined-builtin
    del span
    return _binary("Min", a, b)


def max(a, b, span=None):  # pylint: disable=redefined-builtin
    del span
    return _binary("Max", a, b)


def ceildiv(a, b, span=None):
    del span
    a, b = convert(a), convert(b)
    return floordiv(a + (b - 1), b)


def all(*args, span=None):  # pylint: disable=redefined-builtin
    """The conjunction of conditions."""
    del span
    args = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    result = convert(args[0])
    for arg in args[1:]:
        result = And(result, convert(arg))
    return result


def any(*args, span=None):  # pylint: disable=redefined-builtin
    """The disjunction of conditions."""
    del span
    result = convert(args[0])
    for arg in args[1:]:
        result = Or(result, convert(arg))
    return result


def call_intrin(dtype, name, *args, span=None):
    del span
    return Call(dtype, name, [convert(arg) for arg in args])


def call_extern(dtype, name, *args, span=None):
    del span
    return Call(dtype, "tir.call_extern", [StringImm(name)] + [convert(arg) for arg in args])


def call_pure_extern(dtype, name, *args, span=None):
    del span
    return Call(dtype, "tir.call_pure_extern", [StringImm(name)] + [convert(arg) for arg in args])


def call_packed(*args, span=None):
    del span
    return Call("int32", "tir.tvm_call_packed", [convert(arg) for arg in args])


def if_then_else(cond, true_value, false_value, span=None):
    del span
    true_value = convert(true_value)
    return Call(true_value.dtype, "tir.if_then_else", [cond, true_value, convert(false_value)])


def ret(value, span=None):
    del span
    value = convert(value)
    return Call(value.dtype, "tir.ret", [value])


def reinterpret(dtype, value, span=None):
    del span
    return Call(dtype, "tir.reinterpret", [convert(value)])


def __getattr__(name):
    """Intrinsics of the table by their names: `tir.exp(x)`."""
    if not name.startswith("_"):
        try:
            op = _object().Op.get("tir." + name)
        except AttributeError:
            raise AttributeError(f"iropt.tir has no '{name}'") from None

        def intrinsic(*args, dtype=None, span=None):
            del span
            args = [convert(arg) for arg in args]
            return Call(dtype or args[0].dtype, op, args)

        intrinsic.__name__ = name
        return intrinsic
    raise AttributeError(name)


# ---- Functions


def _prim_func_class():
    ir = _object()

    @node("PrimFunc")
    class PrimFunc(ir.BaseFunc):
        """A function of loops."""

        __slots__ = ()
        __module__ = __name__

        def __new__(cls, params, body, ret_type=None, buffer_map=None, attrs=None, span=None):
            del span, ret_type
            vars_, buffers = [], []
            buffer_map = {native.node_id(var): buffer for var, buffer in dict(buffer_map or {}).items()}
            for param in params:
                if isinstance(param, Buffer):
                    var = make("PrimVar", name=param.name, dtype="handle")
                    vars_.append(var)
                    buffers.append(param)
                else:
                    vars_.append(param)
                    buffers.append(buffer_map.get(native.node_id(param)))
            return make("PrimFunc", params=vars_, param_buffers=buffers, body=body,
                        attrs=dict(attrs.items()) if attrs else None)

        @property
        def buffer_map(self):
            return {var: buffer for var, buffer in zip(self.params, self.param_buffers) if buffer is not None}

        def with_body(self, body, span=None):
            del span
            return native.copy_with(self, {"body": body})

        struct_info = property(lambda self: self.type)

    return PrimFunc


PrimFunc = _prim_func_class()


@node("IndexMapAttr")
class IndexMap(_object().AttrBase):
    """A map of indices."""

    __slots__ = ()

    @staticmethod
    def from_func(mapping, ndim=None, inverse_index_map=None, *, index_dtype="int64"):
        import inspect

        names = list(inspect.signature(mapping).parameters)
        if ndim is not None and len(names) < ndim:
            names += [f"i{i}" for i in range(len(names), ndim)]
        params = [Var(name, index_dtype) for name in names]
        results = mapping(*params)
        if not isinstance(results, (list, tuple)):
            results = [results]
        return make("IndexMapAttr", params=params, results=[r for r in results if isinstance(r, (int, PrimExpr))],
                    inverse=inverse_index_map)

    initial_indices = property(lambda self: self.params)
    final_indices = property(lambda self: self.results)


def __dir__():
    return sorted(set(globals()) | {row["name"][4:] for row in native.op_table() if row["name"].startswith("tir.")})


from . import stmt_functor, transform, analysis  # noqa: E402,F401

"""Statements."""
from .. import _newer
from .._core import Node, make, node, require
from ._vectors import check_mask
from .expr import Call, Stmt, const, convert


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
        if predicate is not None:
            check_mask(predicate, value.dtype, False)
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

    def __new__(cls, buffer_var, dtype, extents, data_or_idx, body, annotations=None, span=None):
        del span
        return make("AllocateConst", buffer_var=buffer_var, dtype=dtype, extents=list(extents), data=data_or_idx, body=body,
                    annotations=annotations)

    irmod_storage_idx = property(lambda self: self.storage_id)


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
        statements = list(seq)
        with_bindings = _with_bindings(statements)
        # A Bind in front has all statements in its own.
        is_one = len(with_bindings) == 1 and with_bindings[0] is not statements[0]
        return with_bindings[0] if is_one else make("SeqStmt", seq=with_bindings)

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


class Bind:
    """A variable with a value in the statements that follow it in a SeqStmt, as newer versions have it: a LetStmt around them."""

    def __init__(self, var, value, span=None):
        del span
        require(var=var, value=value)
        self.var, self.value = var, value


def _with_bindings(seq):
    """The statements, with those after a Bind in a LetStmt."""
    seq = list(seq)
    for index, item in enumerate(seq):
        if isinstance(item, Bind):
            return seq[:index] + [LetStmt(item.var, item.value, stmt_seq(*seq[index + 1:]) if seq[index + 1:] else Evaluate(0))]
    return seq


class _IsReturn(type):
    """What is said of statements that are evaluations of `ret`."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, Evaluate) and isinstance(instance.value, Call) and instance.value.op.name == "tir.ret"


class Return(metaclass=_IsReturn):
    """The end of a function with a value, as newer versions have it: an evaluation of `ret`."""

    def __new__(cls, value, span=None):
        from .op import ret

        require(value=value)
        return Evaluate(ret(value, span))


class ForKind:
    """The kinds of loops."""

    SERIAL, PARALLEL, VECTORIZED, UNROLLED, THREAD_BINDING = range(5)


@node("For")
class For(Stmt):
    """A loop."""

    __slots__ = ()

    def __new__(cls, loop_var, min, extent, kind, body, thread_binding=None, annotations=None, span=None):
        del span
        require(loop_var=loop_var)
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
    statements = _with_bindings(arg if isinstance(arg, (Stmt, Bind)) else Evaluate(arg) for arg in args)
    return statements[0] if len(statements) == 1 else SeqStmt(statements)


def stmt_list(stmt):
    """The statements of a sequence, or the one statement."""
    return [item for part in stmt for item in stmt_list(part)] if isinstance(stmt, SeqStmt) else [stmt]


_newer.add_names("tir.stmt", globals())

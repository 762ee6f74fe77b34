"""Documents: the syntax of Python as objects, which `to_python_script` of doc_printer.py prints."""
import enum

from .._core import Array


class OperationKind(enum.IntEnum):
    """The operations of OperationDoc."""

    _UnaryStart = 0
    USub = 1
    Invert = 2
    Not = 3
    _UnaryEnd = 4
    _BinaryStart = 5
    Add = 6
    Sub = 7
    Mult = 8
    Div = 9
    FloorDiv = 10
    Mod = 11
    Pow = 12
    LShift = 13
    RShift = 14
    BitAnd = 15
    BitOr = 16
    BitXor = 17
    Lt = 18
    LtE = 19
    Eq = 20
    NotEq = 21
    Gt = 22
    GtE = 23
    And = 24
    Or = 25
    MatMul = 26
    _BinaryEnd = 27
    _SpecialStart = 28
    IfThenElse = 29
    _SpecialEnd = 30


class Doc:
    """A part of a text. `source_paths` are the paths of the objects that it stands for."""

    def __init__(self, **fields):
        self._source_paths, self._comment = Array(), None
        vars(self).update(fields)

    source_paths = property(lambda self: self._source_paths,
                            lambda self, paths: setattr(self, "_source_paths", Array(paths)))


class ExprDoc(Doc):
    """An expression."""

    def attr(self, name):
        """The expression of an attribute."""
        return AttrAccessDoc(self, name)

    def call(self, *args, **kwargs):
        """The expression of a call."""
        return CallDoc(self, *args, **kwargs)

    def __getitem__(self, indices):
        return IndexDoc(self, indices if isinstance(indices, tuple) else (indices,))

    def __iter__(self):
        raise RuntimeError(f"{type(self).__name__} cannot be used as an iterable")


class StmtDoc(Doc):
    """A statement, with a comment or None."""

    comment = property(lambda self: self._comment, lambda self, comment: setattr(self, "_comment", comment))


class LiteralDoc(ExprDoc):
    """None, a truth value, a number, or a text."""

    def __init__(self, value):
        if value is not None and not isinstance(value, (str, int, float)):
            raise TypeError(f"expected None, a text, a number or a truth value, not {type(value).__name__}")
        super().__init__(value=value)


class IdDoc(ExprDoc):
    """A name."""

    def __init__(self, name):
        super().__init__(name=name)


class AttrAccessDoc(ExprDoc):
    """An attribute of a value."""

    def __init__(self, value, name):
        super().__init__(value=value, name=name)


class IndexDoc(ExprDoc):
    """An element, or elements, of a value."""

    def __init__(self, value, indices):
        super().__init__(value=value, indices=Array(indices))


class CallDoc(ExprDoc):
    """A call."""

    def __init__(self, callee, *args, **kwargs):
        super().__init__(callee=callee, args=Array(args), kwargs_keys=Array(kwargs), kwargs_values=Array(kwargs.values()))


class OperationDoc(ExprDoc):
    """An operation on operands."""

    def __init__(self, kind, operands):
        super().__init__(kind=OperationKind(kind), operands=Array(operands))


class LambdaDoc(ExprDoc):
    """A function without a name."""

    def __init__(self, args, body):
        super().__init__(args=Array(args), body=body)


class TupleDoc(ExprDoc):
    """A tuple."""

    def __init__(self, elements):
        super().__init__(elements=Array(elements))


class ListDoc(ExprDoc):
    """A list."""

    def __init__(self, elements):
        super().__init__(elements=Array(elements))


class DictDoc(ExprDoc):
    """A dictionary."""

    def __init__(self, content):
        super().__init__(keys=Array(content), values=Array(content.values()))


class SliceDoc(Doc):
    """A range of indices."""

    def __init__(self, start=None, stop=None, step=None):
        super().__init__(start=start, stop=stop, step=step)


class StmtBlockDoc(Doc):
    """Statements one after another."""

    def __init__(self, stmts):
        super().__init__(stmts=Array(stmts))


class AssignDoc(StmtDoc):
    """A target with a value, an annotation, or both."""

    def __init__(self, lhs, rhs=None, annotation=None):
        if rhs is None and annotation is None:
            raise ValueError("an AssignDoc needs a value or an annotation")
        if annotation is not None and not isinstance(lhs, IdDoc):
            raise ValueError("an AssignDoc with an annotation needs a name as target")
        super().__init__(lhs=lhs, rhs=rhs, annotation=annotation)


class IfDoc(StmtDoc):
    """One of two branches."""

    def __init__(self, predicate, then_branch=None, else_branch=None):
        if not then_branch and not else_branch:
            raise ValueError("an IfDoc needs statements in one of its branches")
        super().__init__(predicate=predicate, then_branch=Array(then_branch or ()), else_branch=Array(else_branch or ()))


class WhileDoc(StmtDoc):
    """A loop under a condition."""

    def __init__(self, predicate, body):
        super().__init__(predicate=predicate, body=Array(body))


class ForDoc(StmtDoc):
    """A loop over values."""

    def __init__(self, lhs, rhs, body):
        super().__init__(lhs=lhs, rhs=rhs, body=Array(body))


class ScopeDoc(StmtDoc):
    """A statement `with`; lhs may be None."""

    def __init__(self, lhs, rhs, body):
        super().__init__(lhs=lhs, rhs=rhs, body=Array(body))


class ExprStmtDoc(StmtDoc):
    """An expression as a statement."""

    def __init__(self, expr):
        super().__init__(expr=expr)


class AssertDoc(StmtDoc):
    """An assertion, with a message or None."""

    def __init__(self, test, msg=None):
        super().__init__(test=test, msg=msg)


class ReturnDoc(StmtDoc):
    """The return of a value."""

    def __init__(self, value):
        super().__init__(value=value)


class FunctionDoc(StmtDoc):
    """A function. `args` are AssignDocs, `type_params` are in brackets after its name."""

    def __init__(self, name, args, decorators, return_type, body, type_params=None):
        super().__init__(name=name, args=Array(args), decorators=Array(decorators), return_type=return_type, body=Array(body),
                         type_params=Array(type_params or []))


class ClassDoc(StmtDoc):
    """A class."""

    def __init__(self, name, decorators, body):
        super().__init__(name=name, decorators=Array(decorators), body=Array(body))


class CommentDoc(StmtDoc):
    """A comment of its own."""

    def __init__(self, comment):
        super().__init__()
        self.comment = comment


class DocStringDoc(StmtDoc):
    """A text that describes what it stands in."""

    def __init__(self, docs):
        super().__init__()
        self.comment = docs

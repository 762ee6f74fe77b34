"""Patterns of expressions, on the matcher of the library."""
from ... import ir, tir
from ..._core import native
from .. import expr as _expr
from ..old_types import DynTensorType
from . import context as _context


class DFPattern:
    """The base class of patterns. Patterns are compared by identity: one that occurs twice matches the same expression twice."""

    _made = None

    def _make(self):
        """The pattern of the library."""
        raise NotImplementedError(f"{type(self).__name__} is the base class of patterns")

    @property
    def _native(self):
        if self._made is None:
            self._made = self._make()
        return self._made

    def _parts(self):
        """The patterns that this one consists of."""
        return ()

    def _rebuilt(self, copy):
        """A new pattern of the same kind; `copy` makes those of its parts."""
        del copy
        return type(self)()

    # ---- Matching
    def match(self, expr, var2val=None):
        """Returns whether the expression matches; variables are looked through where `var2val` has their values."""
        return self.extract_matched_expr(expr, var2val) is not None

    def extract_matched_expr(self, expr, var2val=None):
        """A dictionary of the patterns and the expressions that they match; None if the expression does not match."""
        return extract(self, expr, definitions(var2val))

    # ---- Other patterns
    def __call__(self, *args, varg_default_wildcard=False, add_constraint=True):
        return CallPattern(self, args, varg_default_wildcard, add_constraint)

    def __or__(self, other):
        return OrPattern(self, other)

    def __and__(self, other):
        return AndPattern(self, other)

    def __invert__(self):
        return NotPattern(self)

    def has_attr(self, attrs):
        """This pattern, of a call, an operator or a function whose attributes have the given values."""
        return AttrPattern(self, attrs)

    def has_struct_info(self, struct_info):
        """This pattern, of an expression that has the type, or may have it at run time."""
        return StructInfoPattern(self, struct_info)

    has_ty = has_struct_info

    def has_type(self, ttype):
        """This pattern, of an expression of the type of older versions, which has rank and dtype."""
        return TypePattern(self, ttype)

    def has_dtype(self, dtype):
        """This pattern, of a tensor with the dtype."""
        return DataTypePattern(self, dtype)

    def has_shape(self, shape):
        """This pattern, of a tensor with the shape."""
        if not isinstance(shape, (list, tuple, ir.PrimExpr)):
            raise ValueError("has_shape takes a list or tuple as input.")
        return ShapePattern(self, shape)

    def optional(self, option):
        """This pattern, or what `option` makes of it: `conv.optional(lambda x: is_op("relax.nn.relu")(x))`."""
        return OrPattern(option(self), self)

    # ---- Constraints
    def used_by(self, other, index=-1):
        """Lets `other` use the result of this pattern, as the operand `index` if it is given. The result is the sequence of both."""
        return _context.PatternSeq([self]).used_by(other, index)

    def only_used_by(self, other, index=-1):
        """As used_by; nothing else may use the result of this pattern."""
        return _context.PatternSeq([self]).only_used_by(other, index)

    def __xor__(self, other):
        return self.used_by(other)

    def __rshift__(self, other):
        return self.only_used_by(other)

    def fork_to(self, *args):
        """Lets each of the patterns use the result of this one."""
        for user in args:
            self.used_by(user)

    def same_shape_as(self, *args):
        """A constraint of the current context: the results of the patterns have the shape of this one."""
        return SameShapeConstraint(self, *args)

    def dup(self):
        """A new pattern that matches the same, of new parts."""
        known = {}

        def copy(pattern):
            if id(pattern) not in known:
                known[id(pattern)] = pattern._rebuilt(copy)
            return known[id(pattern)]

        return copy(self)

    def __repr__(self):
        parts = ", ".join(repr(part) for part in self._parts())
        return f"{type(self).__name__}({parts})"


def definitions(var2val):
    """The values of variables as the matcher takes them."""
    made = native.Definitions()
    for var, value in (var2val or {}).items():
        made.set(var, value)
    return made


def parts_of(pattern, found=None):
    """All patterns below and itself, by their numbers in the library."""
    found = {} if found is None else found
    if pattern._native.id not in found:
        found[pattern._native.id] = pattern
        for part in pattern._parts():
            parts_of(part, found)
    return found


def extract(pattern, expr, values, as_vars=False):
    """As extract_matched_expr, with values of the library; with as_vars, variables stay where they are bound to what matches."""
    matched = values.match(pattern._native, expr, as_vars)
    if matched is None:
        return None
    parts = parts_of(pattern)
    return {parts[number]: part for number, part in matched.items() if number in parts}


# ---- Leaves


class WildcardPattern(DFPattern):
    """Matches anything."""

    def _make(self):
        return native.pattern_wildcard()


class ExprPattern(DFPattern):
    """Matches an expression that is equal to the given one."""

    def __init__(self, expr):
        self.expr = expr

    def _make(self):
        if isinstance(self.expr, ir.Op):
            return native.pattern_expr(self.expr)
        return native.pattern_wildcard().where(lambda value: native.structural_equal(self.expr, value, False))

    def _rebuilt(self, copy):
        return ExprPattern(self.expr)

    def __repr__(self):
        return f"ExprPattern({self.expr})"


class _Named(DFPattern):
    """A pattern of something with a name; the empty one is any."""

    def __init__(self, name_hint=""):
        self.name = name_hint

    name_hint = property(lambda self: self.name)

    def _rebuilt(self, copy):
        return type(self)(self.name)

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r})"

    def _has_name(self, name):
        return self.name in ("", name)


class VarPattern(_Named):
    """Matches a variable that has no value among those that are looked through."""

    def _make(self):
        return native.pattern_var().where(lambda var: self._has_name(var.name))


class DataflowVarPattern(VarPattern):
    """Matches a variable of a dataflow block in the same way."""

    def _make(self):
        return super()._make().where(lambda var: isinstance(var, _expr.DataflowVar))


class GlobalVarPattern(_Named):
    """Matches the name of a function of the module that has the given text in it."""

    def _make(self):
        return native.pattern_wildcard().where(lambda value: isinstance(value, ir.GlobalVar) and self.name in value.name)


class ExternFuncPattern(_Named):
    """Matches the name of a function outside of the module."""

    global_symbol = property(lambda self: self.name)

    def _make(self):
        return native.pattern_wildcard().where(
            lambda value: isinstance(value, _expr.ExternFunc) and self._has_name(value.global_symbol))


class ConstantPattern(DFPattern):
    """Matches a constant tensor."""

    def _make(self):
        return native.pattern_constant()


class PrimArrPattern(DFPattern):
    """Matches a shape expression."""

    def __init__(self, shape):
        self.fields = list(shape)

    def _make(self):
        return native.pattern_wildcard().where(
            lambda value: isinstance(value, _expr.ShapeExpr) and _same_dims(self.fields, value.values))

    def _rebuilt(self, copy):
        return PrimArrPattern(self.fields)

    def __getitem__(self, index):
        return self.fields[index]

    def __len__(self):
        return len(self.fields)


# ---- Patterns of patterns


class CallPattern(DFPattern):
    """Matches a call. Additions and multiplications match with their operands in either order."""

    def __init__(self, op, args, varg_default_wildcard=False, add_constraint=True):
        self.op, self.args, self.varg_default_wildcard = op, list(args), varg_default_wildcard
        if add_constraint:
            for index, arg in enumerate(self.args):
                arg.used_by(self, index)

    def _parts(self):
        return (self.op, *self.args)

    def _make(self):
        commutative = len(self.args) == 2 and _names_of(self.op) <= {"relax.add", "relax.multiply"}
        return native.pattern_call(self.op._native, [arg._native for arg in self.args], self.varg_default_wildcard,
                                   commutative)

    def _rebuilt(self, copy):
        return CallPattern(copy(self.op), [copy(arg) for arg in self.args], self.varg_default_wildcard, False)


def _names_of(pattern):
    """The names of the operators that a pattern matches; the empty text stands for others."""
    if type(pattern) is OrPattern:
        return _names_of(pattern.left) | _names_of(pattern.right)
    return {pattern.expr.name if isinstance(pattern, ExprPattern) and isinstance(pattern.expr, ir.Op) else ""}


class FunctionPattern(DFPattern):
    """Matches a function with a body without bindings."""

    def __init__(self, params, body):
        self.params, self.body = list(params), body

    def _parts(self):
        return (*self.params, self.body)

    def _make(self):
        return native.pattern_function([param._native for param in self.params], self.body._native)

    def _rebuilt(self, copy):
        return FunctionPattern([copy(param) for param in self.params], copy(self.body))


class TuplePattern(DFPattern):
    """Matches a tuple."""

    def __init__(self, fields):
        self.fields = list(fields)

    def _parts(self):
        return tuple(self.fields)

    def _make(self):
        return native.pattern_tuple([field._native for field in self.fields])

    def _rebuilt(self, copy):
        return type(self)([copy(field) for field in self.fields])

    def __getitem__(self, index):
        if index is None:
            return TupleGetItemPattern(self)
        if not -len(self.fields) <= index < len(self.fields):
            raise IndexError("TuplePattern index out of range")
        return TupleGetItemPattern(self, index % len(self.fields))

    def __len__(self):
        return len(self.fields)


class UnorderedTuplePattern(TuplePattern):
    """Matches a tuple with the fields in any order."""

    def _make(self):
        return native.pattern_tuple_in_any_order([field._native for field in self.fields])


class TupleGetItemPattern(DFPattern):
    """Matches a field of a tuple; without an index any of them."""

    def __init__(self, tuple_value, index=None):
        self.tuple, self.index = tuple_value, -1 if index is None else index

    def _parts(self):
        return (self.tuple,)

    def _make(self):
        return native.pattern_tuple_get_item(self.tuple._native, self.index)

    def _rebuilt(self, copy):
        return TupleGetItemPattern(copy(self.tuple), self.index)


class OrPattern(DFPattern):
    """Matches what the first pattern matches, or else the second."""

    def __init__(self, left, right):
        self.left, self.right = left, right

    def _parts(self):
        return (self.left, self.right)

    def _make(self):
        return native.pattern_or(self.left._native, self.right._native)

    def _rebuilt(self, copy):
        return type(self)(copy(self.left), copy(self.right))


class AndPattern(OrPattern):
    """Matches what both patterns match."""

    def _make(self):
        return native.pattern_and([self.left._native, self.right._native])


class _Wrapped(DFPattern):
    """A pattern with one more condition."""

    def __init__(self, pattern, condition):
        self.pattern, self._condition = pattern, condition

    def _parts(self):
        return (self.pattern,)

    def _make(self):
        return native.pattern_and([self.pattern._native]).where_leaf(self._holds)

    def _holds(self, expr):
        raise NotImplementedError

    def _rebuilt(self, copy):
        return type(self)(copy(self.pattern), self._condition)


class NotPattern(_Wrapped):
    """Matches what the pattern does not match."""

    def __init__(self, to_reject, condition=None):
        super().__init__(to_reject, condition)

    reject = property(lambda self: self.pattern)

    def _make(self):
        return native.pattern_not(self.pattern._native)


class StructInfoPattern(_Wrapped):
    """A pattern of an expression of a type."""

    struct_info = property(lambda self: self._condition)

    def _make(self):
        # Symbolic variables stand for the same dimension in the whole pattern.
        dims = _dims_of(self._condition) if isinstance(self._condition, _expr.TensorStructInfo) else None
        symbolic = any(isinstance(dim, tir.Var) for dim in dims or ())
        return super()._make().with_dims(list(dims)) if symbolic else super()._make()

    def _holds(self, expr):
        return expr.type is not None and _may_be(self._condition, expr.type)


class TypePattern(_Wrapped):
    """A pattern of a tensor with the rank and the dtype of a type of older versions."""

    def _holds(self, expr):
        info, wanted = expr.type, self._condition
        if not isinstance(wanted, DynTensorType):
            return info is not None and native.is_base_of(wanted, info)
        return isinstance(info, _expr.TensorStructInfo) and (info.ndim, info.dtype) == (wanted.ndim, wanted.dtype)


class DataTypePattern(_Wrapped):
    """A pattern of a tensor of a dtype."""

    dtype = property(lambda self: self._condition)

    def _holds(self, expr):
        return isinstance(expr.type, _expr.TensorStructInfo) and expr.type.dtype == str(self._condition)


class ShapePattern(_Wrapped):
    """A pattern of a tensor of a shape."""

    shape = property(lambda self: self._condition)

    def _holds(self, expr):
        info = expr.type
        return isinstance(info, _expr.TensorStructInfo) and info.known and _same_dims(self._condition, info.dims)


class AttrPattern(_Wrapped):
    """A pattern of a call, an operator or a function with attributes."""

    attrs = property(lambda self: self._condition)

    def _make(self):
        return native.pattern_and([self.pattern._native]).where(self._holds)

    def _holds(self, expr):
        attrs = getattr(expr, "attrs", None)
        return all(_has_value(attrs, key, value) for key, value in self._condition.items())


class SameShapeConstraint:
    """A constraint of the current context: what the patterns match has one shape."""

    def __init__(self, *args):
        self.args = args
        if _context.PatternContext.current() is not None:
            _context.PatternContext.current().constraints.append(self)

    def holds(self, matched):
        """Returns whether the variables of the patterns that have one, in a dictionary, have one shape."""
        shapes = [_dims_of(matched[arg].type) for arg in self.args if arg in matched]
        return all(shape is not None and _same_dims(shape, shapes[0]) for shape in shapes)


# ---- Conditions


def _same_dims(expected, dims):
    expected = list(expected) if isinstance(expected, (list, tuple)) else [expected]
    return len(expected) == len(dims) and all(_same_dim(a, b) for a, b in zip(expected, dims))


def _same_dim(a, b):
    from ...arith import Analyzer

    a, b = tir.convert(a, "int64"), tir.convert(b, "int64")
    return native.structural_equal(a, b, False) or Analyzer().can_prove(a == b)


def _dims_of(info):
    if isinstance(info, _expr.TensorStructInfo):
        return info.dims if info.known and info.shape_var is None else None
    return info.values if isinstance(info, _expr.ShapeStructInfo) and info.known else None


def _may_be(base, info):
    """Returns whether a value of the type may have the base type: whether no dimension or number is known to differ."""
    if type(base) is not type(info):
        return isinstance(base, _expr.ObjectStructInfo)
    if isinstance(base, _expr.TupleStructInfo):
        return len(base.fields) == len(info.fields) and all(map(_may_be, base.fields, info.fields))
    if isinstance(base, _expr.PrimStructInfo):
        return base.dtype == info.dtype and (base.value is None or (info.value is not None and
                                                                   _may_be_equal(base.value, info.value)))
    if isinstance(base, _expr.TensorStructInfo) and base.dtype not in ("", "void", info.dtype):
        return False
    if not isinstance(base, (_expr.TensorStructInfo, _expr.ShapeStructInfo)):
        return native.is_base_of(base, info)
    if base.ndim not in (-1, info.ndim):
        return False
    wanted, dims = _dims_of(base), _dims_of(info)
    return wanted is None or (dims is not None and all(map(_may_be_equal, wanted, dims)))


def _may_be_equal(a, b):
    from ...arith import Analyzer

    return not Analyzer().can_prove(tir.convert(a) != tir.convert(b))


def _has_value(attrs, key, value):
    try:
        found = attrs[key] if isinstance(attrs, (dict, ir.DictAttrs)) else getattr(attrs, key)
    except (AttributeError, KeyError):
        return False
    found, value = _plain(found), _plain(value)
    return found == value if isinstance(found, type(value)) or isinstance(value, type(found)) else str(found) == str(value)


def _plain(value):
    if isinstance(value, (tir.IntImm, tir.FloatImm, tir.StringImm)):
        return value.value
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value

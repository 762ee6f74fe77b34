"""Attributes of operators that programs register, and nodes that they describe devices with."""
import functools

from .._core import native
from .base import DictAttrs

_ATTRS: dict = {}
_added: set = set()  # operators of programs that the library has
_PREFIX = "relax."
_OLDER = {"FInferType": "FInferStructInfo"}  # names of attributes in newer versions


def _own_name(op_name):
    """The name of an operator of a program without the prefix that it has in the library."""
    return op_name.removeprefix(_PREFIX) if op_name.removeprefix(_PREFIX) in _ATTRS else op_name


def program_name(op_name):
    """The name that a program gave an operator, by that in the library."""
    return op_name.removeprefix(_PREFIX) if _added and op_name.removeprefix(_PREFIX) in _added else op_name


@functools.lru_cache(maxsize=None)
def _known():
    return {row["name"] for row in native.op_table()}


def register_op_attr(op_name, attr_key, value=None, level=10):
    """Registers an attribute of an operator; a decorator if no value is given.

    An operator of the program's own is one of Relax: FInferStructInfo is its type rule, of calls of variables, or of shapes and
    numbers that its operands are; FPurity says that it has no effects, FLegalize what LegalizeOps makes of a call, FNormalize
    what a call has to be. Operators of the library can be given FLegalize.
    """
    del level
    own, attr_key = _own_name(op_name), _OLDER.get(attr_key, attr_key)
    if own in _known() and attr_key != "FLegalize":
        raise NotImplementedError(f"register_op_attr of {attr_key} for {op_name} is not a part of iropt: passes use the table of "
                                  "operators")

    def register(attr):
        _ATTRS.setdefault(own, {})[attr_key] = attr
        return attr

    return register if value is None else register(value)


def forget(op_name, attr_key):
    """Forgets an attribute of an operator."""
    _ATTRS.get(_own_name(op_name), {}).pop(_OLDER.get(attr_key, attr_key), None)


def attr_of(op_name, attr_key):
    """An attribute that was registered, or what infers the type of a call; None if there is neither."""
    attr_key = _OLDER.get(attr_key, attr_key)
    found = _ATTRS.get(_own_name(op_name), {}).get(attr_key)
    if found is None and attr_key == "FInferStructInfo" and op_name in _known():
        return lambda call, context: native.infer_type(call, None)
    return found


def full_name(op_name):
    """The name of an operator in the library, to which one of the program is added."""
    own = _own_name(op_name)
    if own in _added:
        return _PREFIX + own
    if own in _known() or "FInferStructInfo" not in _ATTRS.get(own, {}):
        # Intrinsics have another prefix from 0.24 on.
        return "tir." + op_name.removeprefix("tirx.") if op_name.startswith("tirx.") else op_name
    native.set_type_rule(_infer)
    native.add_op(own, bool(_ATTRS[own].get("FPurity", False)))
    _added.add(own)
    return _PREFIX + own


def _infer(op_name, types):
    """The type of a call by the rule of the program, of operands of which only the types are known."""
    from .. import relax
    from .base import Op

    rule = attr_of(op_name, "FInferStructInfo")
    if rule is None:
        raise ValueError("the operator has no type rule any longer")

    def operand(index, info):
        if isinstance(info, relax.ShapeStructInfo) and info.known:
            return relax.ShapeExpr(info.values)
        if isinstance(info, relax.PrimStructInfo) and info.value is not None:
            return relax.PrimValue(info.value)
        return relax.Var(f"arg{index}", info)

    call = relax.Call(Op.get(op_name), [operand(index, info) for index, info in enumerate(types)])
    return rule(call, relax.BlockBuilder())


def functions_of(attr_key):
    """The functions that were registered under a key, by the names of operators."""
    return {name: attrs[attr_key] for name, attrs in _ATTRS.items() if attr_key in attrs}


def is_of_library(op_name):
    """Returns whether an operator is not one of a program."""
    return op_name in _known()


def is_used(attr_key):
    """Returns whether an operator has an attribute of a key."""
    return any(attr_key in attrs for attrs in _ATTRS.values())


def normalized(call, builder):
    """What a call has to be, by the function FNormalize of its operator; other expressions stay."""
    from .base import Op

    op = getattr(call, "op", None)
    if not isinstance(op, Op):
        return call
    if op.name in _WITH_TUPLES:
        return _with_tuple(call, builder)
    rule = attr_of(op.name, "FNormalize") if _ATTRS else None
    return call if rule is None else rule(builder, call)


# Operators whose second operand is a tuple of arguments, not a variable.
_WITH_TUPLES = ("relax.call_tir", "relax.call_tir_inplace", "relax.call_tir_with_grad")


def _with_tuple(call, builder):
    """The call with the tuple that a variable among its operands stands for."""
    from .. import relax

    args = call.args[1]
    if builder is None or not isinstance(args, relax.Var) or not isinstance(args.struct_info, relax.TupleStructInfo):
        return call
    value = builder.lookup_binding(args)
    if not isinstance(value, relax.Tuple):
        value = relax.Tuple([relax.TupleGetItem(args, index) for index in range(len(args.struct_info.fields))])
    return native.copy_with(call, {"args": [call.args[0], value, *call.args[2:]]})


class MemoryInfo:
    """What a function registered as tvm.info.mem.SCOPE says about a memory: the bits of a unit, and where it begins."""

    def __init__(self, unit_bits, max_num_bits=0, max_simd_bits=0, head_address=None):
        self.unit_bits, self.max_num_bits, self.max_simd_bits = unit_bits, max_num_bits, max_simd_bits
        self.head_address = head_address

    def _option_(self):
        address = {} if self.head_address is None else {"head_address": self.head_address.args[0].value}
        return {"unit_bits": int(self.unit_bits), **address}


def make_node(type_key, **kwargs):
    """An object of a type of TVM by its name, of which DictAttrs and MemoryInfo are known."""
    if type_key in ("DictAttrs", "ir.DictAttrs"):
        return DictAttrs(kwargs)
    if type_key != "MemoryInfo":
        raise NotImplementedError(f"make_node of {type_key} is not a part of iropt: nodes have classes")
    return MemoryInfo(**kwargs)

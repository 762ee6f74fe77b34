"""Attributes of operators that programs register, and nodes that they describe devices with."""
from .._core import native
from .base import DictAttrs

_ATTRS: dict = {}


def register_op_attr(op_name, attr_key, value=None, level=10):
    """Notes an attribute of an operator of the program's own; a decorator if no value is given.

    Passes do not look at such attributes, so that operators of the library can't be given any.
    """
    del level
    if any(row["name"] == op_name for row in native.op_table()):
        raise NotImplementedError(f"register_op_attr for {op_name} is not a part of iropt: passes use the table of operators")

    def register(attr):
        _ATTRS.setdefault(op_name, {})[attr_key] = attr
        return attr

    return register if value is None else register(value)


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

"""The extension module, and what makes classes of Python for its tables."""
import os
import sys

from . import _libraries

# Formats and plugins that are loaded take their definitions from the extension module.
_flags = sys.getdlopenflags()
sys.setdlopenflags(_flags | os.RTLD_GLOBAL)
try:
    _libraries.load()
    from . import _iropt as native
finally:
    sys.setdlopenflags(_flags)

Node = native.Node
Error = native.Error

# Rows of the table of node kinds by name: (number, class name, group, fields).
KINDS = {row[1]: (row[0], row[2], row[3], row[4]) for row in native.node_kinds()}
# Classes by the name of their kind.
CLASSES = {}


class Array(tuple):
    """A list of nodes or values of a node. It cannot be changed."""

    __slots__ = ()

    def __repr__(self):
        return "[" + ", ".join(repr(item) for item in self) + "]"

    def __add__(self, other):
        return Array(tuple.__add__(self, tuple(other)))

    def __radd__(self, other):
        return Array(tuple(other) + tuple(self))

    def __eq__(self, other):
        return tuple.__eq__(self, tuple(other)) if isinstance(other, (list, tuple)) else NotImplemented

    def __getitem__(self, index):
        item = tuple.__getitem__(self, index)
        return Array(item) if isinstance(index, slice) else item

    __hash__ = tuple.__hash__


native.set_array_class(Array)


def node(kind):
    """Lets a class be the class of a kind of node: its fields become attributes."""

    def register(cls):
        number, _, _, fields = KINDS[kind]
        native.set_node_class(number, cls)
        cls._kind_ = number
        cls._fields_ = tuple(field[0] for field in fields)
        CLASSES[kind] = cls
        return cls

    return register


# The fields of nodes that are neither nodes nor have a default.
_REQUIRED = {"Constant": "data", "DataTypeImm": "value", "ExternFunc": "global_symbol", "GlobalVar": "name", "PrimStringImm": "value",
             "Var": "name", "DataflowVar": "name"}


def require(**values):
    """Raises ArgumentError, which is a TypeError, for an argument that is None."""
    for name, value in values.items():
        if value is None:
            raise native.ArgumentError(f"'{name}' cannot be None")


def make(kind, /, **fields):
    """A new node with these fields; the text of one where a field is a text, as in functions that scripts call."""
    if kind in _REQUIRED and fields[_REQUIRED[kind]] is None:
        raise native.ArgumentError(f"'{_REQUIRED[kind]}' of a node cannot be None")
    try:
        return native.make(KINDS[kind][0], fields)
    except TypeError as error:
        from .script import _names

        if not _names.has_text(fields.values()):
            raise native.ArgumentError(str(error)) from None
        return _names.text_of_node(CLASSES[kind], fields)


def fields_of(value):
    """The names and values of the fields of a node."""
    return {name: getattr(value, name) for name in type(value)._fields_}

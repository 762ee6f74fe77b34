"""What both levels of the IR have in common: expressions, types, functions, attributes."""
from .. import _core
from .._core import CLASSES, Array, Error, Node, make, native, node, require
from .._object import Object, Part, printing


class StructInfo(Part):
    """The type of a Relax expression."""

    __slots__ = ()

    def __eq__(self, other):
        if not isinstance(other, Node):
            return False
        if self.same_as(other) or native.structural_equal(self, other, False):
            return True
        # Functions have types that define symbolic variables.
        return all(isinstance(side, CLASSES["FuncType"]) for side in (self, other)) and native.func_types_equal(self, other)

    def __hash__(self):
        return native.structural_hash(self, True)

    def __str__(self):
        return native.type_text(self)

    _script_ = __repr__ = _relax_script = __str__

    def is_base_of(self, derived):
        return native.is_base_of(self, derived)


class BaseExpr(Object):
    """An expression of any level."""

    __slots__ = ()


class RelaxExpr(Part, BaseExpr):
    """An expression of Relax."""

    __slots__ = ()

    @property
    def struct_info(self):
        """The type; that of a call which is not bound yet is inferred."""
        return self.type if self.type is not None else self._inferred()

    @staticmethod
    def _static_type(info):
        from .. import relax

        return None if info is None else relax.analysis.get_static_type(info)

    def _inferred(self):
        from .. import relax

        info = relax.BlockBuilder().normalize(self).type
        if info is None:
            raise ValueError("the expression has no type yet: BlockBuilder.normalize infers it")
        return info

    struct_info_ = property(lambda self: self.type)
    checked_type = property(lambda self: self._static_type(self.struct_info), doc="The type without shapes.")
    _checked_type_ = property(lambda self: self._static_type(self.type))
    ty = property(lambda self: self.struct_info)

    @property
    def shape(self):
        from .. import relax

        return relax.get_shape_of(self)

    shape_ = property(lambda self: self.shape)

    def _binary(self, name, other, swap=False):
        from .. import relax

        a, b = relax.op.binary_operands(self, other)
        return getattr(relax.op, name)(b, a) if swap else getattr(relax.op, name)(a, b)

    def __add__(self, other):
        return self._binary("add", other)

    def __radd__(self, other):
        return self._binary("add", other, True)

    def __sub__(self, other):
        return self._binary("subtract", other)

    def __rsub__(self, other):
        return self._binary("subtract", other, True)

    def __mul__(self, other):
        return self._binary("multiply", other)

    def __rmul__(self, other):
        return self._binary("multiply", other, True)

    def __truediv__(self, other):
        return self._binary("divide", other)

    def __rtruediv__(self, other):
        return self._binary("divide", other, True)

    def __floordiv__(self, other):
        return self._binary("floor_divide", other)

    def __pow__(self, other):
        return self._binary("power", other)

    def __neg__(self):
        from .. import relax

        return relax.op.negative(self)

    def __lt__(self, other):
        return self._binary("less", other)

    def __gt__(self, other):
        return self._binary("greater", other)

    def __le__(self, other):
        return self._binary("less_equal", other)

    def __ge__(self, other):
        return self._binary("greater_equal", other)

    def astype(self, dtype):
        from .. import relax

        return relax.op.astype(self, dtype)

    def __call__(self, *args, attrs=None):
        from .. import relax

        return relax.Call(self, list(args), attrs=attrs)

    def __getitem__(self, index):
        from .. import relax

        info = self.type
        if isinstance(info, relax.TupleStructInfo) and index >= len(info.fields):
            raise IndexError(f"the tuple has {len(info.fields)} fields")
        return relax.TupleGetItem(self, index)

    def __iter__(self):
        from .. import relax

        if not isinstance(self.type, relax.TupleStructInfo):
            raise TypeError(f"'{type(self).__name__}' object is not iterable: it is not a tuple of known length")
        return (self[index] for index in range(len(self.type.fields)))


class BaseFunc(RelaxExpr):
    """A function of a module."""

    __slots__ = ()
    script, __str__, __repr__ = Object.script, Object.__str__, Object.__repr__

    def with_attr(self, key_or_dict, value=None):
        """The function with one more attribute, or with several."""
        attrs = dict(self.attrs.items()) if self.attrs is not None else {}
        given = key_or_dict if isinstance(key_or_dict, dict) else {key_or_dict: value}
        attrs.update({_older_key(key): item for key, item in given.items()})
        return native.copy_with(self, {"attrs": attrs})

    def with_attrs(self, attrs):
        return native.copy_with(self, {"attrs": {_older_key(key): item for key, item in attrs.items()}})

    def without_attr(self, key):
        attrs = dict(self.attrs.items())
        attrs.pop(_older_key(key), None)
        return native.copy_with(self, {"attrs": attrs})

    def __reduce__(self):
        from .saving import load_json, save_json

        return load_json, (save_json(self),)

    def __call__(self, *args):
        raise Error("a function of a module is called by its name")


# ---- Attributes


class AttrBase(Object):
    __slots__ = ()

    def __eq__(self, other):
        if isinstance(other, Node):
            return self.same_as(other) or native.structural_equal(self, other, False)
        return NotImplemented

    def __hash__(self):
        return native.structural_hash(self, True)


def _older_key(key):
    """The key of an attribute of a function, in which newer versions have "tirx." for "tir."."""
    return "tir." + key[5:] if isinstance(key, str) and key.startswith("tirx.") else key


@node("DictAttr")
class DictAttrs(AttrBase):
    """A dictionary of attributes, with texts as keys."""

    __slots__ = ()

    def __new__(cls, values=None):
        return make("DictAttr", values=values or {})

    def _dict(self):
        return dict(zip(self.keys_, self.values_))

    @property
    def keys_(self):
        return _keys(self)

    @property
    def values_(self):
        return _values(self)

    def keys(self):
        return list(self.keys_)

    def values(self):
        return list(self.values_)

    def items(self):
        return list(zip(self.keys_, self.values_))

    def get(self, key, default=None):
        found = self._dict()
        return found.get(key if key in found else _older_key(key), default)

    def __getitem__(self, key):
        found = self._dict()
        return found[key if key in found else _older_key(key)]

    # Attributes are fields, too.
    def __getattr__(self, name):
        if name.startswith("_") or name not in self:
            raise AttributeError(f"'DictAttrs' object has no attribute '{name}'")
        return self[name]

    def __contains__(self, key):
        return key in self.keys_ or _older_key(key) in self.keys_

    def __iter__(self):
        return iter(self.keys_)

    def __len__(self):
        return len(self.keys_)

    def __eq__(self, other):
        if isinstance(other, dict):
            return self._dict() == other
        return AttrBase.__eq__(self, other)

    __hash__ = AttrBase.__hash__

    def script(self, **_):
        return "{" + ", ".join(f"{key!r}: {value!r}" for key, value in self.items()) + "}"


def _keys(attrs):
    return native.dict_items(attrs)[0]


def _values(attrs):
    return native.dict_items(attrs)[1]


class AttrInt(int):
    """An integer in a list of an attribute, which is one of 64 bits in TVM."""

    __slots__ = ()
    dtype = property(lambda self: "int64")
    value = property(int)


@node("ObjectAttr")
class Attrs(AttrBase):
    """A record of attributes, such as that of the call of an operator."""

    __slots__ = ()

    def _dict(self):
        return dict(zip(self.names, self.values))

    def __getattr__(self, name):
        fields = dict(zip(type(self).names.__get__(self), type(self).values.__get__(self)))
        if name in fields:
            value = fields[name]
            is_list = isinstance(value, tuple) and value and all(type(item) is int for item in value)
            return Array(AttrInt(item) for item in value) if is_list else value
        raise AttributeError(f"the record has no attribute '{name}'")

    def keys(self):
        return list(self.names)

    def __getitem__(self, key):
        return self._dict()[key]

    def __contains__(self, key):
        return key in self.names

    def script(self, **_):
        return f"{self.type_key}(" + ", ".join(f"{key}={value!r}" for key, value in self._dict().items()) + ")"


@node("VDeviceAttr")
class VDevice(AttrBase):
    """A virtual device."""

    __slots__ = ()

    def __new__(cls, target=None, vdevice_id=0, memory_scope="global"):
        from ..target import Target

        if target is not None and not isinstance(target, Target):
            target = Target(target)
        return make("VDeviceAttr", target=None if target is None else target.config, vdevice_id=vdevice_id,
                    memory_scope=memory_scope)

    def script(self, **_):
        from ..target import as_json

        return f"I.vdevice({as_json(self.target)}, {self.vdevice_id}, {self.memory_scope!r})"


@node("DeviceMeshAttr")
class DeviceMesh(AttrBase):
    """A mesh of devices."""

    __slots__ = ()

    def __new__(cls, shape, device_ids):
        if hasattr(device_ids, "extent"):
            first = int(device_ids.min)
            device_ids = range(first, first + int(device_ids.extent))
        if isinstance(device_ids, range):
            return make("DeviceMeshAttr", shape=list(shape), device_ids=[device_ids.start, device_ids.stop], is_range=True)
        return make("DeviceMeshAttr", shape=list(shape), device_ids=list(device_ids), is_range=False)


# ---- Names


@node("GlobalVar")
class GlobalVar(RelaxExpr):
    """The name of a function of a module. One that a module or a builder has given knows the type of the function."""

    __slots__ = ("_function",)

    def __new__(cls, name_hint, type_annot=None):
        return make("GlobalVar", name=name_hint)

    def of(self, function):
        """The name as that of a function."""
        known = GlobalVar(self.name)
        known._function = function
        return known

    def _inferred(self):
        function = getattr(self, "_function", None)
        if function is None:
            raise ValueError(f"the type of '{self.name}' is that of a function of a module: "
                             "mod.get_global_var(name) knows it")
        return function.struct_info

    name_hint = property(lambda self: self.name)

    def script(self, **_):
        return self.name

    __str__ = script

    def __repr__(self):
        return f'I.GlobalVar("{self.name}")'

    def __call__(self, *args):
        from .. import relax, tir

        if args and all(isinstance(arg, (tir.PrimExpr, int, float)) for arg in args):
            return tir.Call("void", self, list(args))
        return relax.Call(self, list(args))


@node("Op")
class Op(RelaxExpr):
    """An operator of the tables."""

    __slots__ = ()

    @staticmethod
    def get(name):
        from . import op_attrs

        try:
            return make("Op", name=op_attrs.full_name(name))
        except KeyError as error:
            raise AttributeError(str(error)) from None

    def get_attr(self, attr_name):
        """An attribute that a program has registered, or the function that infers the type of a call of the operator; or None."""
        from . import op_attrs

        return op_attrs.attr_of(self.name, attr_name)

    def set_attr(self, attr_name, value, plevel=10):
        """Registers an attribute, or replaces the one that was registered."""
        from . import op_attrs

        op_attrs.register_op_attr(self.name, attr_name, value, plevel)

    def reset_attr(self, attr_name):
        """Forgets an attribute that was registered."""
        from . import op_attrs

        op_attrs.forget(self.name, attr_name)

    def script(self, **_):
        return self.name

    __str__ = script

    def __repr__(self):
        return f"Op({self.name})"

    @staticmethod
    def list_op_names():
        return [row["name"] for row in native.op_table()]


_name_of_op = vars(Op)["name"]


def _program_name(op):
    """The name of an operator; that of one of the program as the program gave it."""
    from . import op_attrs

    return op_attrs.program_name(_name_of_op.__get__(op))


setattr(Op, "name", property(_program_name))


class Span:
    """A place in a source."""

    def __init__(self, source_name=None, line=0, end_line=0, column=0, end_column=0):
        self.source_name, self.line, self.end_line = source_name, line, end_line
        self.column, self.end_column = column, end_column


class SourceName(str):
    """The name of a source."""


RelayExpr = BaseExpr
DiagnosticError = Error


class PointerType:
    """The type of a variable that points to elements of a dtype in a storage scope."""

    def __init__(self, element_type, storage_scope="global"):
        require(element_type=element_type)
        self.element_type = element_type
        self.storage_scope = storage_scope

    def _pointer_(self):
        dtype = getattr(self.element_type, "dtype", self.element_type)
        return (dtype, self.storage_scope)

    def __eq__(self, other):
        return isinstance(other, PointerType) and self._pointer_() == other._pointer_()

    def __hash__(self):
        return hash(self._pointer_())

    def script(self, **_):
        """The text of the type."""
        dtype, scope = self._pointer_()
        return f'T.handle("{dtype}", "{scope}")'

    __repr__ = __str__ = script


class _OfBothLevels(type):
    """The class of types of scalars, which are those of Relax, too, as in newer versions."""

    def __instancecheck__(cls, instance):
        return type(instance) in (cls, CLASSES["PrimType"])


class PrimType(metaclass=_OfBothLevels):
    """The type of a scalar variable."""

    def __init__(self, dtype):
        require(dtype=dtype)
        self.dtype = dtype if dtype == "void" else native.dtype_name(dtype)

    def _node_(self):
        """The type of a scalar in Relax, which is the same type in newer versions."""
        return make("PrimType", dtype=self.dtype)

    def __eq__(self, other):
        return isinstance(other, PrimType) and self.dtype == str(other.dtype)

    def __hash__(self):
        return hash(self.dtype)

    def script(self, **_):
        """The text of the type."""
        return f"T.{self.dtype}"

    __repr__ = __str__ = script


class TupleType:
    """The type of a tuple."""

    def __init__(self, fields, span=None):
        del span
        self.fields = Array(fields)

    def __eq__(self, other):
        return isinstance(other, TupleType) and self.fields == other.fields

    def __hash__(self):
        return hash(self.fields)

    def script(self, **_):
        """The text of the type."""
        return f"T.Tuple({', '.join(field.script() for field in self.fields)})" if self.fields else "None"

    __repr__ = __str__ = script

"""The graph level: expressions, bindings and functions of Relax."""
from .. import _core, _newer, ir
from .._core import Array, Node, make, native, node, require
from .._object import Part
from ..ir import BaseFunc, GlobalVar, RelaxExpr, StructInfo, VDevice  # noqa: F401
from .. import tir as _tir

Expr = RelaxExpr
ExprWithOp = RelaxExpr


# ---- Types


def _listed(values):
    """A list of what is given; an error of both classes if that is a single value."""
    try:
        return list(values)
    except TypeError as error:
        raise native.ArgumentError(str(error)) from None


@node("ObjectType")
class ObjectStructInfo(StructInfo):
    """Any value."""

    __slots__ = ()

    def __new__(cls, span=None):
        del span
        return make("ObjectType")


@node("PrimType")
class PrimStructInfo(StructInfo):
    """A scalar on the host, with its value if it is known."""

    __slots__ = ()

    def __new__(cls, dtype=None, value=None, span=None):
        del span
        if dtype is not None and not isinstance(dtype, str) and not isinstance(dtype, type):
            dtype, value = None, dtype
        return make("PrimType", dtype=dtype, value=value)


def _check_dims(dims, ndim):
    """Raises an error if dimensions are given and their number, too, or if they are not integers."""
    if dims is None:
        return
    if ndim != -1:
        raise ValueError("the dimensions say how many they are: expected them or ndim")
    for dim in dims if isinstance(dims, (list, tuple)) else ():
        if isinstance(dim, PrimExpr) and "int" not in dim.dtype:
            raise native.ArgumentError("the value in ShapeStructInfo can only have dtype of int64")


@node("ShapeType")
class ShapeStructInfo(StructInfo):
    """A shape: its dimensions, or their number."""

    __slots__ = ()

    def __new__(cls, values=None, ndim=-1, span=None):
        del span
        _check_dims(values, ndim)
        return make("ShapeType", values=None if values is None else _listed(values), ndim=ndim)


@node("TensorType")
class TensorStructInfo(StructInfo):
    """A tensor: shape or rank, dtype, virtual device."""

    __slots__ = ()

    def __new__(cls, shape=None, dtype="float32", vdevice=None, ndim=-1, span=None):
        del span
        vdevice = _vdevice(vdevice)
        if isinstance(shape, ShapeExpr):
            shape = list(shape.values)
        if isinstance(shape, Expr):
            return make("TensorType", shape_var=shape, dtype=dtype, vdevice=vdevice)
        dims = None if shape is None else list(shape) if isinstance(shape, (list, tuple)) else [shape]
        _check_dims(dims, ndim)
        return make("TensorType", dims=dims, dtype=dtype, ndim=ndim, vdevice=vdevice)

    @property
    def shape(self):
        if self.shape_var is not None:
            return self.shape_var
        return ShapeExpr(self.dims) if self.known else None


class TensorDType(str):
    """The dtype of a tensor: a text, and in newer versions a type that has the text as `dtype`."""

    __slots__ = ()
    dtype = property(str)


_dtype_of_tensor = vars(TensorStructInfo)["dtype"]
setattr(TensorStructInfo, "dtype", property(lambda self: TensorDType(_dtype_of_tensor.__get__(self))))


def _vdevice(vdevice):
    if isinstance(vdevice, str):
        raise ValueError(f"the virtual device '{vdevice}' is named in a script only")
    return vdevice


def _hide_unknown(cls, name, is_known):
    """Lets a list of a type be None where the type does not know it."""
    field = getattr(cls, name)
    setattr(cls, name, property(lambda self: field.__get__(self) if is_known(self) else None))


_hide_unknown(ShapeStructInfo, "values", lambda info: info.known)


@node("DTensorType")
class DTensorStructInfo(StructInfo):
    """A tensor that is distributed over a mesh of devices."""

    __slots__ = ()

    def __new__(cls, tensor_sinfo, device_mesh, placement, span=None):
        del span
        return make("DTensorType", tensor=tensor_sinfo, device_mesh=device_mesh, placement=str(placement))

    tensor_sinfo = property(lambda self: self.tensor)


@node("TupleType")
class TupleStructInfo(StructInfo):
    """A tuple of types."""

    __slots__ = ()

    def __new__(cls, fields, span=None):
        del span
        return make("TupleType", fields=_listed(fields))


@node("FuncType")
class FuncStructInfo(StructInfo):
    """A function: parameters, result and purity."""

    __slots__ = ()

    def __new__(cls, params=None, ret=None, purity=True, span=None, *, arg_types=None, ret_type=None):
        del span
        params, ret = arg_types if params is None else params, ret_type if ret is None else ret
        return make("FuncType", params=list(params), ret=ret, purity=purity)

    arg_types, ret_type = property(lambda self: self.params), property(lambda self: self.ret)

    @staticmethod
    def opaque_func(*, ret=None, derive_func=None, purity=False, span=None):
        del span
        return make("FuncType", params=None, ret=ret, purity=purity, derive_func=derive_func or "")


_hide_unknown(FuncStructInfo, "params", lambda info: not info.opaque)


# ---- Expressions


def _with_type(expr, struct_info):
    return expr if struct_info is None else native.copy_with(expr, {"type": struct_info})


@node("Constant")
class Constant(Expr):
    """A tensor literal."""

    __slots__ = ()

    @_newer.keywords
    def __new__(cls, data, struct_info=None, span=None):
        del span
        return _with_type(make("Constant", data=_array(data)), struct_info)


def _array(data):
    return data.numpy() if hasattr(data, "numpy") and not isinstance(data, native.NDArray) else data


def const(value, dtype=None):
    """A constant of a number, a nested list, an array or a tensor."""
    if isinstance(value, native.NDArray) or hasattr(value, "numpy"):
        return Constant(value)
    import numpy

    array = numpy.array(value, dtype=dtype)
    if dtype is None:
        array = _narrow(array)
    return Constant(numpy.ascontiguousarray(array).reshape(array.shape))


def _narrow(array):
    """An array with 32 bits for the 64 that NumPy takes by default. Integers that need 64 bits keep them."""
    import numpy

    if array.dtype == numpy.float64:
        return array.astype("float32")
    if array.dtype == numpy.int64 and numpy.array_equal(array, array.astype("int32")):
        return array.astype("int32")
    return array


@node("Var")
class Var(Expr):
    """A variable."""

    __slots__ = ()

    @_newer.keywords
    def __new__(cls, name_hint, struct_info=None, type_annotation=None, span=None):
        del span
        # Before types had shapes, a variable had a shape and the type of a tensor.
        if isinstance(struct_info, (list, tuple, ShapeExpr)):
            if type_annotation is None:
                raise TypeError("expected a type for the variable, such as R.Tensor(shape, dtype)")
            struct_info = TensorStructInfo(struct_info, type_annotation.dtype)
        return make("DataflowVar" if cls is DataflowVar else "Var", name=name_hint, type=struct_info)

    name_hint = property(lambda self: self.name)

    vid = property(lambda self: self)

    def __str__(self):
        return self.name

    __repr__ = __str__


@node("DataflowVar")
class DataflowVar(Var):
    """A variable of a dataflow block."""

    __slots__ = ()


@node("ExternFunc")
class ExternFunc(BaseFunc):
    """A function outside of the module."""

    __slots__ = ()

    @_newer.keywords
    def __new__(cls, global_symbol, struct_info=None, span=None):
        del span
        if struct_info is None:
            struct_info = FuncStructInfo.opaque_func(ret=ObjectStructInfo(),
                                                     derive_func="tvm.relax.struct_info.infer_by_sinfo_args")
        return make("ExternFunc", global_symbol=global_symbol, type=struct_info)

    @_newer.keywords
    def __call__(self, *args, sinfo_args=None):
        return Call(self, list(args), sinfo_args=sinfo_args)


@node("Tuple")
class Tuple(Expr):
    """A tuple."""

    __slots__ = ()

    def __new__(cls, fields, span=None):
        del span
        return native.to_expr(tuple(fields))

    def __getitem__(self, index):
        if not -len(self) <= index < len(self):
            raise IndexError("Tuple index out of range")
        return self.fields[index]

    def __len__(self):
        return len(self.fields)

    def __iter__(self):
        return iter(self.fields)


_fields_of_tuple = vars(Tuple)["fields"]


@node("TupleGetItem")
class TupleGetItem(Expr):
    """A field of a tuple."""

    __slots__ = ()

    def __new__(cls, tuple_value, index, span=None):
        del span
        return native.tuple_get_item(tuple_value, index)

    @property
    def tuple_value(self):
        return self.tuple


@node("Call")
class Call(Expr):
    """A call: callee, arguments, attributes, explicit result types."""

    __slots__ = ()

    @_newer.keywords
    def __new__(cls, op, args, attrs=None, sinfo_args=None, span=None):
        del span
        types = None
        if sinfo_args is not None:
            sinfo_args = [sinfo_args] if isinstance(sinfo_args, StructInfo) else list(sinfo_args)
            types = TupleStructInfo(sinfo_args) if sinfo_args else None
        if isinstance(op, str):
            op = ir.Op.get(op)
        if isinstance(getattr(op, "type", None), (TensorStructInfo, ShapeStructInfo, TupleStructInfo, PrimStructInfo)):
            raise ValueError(f"only a function can be called, not a value of type {op.type}")
        return make("Call", op=op, args=list(args), attrs=attrs, type_args=types)

    @property
    def sinfo_args(self):
        return self.type_args.fields if self.type_args is not None else Array()

    ty_args = property(lambda self: self.sinfo_args)


def show_scalars_bare(bare):
    """Lets operands of calls and fields of tuples that are scalars be those of the loop level, as since TVM 0.26, or PrimValues."""
    def without_values(items):
        return Array(item.value if isinstance(item, PrimValue) else item for item in items)

    for cls, name, field in ((Call, "args", _args_of_call), (Tuple, "fields", _fields_of_tuple)):
        setattr(cls, name, property(lambda self, field=field: without_values(field.__get__(self))) if bare else field)


_args_of_call = vars(Call)["args"]


@node("ShapeExpr")
class ShapeExpr(Expr):
    """A shape."""

    __slots__ = ()

    def __new__(cls, values, span=None):
        del span
        return make("ShapeExpr", values=list(values))

    def __getitem__(self, index):
        if not isinstance(index, slice) and not -len(self) <= index < len(self):
            raise IndexError("ShapeExpr index out of range")
        return self.values[index]

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return iter(self.values)

    def __eq__(self, other):
        if isinstance(other, (list, tuple)):
            return len(self.values) == len(other) and all(bool(a == b) for a, b in zip(self.values, other))
        return Node.__eq__(self, other)

    __hash__ = Node.__hash__


def make_shape(shape):
    """The shape of a list of sizes."""
    if isinstance(shape, (list, tuple)):
        return ShapeExpr(shape)
    raise TypeError(f"make_shape expects a list or tuple of shape values, but received type {type(shape).__name__}")


@node("PrimValue")
class PrimValue(Expr):
    """A scalar as an expression."""

    __slots__ = ()

    def __new__(cls, value, span=None):
        del span
        require(value=value)
        if type(value) is int:
            return native.to_expr(value)
        return make("PrimValue", value=value if isinstance(value, Node) else _tir.convert(value, "int64"))


@node("StringImm")
class StringImm(Expr):
    """A text as an expression."""

    __slots__ = ()

    def __new__(cls, value, span=None):
        del span
        require(value=value)
        return native.to_expr(value)


@node("DataTypeImm")
class DataTypeImm(Expr):
    """A dtype as an expression."""

    __slots__ = ()

    def __new__(cls, value, span=None):
        del span
        return make("DataTypeImm", value=value, type=ObjectStructInfo())


@node("If")
class If(Expr):
    """A conditional."""

    __slots__ = ()

    def __new__(cls, cond, true_branch, false_branch, span=None):
        del span
        branches = [branch if branch is None or isinstance(branch, SeqExpr) else SeqExpr([], branch)
                    for branch in (true_branch, false_branch)]
        return make("If", cond=cond, true_branch=branches[0], false_branch=branches[1])


class Binding(Part):
    """A variable and its value."""

    __slots__ = ()
    var: Var


@node("VarBinding")
class VarBinding(Binding):
    """The binding of a variable to the value of an expression."""

    __slots__ = ()

    def __new__(cls, var, value, span=None):
        del span
        return make("VarBinding", var=var, value=value)


@node("MatchCast")
class MatchCast(Binding):
    """The binding of a variable to a value that is checked to have a type."""

    __slots__ = ()

    @_newer.keywords
    def __new__(cls, var, value, struct_info, span=None):
        del span
        return make("MatchCast", var=var, value=value, match_type=struct_info)

    struct_info = ty = property(lambda self: self.match_type)


@node("BindingBlock")
class BindingBlock(Part):
    """Bindings one after another."""

    __slots__ = ()

    def __new__(cls, bindings, span=None):
        del span
        return make("DataflowBlock" if cls is DataflowBlock else "BindingBlock", bindings=list(bindings))


@node("DataflowBlock")
class DataflowBlock(BindingBlock):
    """A block without effects and control flow."""

    __slots__ = ()


@node("SeqExpr")
class SeqExpr(Expr):
    """Blocks, and the value after them."""

    __slots__ = ()

    def __new__(cls, blocks, body, span=None):
        del span
        require(blocks=blocks, body=body)
        body = native.to_expr(body) if isinstance(body, (list, tuple)) else body
        return make("SeqExpr", blocks=list(blocks), body=body, type=body.type)


def _is_more_exact(info, base, params):
    """Returns whether a type says more than another one, with symbolic variables of the parameters only."""
    if info is None or base is None or not native.is_base_of(base, info):
        return False
    known = {var for param in params if param.type is not None for var in native.defined_sym_vars(param.type)}
    return all(var in known for var in native.defined_sym_vars(info))


@node("Function")
class Function(BaseFunc):
    """A function of Relax."""

    __slots__ = ()

    @_newer.keywords
    def __new__(cls, params, body, ret_struct_info=None, is_pure=True, attrs=None, span=None):
        del span
        if not isinstance(body, SeqExpr):
            body = SeqExpr([], body)
        ret = ret_struct_info or body.type
        if _is_more_exact(body.type, ret, params):
            ret = body.type
        known = ret is not None and all(param.type is not None for param in params)
        info = FuncStructInfo([param.type for param in params], ret, is_pure) if known else None
        return make("Function", params=list(params), body=body, ret_type=ret, is_pure=bool(is_pure),
                    attrs=dict(attrs.items()) if attrs else None, type=info)

    ret_struct_info = ret_ty = property(lambda self: self.ret_type)

    @staticmethod
    @_newer.keywords
    def create_empty(params, ret_struct_info, is_pure=True, attrs=None, span=None):
        del span
        return make("Function", params=list(params), body=None, ret_type=ret_struct_info, is_pure=is_pure,
                    attrs=attrs, type=FuncStructInfo([param.type for param in params], ret_struct_info, is_pure))

    def bind_symbolic_vars(self, binding_map):
        from . import utils

        return utils.bind_function(self, {}, binding_map)

    def inline_functions(self, function_map):
        """The function with the bodies of others where it calls them: {name or GlobalVar: function}."""
        from . import utils

        return utils.inline_functions(self, function_map)

    def bind_params(self, binding_map):
        from . import utils

        return utils.bind_function(self, binding_map, {})


PrimExpr = _tir.PrimExpr


def get_shape_of(expr):
    """The shape of a tensor as an expression: a call of shape_of if its type does not know it."""
    info = expr.struct_info
    if isinstance(info, TensorStructInfo):
        return info.shape if info.shape is not None else make("Call", op=ir.Op.get("relax.shape_of"), args=[expr])
    if isinstance(info, ShapeStructInfo):
        return None if not info.known else ShapeExpr(info.values)
    return None


@_newer.keywords
def extern(name, struct_info=None):
    return ExternFunc(name, struct_info)


def convert_to_expr(value):
    return value if isinstance(value, Node) else native.to_expr(value)


class _Typed:
    """What the name of a function knows of it if only the type is given."""

    def __init__(self, struct_info):
        self.struct_info = struct_info


def _update_struct_info(expr, struct_info):
    """Sets the type that the name of a function knows. Other nodes have their types from the beginning."""
    if not isinstance(expr, GlobalVar):
        raise NotImplementedError(f"the type of {type(expr).__name__} can't be changed: nodes stay as they are")
    expr._function = _Typed(struct_info)


_newer.add_names("relax.expr", globals())

"""Tensors, parameters and modules of models that are written in Python.

A model is run once on symbolic tensors while it is exported: each operator adds a binding to the function that is built.
"""
import collections

from ... import ObjectStructInfo, TensorStructInfo, Var, const
from ...block_builder import BlockBuilder, current_builder
from ...expr import TensorDType
from .... import runtime, tir
from ...._core import native
from ._tensor_op import _TensorOp
from .subroutine import SubroutineMixin

_default_dtype = ["float32"]


def get_default_dtype():
    """The dtype of parameters that are made without one."""
    return _default_dtype[0]


def set_default_dtype(dtype):
    """Sets the dtype of parameters that are made without one."""
    _default_dtype[0] = dtype


class Tensor(_TensorOp):
    """An expression of Relax whose type has a shape and a dtype; it has no value while a model is exported."""

    def __init__(self, *, _expr):
        native.tensor_dtype(_expr)  # an error if it has none
        self._expr = _expr

    @staticmethod
    def from_const(data):
        """The constant of an array, a tensor or a list."""
        return Tensor(_expr=const(data))

    @staticmethod
    def from_scalar(data, dtype):
        """The constant of a number with a dtype."""
        return Tensor(_expr=const(data, dtype=dtype))

    @staticmethod
    def from_struct_info(struct_info, name="tensor"):
        """A new variable with a type."""
        return Tensor(_expr=Var(name, struct_info))

    from_ty = from_struct_info

    @staticmethod
    def placeholder(shape, dtype, name="tensor"):
        """A new variable with a shape, in which a text is a new symbolic size of this name, and a dtype."""
        return Tensor(_expr=_variable(shape, dtype, name))

    @property
    def shape(self):
        """The sizes as a list: integers, and expressions of sizes that are not known."""
        return native.tensor_shape(self._expr)

    @property
    def ndim(self):
        """The number of dimensions."""
        return len(native.tensor_shape(self._expr))

    @property
    def dtype(self):
        """The dtype of the elements."""
        return TensorDType(native.tensor_dtype(self._expr))

    def __repr__(self):
        return f'{type(self).__name__}({self.shape}, "{self.dtype}")'


def _variable(shape, dtype, name):
    sizes = [_size(size) for size in shape]
    try:
        return native.tensor_var(name, sizes, dtype)
    except TypeError:
        return Var(name, TensorStructInfo(sizes, dtype))  # which says what is wrong


def _size(size):
    if type(size) is int and size >= 0:  # nearly all are
        return size
    if isinstance(size, str):
        return tir.Var(size, "int64")
    if isinstance(size, tir.IntImm):
        size = int(size.value)
    if isinstance(size, int) and size < 0:
        raise ValueError(f"a dimension cannot be {size}")
    if isinstance(size, tir.PrimExpr) and size.dtype != "int64":
        raise ValueError(f"the dimension {size} is of dtype {size.dtype}, not int64")
    if not isinstance(size, (int, tir.PrimExpr)):
        raise TypeError(f"a dimension is an integer, a text or an expression, not {type(size).__name__}")
    return size


class Parameter(Tensor):
    """A weight: it becomes a parameter of the functions that are exported. It may have a value (`data`)."""

    def __init__(self, shape, dtype=None):
        self._expr = _variable(shape, dtype or get_default_dtype(), "param")
        self._data = None
        self.attrs = collections.OrderedDict()

    @property
    def data(self):
        """The value as an NDArray, or None."""
        return self._data

    @data.setter
    def data(self, data):
        if data is not None:
            data = _ndarray(data)
            if tuple(data.shape) != tuple(self.shape):
                raise ValueError(f"Shape mismatch: expected {tuple(self.shape)}, got {tuple(data.shape)}")
            if str(data.dtype) != self.dtype:
                raise ValueError(f"Dtype mismatch: expected {self.dtype}, got {data.dtype}")
        self._data = data

    def to(self, dtype=None):
        """Changes the dtype of a parameter that has no value."""
        if dtype is None:
            return
        if self._data is not None:
            raise ValueError("the dtype of a parameter that has a value cannot be changed")
        self._expr = _variable(self.shape, dtype, "param")


def _ndarray(data):
    import numpy

    if isinstance(data, runtime.NDArray):
        return data
    if isinstance(data, numpy.ndarray):
        return runtime.array(data)
    if hasattr(data, "__dlpack__"):
        return runtime.array(numpy.from_dlpack(data))
    raise TypeError(f"Unsupported data type: {type(data)}")


class Object:
    """A value that is not a tensor, such as the cache of an attention."""

    def __init__(self, *, _expr, _name):
        if not isinstance(_expr, Var):
            _expr = BlockBuilder.current().emit(_expr, _name)
        if not isinstance(_expr.struct_info, ObjectStructInfo):
            raise TypeError(f"expected an expression of an object, not of type {_expr.struct_info.script()}")
        self._expr = _expr


class Effect:
    """State that functions read and change: it is one more parameter and one more result of each function."""

    def emit_init(self, name_hint, builder):
        """Adds bindings that make the state at the start; returns their variables."""
        raise NotImplementedError

    def create(self, name_hint):
        """Returns the variables that are parameters of a function."""
        raise NotImplementedError

    def set_state(self, state_vars):
        """Goes on from the given variables."""
        raise NotImplementedError

    def finalize(self):
        """Returns the variables that are results of a function."""
        raise NotImplementedError

    def to(self, dtype=None):
        """Changes the dtype, where there is one."""


class Module(SubroutineMixin):
    """A part of a model. A subclass has parameters and other modules as attributes, and `forward` as its function."""

    def named_parameters(self, prefix=""):
        """The names and parameters of this module and those in it, in the order of attributes."""
        return iter(_Attributes(self, prefix, Parameter).find())

    def _nn_items(self):
        """What it has: the dictionary of its attributes, or its list or dictionary of modules or parameters."""
        return vars(self)

    def parameters(self):
        """The parameters of this module and those in it."""
        return (param for _, param in self.named_parameters())

    def state_dict(self, *, prefix="", destination=None):
        """The parameters by their names, in `destination` or a new dictionary."""
        destination = collections.OrderedDict() if destination is None else destination
        destination.update(self.named_parameters(prefix))
        return destination

    def load_state_dict(self, state_dict, strict=True):
        """Gives parameters the values of those of a dictionary.

        Returns the names that the dictionary lacks and those that the module lacks; if `strict`, such are a KeyError.
        """
        own = self.state_dict()
        unexpected = [key for key in state_dict if key not in own]
        for key, value in state_dict.items():
            if key in own:
                if value.data is None:
                    raise ValueError(f"Parameter {key} is not set to any concrete tensor")
                own.pop(key).data = value.data
        if strict and (own or unexpected):
            raise KeyError(f"Missing keys: {list(own)}, Unexpected keys: {unexpected}")
        return list(own), unexpected

    def __call__(self, *args, **kwargs):
        try:
            forward = self.forward
        except AttributeError:
            raise NotImplementedError(f"Module {type(self)} does not have a `forward` method") from None
        return forward(*args, **kwargs)

    def to(self, dtype=None):
        """Changes the dtype of all parameters and effects."""
        for item in vars(self).values():
            if callable(getattr(item, "to", None)):
                item.to(dtype=dtype)
        if dtype is not None and isinstance(getattr(self, "dtype", None), str):
            self.dtype = dtype

    def export_tvm(self, spec, debug=False, allow_extern=False):
        """Makes a module of Relax.

        spec: for each method its arguments, {"forward": {"x": spec.Tensor(["n", 8], "float32")}}.
        debug: whether printing is possible; functions then have one more parameter and result.
        Returns the module and the list of names and parameters; if `allow_extern`, also the external modules.
        """
        from .exporter import Exporter
        from .spec import ModuleSpec

        mod, params, externs = Exporter(debug=debug).build(ModuleSpec.from_raw(spec, self))
        if allow_extern:
            return mod, params, externs
        if externs:
            raise ValueError("the model uses external modules: allow_extern=True returns them, too")
        return mod, params

    def jit(self, spec, device="cpu", pipeline="default_build", out_format="torch", debug=False):
        """Exports the module, and returns its methods as functions: `jit(spec, out_format="tvm")["forward"](x)`.

        out_format: "torch" for functions of tensors of PyTorch, "tvm" for functions of NDArrays.
        """
        from .running import RunningModule

        del device, pipeline
        if out_format not in ("torch", "tvm"):
            raise ValueError(f"Unknown out_format: {out_format}")
        return RunningModule(self, spec, debug, out_format)


class ModuleList(Module):
    """Modules in a list; called, each gets the result of the one before."""

    def __init__(self, modules):
        self.modules = modules

    def _nn_items(self):
        return self.modules

    def __iter__(self):
        return iter(self.modules)

    def __getitem__(self, index):
        return self.modules[index]

    def __setitem__(self, index, module):
        self.modules[index] = module

    def __len__(self):
        return len(self.modules)

    def append(self, module):
        """Adds a module at the end."""
        self.modules.append(module)

    def to(self, dtype=None):
        for module in self.modules:
            module.to(dtype=dtype)

    def forward(self, x):
        for module in self.modules:
            x = module(x)
        return x


class Sequential(ModuleList):
    """Modules one after another: `Sequential(first, second)`, or of a list."""

    def __init__(self, *modules):
        super().__init__(list(modules[0]) if len(modules) == 1 and isinstance(modules[0], (list, tuple)) else list(modules))


class ParameterList(Module):
    """Parameters in a list."""

    def __init__(self, params=None):
        self.params = list(params or [])

    def _nn_items(self):
        return self.params

    def __iter__(self):
        return iter(self.params)

    def __getitem__(self, index):
        return self.params[index]

    def __setitem__(self, index, param):
        self.params[index] = _parameter(param)

    def __len__(self):
        return len(self.params)

    def append(self, param):
        """Adds a parameter at the end."""
        self.params.append(_parameter(param))

    def extend(self, params):
        """Adds parameters at the end."""
        for param in params:
            self.append(param)

    def to(self, dtype=None):
        for param in self.params:
            param.to(dtype=dtype)


def _parameter(value):
    if not isinstance(value, Parameter):
        raise TypeError(f"expected a Parameter, not {type(value).__name__}")
    return value


class _Dict(Module):
    """What dictionaries of modules and of parameters have in common."""

    def __init__(self, items=None):
        self._items = collections.OrderedDict()
        self.update(items or {})

    def _nn_items(self):
        return self._items

    def __iter__(self):
        return iter(self._items)

    def __getitem__(self, key):
        return self._items[key]

    def __setitem__(self, key, value):
        self._items[key] = self._checked(value)

    def __len__(self):
        return len(self._items)

    def __contains__(self, key):
        return key in self._items

    def keys(self):
        """The names."""
        return self._items.keys()

    def values(self):
        """The values."""
        return self._items.values()

    def items(self):
        """Pairs of a name and a value."""
        return self._items.items()

    def get(self, key, default=None):
        """The value of a name, or `default`."""
        return self._items.get(key, default)

    def update(self, items):
        """Adds what another dictionary has."""
        for key, value in items.items():
            self[key] = value

    def clear(self):
        """Removes all."""
        self._items.clear()

    def pop(self, key):
        """Removes a name, and returns its value."""
        return self._items.pop(key)

    def to(self, dtype=None):
        for value in self._items.values():
            value.to(dtype=dtype)

    def _checked(self, value):
        return value


class ModuleDict(_Dict):
    """Modules by their names."""

    modules = property(lambda self: self._items)


class ParameterDict(_Dict):
    """Parameters by their names."""

    params = property(lambda self: self._items)

    def _checked(self, value):
        return _parameter(value)


def wrap_nested(expr, name):
    """Binds an expression in the function that is built.

    Returns its tensor, or for an expression of a tuple the tuple of its fields.
    """
    return native.emit_tensors(current_builder(), expr, name, Tensor)


def bind_op(operator, name, /, *args, **keywords):
    """Binds a call of an operator of Relax as wrap_nested does."""
    return native.emit_op(current_builder(), operator, args, keywords, name, Tensor)


def _children(root):
    """The items of a module, or attributes of an effect, with their names or indices."""
    items = root._nn_items() if isinstance(root, Module) else vars(root)
    return list(items.items() if isinstance(items, dict) else enumerate(items))


class _Attributes:
    """The names and values of attributes that are of a class, of a module and those in it."""

    def __init__(self, root, prefix, wanted):
        self._root, self._prefix, self._wanted = root, prefix, wanted
        self._found = None

    def find(self):
        """All, which are looked for again only where attributes have changed."""
        if self._found is None or self._have_changed():
            self._found, self._seen, self._before = [], [], []
            self._add(self._root, self._prefix)
        return self._found

    def _have_changed(self):
        try:
            return self._seen != self._before
        except Exception:  # pylint: disable=broad-except
            # Values of classes that cannot be compared, such as arrays, were replaced.
            return True

    def _add(self, root, prefix):
        items, own = root._nn_items(), vars(root)
        for seen in (own,) if items is own else (own, items):
            self._seen.append(seen)
            self._before.append(seen.copy())
        for name, item in _children(root):
            if type(item) in _LEAVES:
                continue
            if isinstance(item, self._wanted):
                self._found.append((f"{prefix}{name}", item))
            elif isinstance(item, Module):
                self._add(item, f"{prefix}{name}.")


# Classes of most attributes that are not looked for.
_LEAVES = frozenset({bool, float, int, str, type(None)})

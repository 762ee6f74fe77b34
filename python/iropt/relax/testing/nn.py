"""Small networks that are built in the current block builder."""
from ... import topi
from ..block_builder import BlockBuilder
from ..expr import ShapeExpr, TensorStructInfo, Var
from ..frontend.nn.subroutine import SubroutineMixin
from ._checkpoint import checkpoint, emit_checkpoint, emit_checkpoint_sequential  # noqa: F401


def emit(expr, name_hint=""):
    """Binds a new variable to an expression in the current builder."""
    return BlockBuilder.current().emit(expr, name_hint=name_hint)


def emit_te(func, *args, **kwargs):
    """Binds a new variable to a call of what a function on tensors computes, in the current builder."""
    return BlockBuilder.current().emit_te(func, *args, **kwargs)


def _tensor_var(cls, shape, dtype, name):
    if not isinstance(shape, (list, tuple)):
        raise TypeError(f"the shape of {cls.__name__} is expected to be a list or a tuple")
    builder = BlockBuilder.current()
    made = Var(name if builder is None else builder.get_unique_name(name), TensorStructInfo(shape, dtype))
    made.__class__ = cls
    return made


class Placeholder(Var):
    """A new variable for an input."""

    __slots__ = ()

    def __new__(cls, shape, dtype="float32", name="data"):
        return _tensor_var(cls, shape, dtype, name)


class Parameter(Var):
    """A new variable for a parameter, which the module that has it as an attribute lists."""

    __slots__ = ()

    def __new__(cls, shape, dtype="float32", name="param"):
        return _tensor_var(cls, shape, dtype, name)


def _parameters_of(value):
    if isinstance(value, Parameter):
        return [value]
    if isinstance(value, Module):
        return value.parameters()
    if isinstance(value, dict):
        value = list(value.values())
    return [item for part in value for item in _parameters_of(part)] if isinstance(value, (list, tuple)) else []


class Module(SubroutineMixin):
    """A layer. With `define_subroutine` a call of it is a call of a function of the module, else its bindings."""

    define_subroutine = False

    def parameters(self):
        """The parameters that it and its layers have, in the order of the attributes."""
        return _parameters_of(self.__dict__)

    def forward(self, input):  # pylint: disable=redefined-builtin
        raise NotImplementedError

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)


def init_params(mod):
    """Zeros for the parameters of `main` whose names do not begin with "data"."""
    import numpy

    from ...runtime import array

    params = []
    for param in mod["main"].params:
        if param.name_hint.startswith("data"):
            continue
        shape = param.struct_info.shape
        if not isinstance(shape, ShapeExpr) or not all(hasattr(dim, "value") for dim in shape):
            raise TypeError("cannot initialize for unknown-shape parameters.")
        params.append(array(numpy.zeros([int(dim) for dim in shape], "float32")))
    return params


class Sequential(Module):
    """Layers one after another."""

    def __init__(self, *modules):
        self.modules = modules

    def forward(self, input):  # pylint: disable=redefined-builtin
        for module in self.modules:
            input = module(input)
        return input


class ReLU(Module):
    def forward(self, input):  # pylint: disable=redefined-builtin
        return emit_te(topi.nn.relu, input)


class LogSoftmax(Module):
    def forward(self, input):  # pylint: disable=redefined-builtin
        return emit_te(topi.nn.log_softmax, input)


class Linear(Module):
    """The product with a weight, and a bias if it has one."""

    def __init__(self, in_features, out_features, bias=True):
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter((in_features, out_features), name="linear_weight")
        self.bias = Parameter((out_features,), name="linear_bias") if bias else None

    def forward(self, input):  # pylint: disable=redefined-builtin
        product = emit_te(topi.matmul, input, self.weight)
        return product if self.bias is None else emit_te(topi.add, product, self.bias)

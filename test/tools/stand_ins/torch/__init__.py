"""A small stand-in for PyTorch over NumPy, for programs that only load data, trace small models, and compare results."""
import contextlib
import types

import numpy as np

float32, float16, int32, int64 = (getattr(np, name) for name in ("float32", "float16", "int32", "int64"))


class Tensor:
    """An array of NumPy with the methods of a tensor."""

    def __init__(self, data=(), dtype=None):
        if isinstance(data, Tensor):
            data = data.array
        self.array = np.asarray(data, dtype or (None if isinstance(data, np.ndarray) else "float32"))

    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: self.array.dtype)
    T = property(lambda self: Tensor(self.array.T))

    @property
    def data(self):
        return self

    @data.setter
    def data(self, value):
        self.array = value.array

    def numpy(self):
        return self.array

    def _same(self, *_args, **_kwargs):
        return self

    detach = cpu = eval = contiguous = requires_grad_ = _same

    def reshape(self, *shape):
        return Tensor(self.array.reshape(*shape))

    view = reshape

    def view_as(self, other):
        return self.reshape(other.shape)

    def flatten(self, start_dim=0):
        return call("flatten", self, start_dim)

    def _reduce(self, name, dim, keepdim):
        return Tensor(np.asarray(getattr(self.array, name)(axis=dim, keepdims=keepdim)))

    def sum(self, dim=None, keepdim=False):
        return self._reduce("sum", dim, keepdim)

    def mean(self, dim=None, keepdim=False):
        return self._reduce("mean", dim, keepdim)

    def min(self, dim=None, keepdim=False):
        return self._reduce("min", dim, keepdim)

    def max(self, dim=None, keepdim=False):
        return self._reduce("max", dim, keepdim)

    def argmax(self, dim=None, keepdim=False):
        return Tensor(np.asarray(self.array.argmax(axis=dim, keepdims=keepdim)))

    def eq(self, other):
        return Tensor(self.array == other.array)

    def item(self):
        return self.array.item()

    def __array__(self, dtype=None):
        return self.array if dtype is None else self.array.astype(dtype)

    def __dlpack__(self, **_):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __getitem__(self, index):
        return Tensor(np.asarray(self.array[_plain(index)]))

    def __index__(self):
        return int(self.array)

    def __len__(self):
        return len(self.array)

    def __iter__(self):
        return (Tensor(np.asarray(row)) for row in self.array)

    def __float__(self):
        return float(self.array)

    def __format__(self, form):
        return format(self.array.item() if form else str(self.array), form)

    def __repr__(self):
        return f"tensor({self.array})"

    def __add__(self, other):
        return call("add", self, other)

    __radd__ = __add__

    def __mul__(self, other):
        return call("mul", self, other)

    __rmul__ = __mul__

    def __sub__(self, other):
        return Tensor(self.array - _plain(other))

    def __truediv__(self, other):
        return Tensor(self.array / _plain(other))

    def __matmul__(self, other):
        return call("matmul", self, other)


def _plain(value):
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    return value.array if isinstance(value, Tensor) else value


# ---- Operators: what each computes with arrays. A value that is traced makes a node of a graph of the call.


def _conv2d(x, weight, bias=None, stride=1, padding=0, *_):
    stride, padding = _pair(stride), _pair(padding)
    x = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    windows = np.lib.stride_tricks.sliding_window_view(x, weight.shape[2:], (2, 3))[:, :, ::stride[0], ::stride[1]]
    result = np.einsum("nchwij,ocij->nohw", windows, weight, optimize=True)
    return result if bias is None else result + bias.reshape(1, -1, 1, 1)


def _max_pool2d(x, size, stride=None, padding=0, *_):
    size, padding = _pair(size), _pair(padding)
    stride = _pair(stride if stride else size)
    x = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2), constant_values=-np.inf)
    return np.lib.stride_tricks.sliding_window_view(x, size, (2, 3))[:, :, ::stride[0], ::stride[1]].max((4, 5))


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def _batch_norm(x, weight, bias, mean, var, training=False, momentum=0.1, eps=1e-5, *_):
    row = (1, -1, 1, 1)
    return (x - mean.reshape(row)) / np.sqrt(var.reshape(row) + eps) * weight.reshape(row) + bias.reshape(row)


def _softmax(x, dim=-1, *_):
    shifted = np.exp(x - x.max(axis=dim, keepdims=True))
    return shifted / shifted.sum(axis=dim, keepdims=True)


def _layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5, *_):
    axes = tuple(range(-len(normalized_shape), 0))
    result = (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(x.var(axis=axes, keepdims=True) + eps)
    result = result if weight is None else result * weight
    return result if bias is None else result + bias


COMPUTE = {
    "add": lambda a, b, *_: a + b,
    "mul": lambda a, b: a * b,
    "matmul": lambda a, b: a @ b,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "linear": lambda x, weight, bias=None: x @ weight.T + (0 if bias is None else bias),
    "flatten": lambda x, start=0, end=-1: x.reshape(*x.shape[:start], -1),
    "conv2d": _conv2d,
    "max_pool2d": _max_pool2d,
    "adaptive_avg_pool2d": lambda x, size: x.mean((2, 3), keepdims=True),
    "batch_norm": _batch_norm,
    "softmax": _softmax,
    "layer_norm": _layer_norm,
}


def call(name, *args):
    """Calls an operator: with arrays, or for a trace if an argument is traced."""
    from . import fx

    for arg in args:
        if isinstance(arg, fx.Proxy):
            return arg.tracer.call(name, args)
    return Tensor(np.asarray(COMPUTE[name](*(_plain(arg) for arg in args))).astype(_dtype_of(args)))


def _dtype_of(args):
    return next(arg.array.dtype for arg in args if isinstance(arg, Tensor))


def relu(x):
    return call("relu", x)


def sigmoid(x):
    return call("sigmoid", x)


def matmul(a, b):
    return call("matmul", a, b)


def _into(function):
    def apply(a, b, out=None):
        result = function(a.array, b.array)
        if out is None:
            return Tensor(result)
        out.array[...] = result
        return out

    return apply


mm, add, maximum = _into(np.matmul), _into(np.add), _into(np.maximum)


def randn(*shape, dtype=float32):
    return Tensor(np.random.randn(*shape).astype(dtype))


def ones(*shape, dtype=float32):
    return Tensor(np.ones(shape, dtype))


def tensor(data, dtype=None):
    return Tensor(data, dtype)


def from_numpy(array):
    return Tensor(array)


def from_dlpack(source):
    """A tensor in the memory of another library's, which has a buffer. What numpy.from_dlpack returns can't be written to."""
    return Tensor(np.asarray(source))


def allclose(a, b, rtol=1e-5, atol=1e-8):
    return np.allclose(a.array, b.array, rtol, atol)


def no_grad():
    return contextlib.nullcontext()


def device(name):
    return name


cuda = types.SimpleNamespace(is_available=lambda: False)

from . import export, fx, nn, utils  # noqa: E402,F401

"""Modules of the stand-in for PyTorch."""
import numpy as np

from .. import Tensor, call
from . import functional  # noqa: F401


class Parameter(Tensor):
    """A weight."""


def _weight(*shape):
    return Parameter(np.random.uniform(-1, 1, shape).astype("float32") / np.sqrt(max(np.prod(shape[1:]), 1)))


class Module:
    """A module: its fields that are parameters, arrays of numbers or modules are its parts."""

    training = False

    def __init__(self):
        pass

    def __call__(self, *args):
        return self.forward(*args)

    def eval(self):
        return self

    cpu = eval

    def named_children(self):
        return [(name, value) for name, value in self.__dict__.items() if isinstance(value, Module)]

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, child in self.named_children():
            yield from child.named_modules(f"{prefix}.{name}" if prefix else name)

    def named_tensors(self, kind):
        """The parameters (of the class Parameter) or the buffers (tensors of another class) with their paths."""
        for prefix, module in self.named_modules():
            for name, value in module.__dict__.items():
                if isinstance(value, Tensor) and isinstance(value, Parameter) == (kind == "parameter"):
                    yield (f"{prefix}.{name}" if prefix else name), value

    def named_parameters(self):
        return self.named_tensors("parameter")

    def parameters(self):
        return [value for _, value in self.named_parameters()]

    def children(self):
        return [child for _, child in self.named_children()]


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _weight(out_features, in_features)
        self.bias = _weight(out_features) if bias else None

    def forward(self, x):
        return call("linear", x, self.weight, *([] if self.bias is None else [self.bias]))


class Conv2d(Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, bias=True):
        size = kernel_size if isinstance(kernel_size, tuple) else (kernel_size, kernel_size)
        self.stride, self.padding = [stride, stride], [padding, padding]
        self.weight = _weight(out_channels, in_channels, *size)
        self.bias = _weight(out_channels) if bias else None

    def forward(self, x):
        return call("conv2d", x, self.weight, self.bias, self.stride, self.padding)


class BatchNorm2d(Module):
    def __init__(self, num_features):
        self.weight, self.bias = Parameter(np.ones(num_features, "float32")), _weight(num_features)
        self.running_mean = Tensor(np.random.randn(num_features).astype("float32"))
        self.running_var = Tensor(np.random.uniform(0.5, 2, num_features).astype("float32"))

    def forward(self, x):
        return call("batch_norm", x, self.weight, self.bias, self.running_mean, self.running_var, False, 0.1, 1e-5, True)


class ReLU(Module):
    def __init__(self, inplace=False):
        del inplace

    def forward(self, x):
        return call("relu", x)


class Softmax(Module):
    def __init__(self, dim):
        self.dim = dim

    def forward(self, x):
        return call("softmax", x, self.dim)


class Flatten(Module):
    def forward(self, x):
        return call("flatten", x, 1)


class MaxPool2d(Module):
    def __init__(self, kernel_size, stride=None, padding=0):
        self.size, self.stride, self.padding = kernel_size, stride, padding

    def forward(self, x):
        pair = [self.size, self.size] if isinstance(self.size, int) else list(self.size)
        stride = pair if self.stride is None else [self.stride, self.stride]
        return call("max_pool2d", x, pair, stride, [self.padding, self.padding])


class AdaptiveAvgPool2d(Module):
    def __init__(self, output_size):
        self.size = list(output_size)

    def forward(self, x):
        return call("adaptive_avg_pool2d", x, self.size)


class Sequential(Module):
    def __init__(self, *modules):
        self.__dict__.update({str(index): module for index, module in enumerate(modules)})

    def forward(self, x):
        for child in self.children():
            x = child(x)
        return x

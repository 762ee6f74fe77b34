"""Functions of the stand-in for PyTorch."""
from .. import Tensor, call


def relu(x):
    return call("relu", x if isinstance(x, Tensor) else Tensor(x.numpy()))


def softmax(x, dim=-1):
    return call("softmax", x, dim)


def layer_norm(x, normalized_shape):
    return call("layer_norm", x, list(normalized_shape))


def nll_loss(output, label, reduction="mean"):
    picked = -output.array[range(len(label)), label.array]
    return Tensor(picked.sum() if reduction == "sum" else picked.mean())

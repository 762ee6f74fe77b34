"""Functions on tensors by the names of TVM's topi, as operators of Relax: what `BlockBuilder.emit_te` takes."""
from . import relax as _relax

_op = _relax.op

_SAME = ("abs acos acosh add asin asinh atan atanh broadcast_to ceil clip cos cosh divide erf exp floor full full_like left_shift "
         "log maximum minimum multiply negative power right_shift round rsqrt sigmoid sign sin sinh sqrt subtract tan tanh "
         "matmul sum max min prod argmax argmin where take tile repeat flip cumsum").split()


def _same(name):
    def function(*args, **kwargs):
        kwargs.pop("name", None)
        return getattr(_op, name)(*args, **kwargs)

    function.__name__ = name
    return function


for _name in _SAME:
    globals()[_name] = _same(_name)


def identity(x):
    raise NotImplementedError("topi.identity is not an operator of Relax")


def squeeze(a, axis=None):
    return _op.squeeze(a, [axis] if isinstance(axis, int) else axis)


def concatenate(a_tuple, axis=0):
    return _op.concat(tuple(a_tuple), axis)


def transpose(a, axes=None):
    return _op.permute_dims(a, axes)


def split(ary, indices_or_sections, axis=0):
    return _op.split(ary, indices_or_sections, axis)


def cast(x, dtype):
    return _op.astype(x, dtype)


def reshape(a, newshape):
    return _op.reshape(a, tuple(newshape))


def trilu(data, k, upper):
    return _op.triu(data, k) if upper else _op.tril(data, k)


class nn:  # pylint: disable=invalid-name
    """Functions of neural networks."""

    @staticmethod
    def relu(x):
        return _op.nn.relu(x)

    @staticmethod
    def upsampling(data, scale_h, scale_w, layout="NCHW", method="nearest_neighbor", align_corners=False):
        raise NotImplementedError("topi.nn.upsampling is not an operator of Relax")

    @staticmethod
    def dense(data, weight, bias=None, out_dtype=None):
        raise NotImplementedError("topi.nn.dense is not an operator of Relax")

    @staticmethod
    def softmax(x, axis=-1):
        return _op.nn.softmax(x, axis)

    @staticmethod
    def conv2d(data, kernel, strides=1, padding=0, dilation=1, data_layout="NCHW", kernel_layout="", out_dtype=None):
        kernel_layout = {"": "OIHW" if data_layout == "NCHW" else "HWIO"}.get(kernel_layout, kernel_layout)
        return _op.nn.conv2d(data, kernel, strides=strides, padding=padding, dilation=dilation, data_layout=data_layout,
                             kernel_layout=kernel_layout, **({} if out_dtype is None else {"out_dtype": out_dtype}))

    @staticmethod
    def pool2d(data, kernel, stride, dilation, padding, pool_type, ceil_mode=False, layout="NCHW",
               count_include_pad=True):
        options = {"pool_size": list(kernel), "strides": list(stride), "dilation": list(dilation), "padding": list(padding),
                   "ceil_mode": ceil_mode, "layout": layout}
        if pool_type == "max":
            return _op.nn.max_pool2d(data, **options)
        return _op.nn.avg_pool2d(data, count_include_pad=count_include_pad, **options)


_nn = nn

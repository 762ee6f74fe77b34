"""The operators of Relax that functions on tensors are in scripts, where R.emit_te(function, ...) is read as one."""
from .. import relax as _relax

_op = _relax.op


def _squeeze(a, axis=None):
    return _op.squeeze(a, [axis] if isinstance(axis, int) else axis)


def _trilu(data, k, upper):
    return _op.triu(data, k) if upper else _op.tril(data, k)


def _conv2d(data, kernel, strides=1, padding=0, dilation=1, data_layout="NCHW", kernel_layout="", out_dtype=None):
    return _op.nn.conv2d(data, kernel, strides, padding, dilation, data_layout=data_layout,
                         kernel_layout=kernel_layout or "OIHW", out_dtype=out_dtype or "void")


# Those whose parameters differ; others are operators of the same name.
_OTHERS = {
    "squeeze": _squeeze,
    "concatenate": lambda a_tuple, axis=0: _op.concat(tuple(a_tuple), axis),
    "transpose": lambda a, axes=None: _op.permute_dims(a, axes),
    "cast": lambda x, dtype: _op.astype(x, dtype),
    "reshape": lambda a, newshape: _op.reshape(a, tuple(newshape)),
    "trilu": _trilu,
    "nn.relu": lambda x: _op.nn.relu(x),
    "nn.softmax": lambda x, axis=-1: _op.nn.softmax(x, axis),
    "nn.conv2d": _conv2d,
}


def call(name, *args, **kwargs):
    """The call of the operator of Relax that computes what the function does."""
    if name is None:
        raise NotImplementedError("this function is not an operator of Relax, which R.emit_te of a script needs")
    kwargs.pop("name", None)
    if name in _OTHERS:
        return _OTHERS[name](*args, **kwargs)
    return getattr(_op, name)(*args, **kwargs)

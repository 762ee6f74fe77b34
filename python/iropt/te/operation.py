"""Functions that make tensors, and variables for them."""
import inspect

from .. import tir
from ..tir.buffer import IterVar, decl_buffer
from ..tir.expr import PrimExpr, Var
from ..tir.stmt import Evaluate, Stmt
from .tag import current_tag
from .tensor import ComputeOp, ExternOp, PlaceholderOp, ScanOp, Tensor, as_expr


def var(name="tindex", dtype="int32", span=None):
    """A scalar variable with a name and a dtype."""
    del span
    return tir.Var(name, dtype)


def size_var(name="size", dtype="int32", span=None):
    """A scalar variable that is not negative, with a name and a dtype."""
    del span
    return tir.SizeVar(name, dtype)


def const(value, dtype="int32", span=None):
    """A constant of a dtype."""
    del span
    return tir.const(value, dtype)


def thread_axis(dom=None, tag="", name="", span=None):
    """The axis of a thread.

    Args:
        dom: its range, or the tag.
        tag: the kind of thread, such as "threadIdx.x".
        name: the name of its variable; that of the tag if it is not given.

    Returns: the IterVar.
    """
    del span
    if isinstance(dom, str):
        dom, tag = None, dom
    if not tag:
        raise ValueError("tag must be given as Positional or keyword argument")
    if isinstance(dom, (int, PrimExpr)):
        dom = (0, dom)
    return IterVar(tuple(dom) if isinstance(dom, list) else dom, Var(name or tag, "int32"), IterVar.ThreadIndex, tag)


def reduce_axis(dom, name="rv", thread_tag="", span=None):
    """The axis of a reduction.

    Args:
        dom: its range: a Range, or its begin and end.
        name: the name of its variable.
        thread_tag: the kind of thread that it is bound to, if any.

    Returns: the IterVar.
    """
    del span
    return IterVar(dom, name, IterVar.CommReduce, thread_tag)


def _shape(shape):
    shape = (shape,) if isinstance(shape, (PrimExpr, int, float)) else shape
    return [int(dim) if isinstance(dim, float) else dim for dim in shape]


def placeholder(shape, dtype=None, name="placeholder"):
    """An input.

    Args:
        shape: numbers and scalar expressions.
        dtype: that of the elements; float32 if it is not given.
        name: its name.

    Returns: the tensor.
    """
    return PlaceholderOp(name, _shape(shape), "float32" if dtype is None else dtype).output(0)


def _parameters(function):
    """The names of the parameters of a function of indices, and whether it takes any number of them."""
    code = getattr(function, "__code__", None)
    if code is not None and inspect.isfunction(function) and not function.__defaults__ and not code.co_kwonlyargcount:
        if not code.co_flags & inspect.CO_VARKEYWORDS:
            return list(code.co_varnames[:code.co_argcount]), bool(code.co_flags & inspect.CO_VARARGS)
    spec = inspect.getfullargspec(function)
    if spec.varkw is not None or spec.defaults is not None or spec.kwonlyargs:
        raise TypeError("a function of indices has positional parameters only, without default values")
    names = spec.args[1:] if inspect.ismethod(function) else spec.args
    return names, spec.varargs is not None


def _axis_names(function, ndim, varargs_names):
    names, is_variadic = _parameters(function)
    if is_variadic:
        rest = ndim - len(names)
        if varargs_names is None:
            return names + [f"i{i}" for i in range(rest)]
        if len(varargs_names) != rest:
            raise RuntimeError(f"Number of varargs ({rest}) does not match number of varargs_names ({len(varargs_names)})")
        return names + list(varargs_names)
    if not names:
        return [f"i{i}" for i in range(ndim)]
    if len(names) != ndim:
        raise ValueError(f"Number of args to fcompute does not match dimension, args={len(names)}, dimension={ndim}")
    return names


def compute(shape, fcompute, name="compute", tag="", attrs=None, varargs_names=None):
    """A tensor by a function of its indices.

    Args:
        shape: numbers and scalar expressions.
        fcompute: the function, which gives an expression, a reduction, or several of them for several tensors.
        name: the name of the result, and of the block that computes it.
        tag: what passes are told of it.
        attrs: annotations of the block, by name.
        varargs_names: the names of the indices that the function takes as *args; i0, i1, ... if they are not given.

    Returns: the tensor, or a tuple of tensors.
    """
    tag = current_tag(tag)
    shape = _shape(shape)
    names = _axis_names(fcompute, len(shape), varargs_names)
    axes = [IterVar((0, extent), axis, IterVar.DataPar) for axis, extent in zip(names, shape)]
    body = fcompute(*[axis.var for axis in axes]) if axes else fcompute()
    body = [as_expr(value) for value in (body if isinstance(body, (list, tuple)) else [body])]
    outputs = tuple(ComputeOp(name, tag, attrs, axes, body).outputs)
    return outputs[0] if len(outputs) == 1 else outputs


def scan(init, update, state_placeholder, inputs=None, name="scan", tag="", attrs=None):
    """Tensors whose elements along the first axis are computed from earlier ones.

    Args:
        init: the tensor, or the tensors, of the first elements.
        update: those of all elements, by the state.
        state_placeholder: the state.
        inputs: other tensors that are read.
        name, tag, attrs: as of compute.

    Returns: the tensor, or a list of tensors. No PrimFunc can be made of them.
    """
    init, update, state = (list(item) if isinstance(item, (list, tuple)) else [item]
                           for item in (init, update, state_placeholder))
    inputs = [] if inputs is None else list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    if len(init) != len(update) or len(init) != len(state):
        raise ValueError("init, update, state_placeholder must have same length")
    axis = IterVar((init[0].shape[0], update[0].shape[0]), f"{name}.idx", IterVar.Ordered)
    outputs = ScanOp(name, current_tag(tag), attrs, axis, init, update, state, inputs).outputs
    return outputs[0] if len(outputs) == 1 else outputs


def _elem_offset():
    return Var("elem_offset", "int32")


def _given(buffers, count, what):
    if buffers is None:
        return None
    buffers = list(buffers) if isinstance(buffers, (list, tuple)) else [buffers]
    if len(buffers) != count:
        raise RuntimeError(f"Number of {what}puts and {what}_buffers mismatch: {count} vs {len(buffers)}.")
    return buffers


def _output_dtypes(dtype, inputs, count):
    if dtype is None:
        types = {tensor.dtype for tensor in inputs}
        if len(types) != 1:
            raise ValueError("Cannot infer output type, please provide dtype argument")
        return [types.pop()] * count
    return list(dtype) if isinstance(dtype, (list, tuple)) else [dtype]


def extern(shape, inputs, fcompute, name="extern", dtype=None, in_buffers=None, out_buffers=None, tag="", attrs=None):
    """Tensors by a statement.

    Args:
        shape: that of the result, or a list of those of several results.
        inputs: the tensors that are read.
        fcompute: a function of the lists of buffers of the inputs and of the results, which gives the statement, or an
            expression that is evaluated, such as tir.call_packed("f", ins[0], outs[0]).
        name, tag, attrs: as of compute.
        dtype: that of the result, or a list; that of the inputs if it is not given.
        in_buffers, out_buffers: buffers for the inputs and results in place of new ones.

    Returns: the tensor, or a list of tensors.
    """
    tag = current_tag(tag)
    shape = (shape,) if isinstance(shape, (PrimExpr, int)) else shape
    if len(shape) == 0 or isinstance(shape[0], (PrimExpr, int)):
        shape = [shape]
    inputs = list(inputs)
    if not all(isinstance(tensor, Tensor) for tensor in inputs):
        raise ValueError("expect inputs to be tensor")
    ins, outs = _given(in_buffers, len(inputs), "in"), _given(out_buffers, len(shape), "out")
    if ins is None:
        ins = [decl_buffer(tensor.shape, tensor.dtype, tensor.op.name, elem_offset=_elem_offset()) for tensor in inputs]
    if outs is None:
        outs = [decl_buffer(dims, item, name, elem_offset=_elem_offset())
                for dims, item in zip(shape, _output_dtypes(dtype, inputs, len(shape)))]
    body = fcompute(ins, outs)
    body = Evaluate(body) if isinstance(body, PrimExpr) else body
    if not isinstance(body, Stmt):
        raise ValueError(f"Function '{fcompute.__name__}' should return PrimExpr or Stmt, but it returned '{type(body)}'")
    outputs = ExternOp(name, tag, attrs, inputs, ins, outs, body).outputs
    return outputs[0] if len(outputs) == 1 else outputs


def extern_primfunc(input_tensors, primfunc, **kwargs):
    """Tensors by the body of a PrimFunc.

    Args:
        input_tensors: the tensors for the buffers that it reads, in the order of its parameters.
        primfunc: the function.
        kwargs: those of extern.

    Returns: the tensor, or a list of tensors, of the buffers that it only writes.
    """
    read, written = set(), set()

    def visit(node):
        kind = type(node).__name__
        if kind == "BufferLoad":
            read.add(node.buffer)
        elif kind == "BufferStore":
            written.add(node.buffer)

    tir.stmt_functor.post_order_visit(primfunc.body, visit)
    buffers = [buffer for buffer in primfunc.param_buffers if buffer is not None]
    ins, outs = [b for b in buffers if b in read], [b for b in buffers if b in written and b not in read]
    if not ins or not written:
        raise ValueError("the PrimFunc must have buffers that it reads and buffers that it writes")
    if not outs:
        outs = [next(b for b in reversed(ins) if b in written)]
        ins.remove(outs[0])
    if len(ins) != len(input_tensors):
        raise ValueError(f"the PrimFunc reads {len(ins)} buffers, not {len(input_tensors)}")
    for tensor, buffer in zip(input_tensors, ins):
        if len(tensor.shape) != len(buffer.shape) or not all(a == b for a, b in zip(tensor.shape, buffer.shape)):
            raise ValueError(f"the tensor '{tensor.name}' has not the shape of the buffer '{buffer.name}'")
    return extern([buffer.shape for buffer in outs], input_tensors, lambda _ins, _outs: primfunc.body, in_buffers=ins,
                  out_buffers=outs, **kwargs)



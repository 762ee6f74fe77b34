"""Tensors of tensor expressions, and the operations that compute them."""
import collections
import weakref

from .. import _core
from .._core import Array, Node, native
from ..tir.expr import EqualOp, NotEqualOp, ProducerLoad, _Operators

# Tensors by the number of the node that loads of them refer to.
_TENSORS: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
# Tensors whose loads are in no operation yet: nothing else may keep them.
_READ = collections.OrderedDict()
_MAX_READ = 1024


class TensorSlice(_Operators):
    """A tensor with the first of its indices: more of them can follow in brackets."""

    def __init__(self, tensor, indices):
        self.tensor, self.indices = tensor, indices

    def __getitem__(self, indices):
        return self.tensor[self.indices + (indices if isinstance(indices, tuple) else (indices,))]

    __iter__ = None
    dtype = property(lambda self: self.tensor.dtype)

    def _node_(self):
        return self.tensor(*self.indices)

    asobject = _node_

    def __hash__(self):
        return hash((self.tensor, self.indices))


class Tensor(_Operators):
    """A tensor: the input of a function, or what an operation computes. `tensor[i, j]` is an element of it."""

    def __init__(self, op, shape, dtype, value_index, name):
        self.op, self.value_index = op, value_index
        self._producer = _core.make("DataProducer", name=name, dtype=dtype, shape=list(shape))
        _TENSORS[native.node_id(self._producer)] = self

    dtype = property(lambda self: self._producer.dtype)
    shape = property(lambda self: self._producer.shape)
    ndim = property(lambda self: len(self._producer.shape))
    axis = property(lambda self: self.op.axis)

    @property
    def name(self):
        """The name of the operation, with the number of the result if it has several."""
        return self.op.name if self.op.num_outputs == 1 else f"{self.op.name}.v{self.value_index}"

    def _node_(self):
        return self._producer

    asobject = _node_

    def __call__(self, *indices):
        if len(indices) != self.ndim:
            raise ValueError(f"Need to provide {self.ndim} index in tensor but {len(indices)} was provided")
        return load(self, indices)

    def __getitem__(self, indices):
        indices = indices if isinstance(indices, tuple) else (indices,)
        if len(indices) < self.ndim:
            return TensorSlice(self, indices)
        return self(*indices)

    # Each index gives an element, so Python would never reach an end.
    __iter__ = None

    def same_as(self, other):
        """Returns whether both are the same tensor."""
        return self is other

    def __eq__(self, other):
        if isinstance(other, Tensor):
            if self.ndim == 0 and other.ndim == 0:
                raise ValueError("Equal == comparison among rank-0 tensor is ambiguous, use Tensor.equal for content "
                                 "expression equvalence, use Tensor.same_as for exact reference comparison")
            return self is other
        return EqualOp(self, other) if isinstance(other, (_Operators, EqualOp)) else False

    def __ne__(self, other):
        if isinstance(other, Tensor):
            return not self == other
        return NotEqualOp(self, other) if isinstance(other, (_Operators, EqualOp)) else True

    def __hash__(self):
        return id(self)

    def __repr__(self):
        return f"Tensor(shape={self.shape}, op.name={self.op.name})"

    def _tensor_operation_(self, kind, a, b):
        """The operation on two operands of which one is a tensor, element by element."""
        from ..topi.broadcast import of_kind

        # In a compute without dimensions, a tensor of no dimensions is its element.
        return of_kind(kind, a, b)

    def __neg__(self):
        from .. import topi

        return topi.negative(self)

    def __pow__(self, other):
        from .. import topi

        return topi.power(self, other)

    def __lshift__(self, other):
        from .. import topi

        return topi.left_shift(self, other)

    def __rshift__(self, other):
        from .. import topi

        return topi.right_shift(self, other)

    def __and__(self, other):
        from .. import topi

        return topi.bitwise_and(self, other)

    def __or__(self, other):
        from .. import topi

        return topi.bitwise_or(self, other)

    def __xor__(self, other):
        from .. import topi

        return topi.bitwise_xor(self, other)

    def equal(self, other):
        """The comparison of the elements."""
        from .. import topi

        return topi.equal(self, other)

    def astype(self, dtype, span=None):
        """The tensor with its elements converted."""
        from .. import topi

        del span
        return topi.cast(self, dtype)


def load(tensor, indices):
    """An element of a tensor as an expression."""
    _READ[id(tensor)] = tensor
    if len(_READ) > _MAX_READ:
        _READ.popitem(last=False)
    return native.make(ProducerLoad._kind_, {"producer": tensor._producer, "indices": list(indices),
                                             "dtype": tensor._producer.dtype})


def tensor_of(producer):
    """The tensor of the node that its loads refer to."""
    found = _TENSORS.get(native.node_id(producer))
    if found is None:
        raise ValueError(f"the tensor '{producer.name}' no longer exists")
    return found


def read_tensors(values):
    """The tensors that expressions read, in order; from now on their reader keeps them."""
    try:
        producers = native.read_tensors(list(values))
    except ValueError as error:
        raise _core.Error(str(error)) from None
    found = [tensor_of(producer) for producer in producers]
    for tensor in found:
        _READ.pop(id(tensor), None)
    return found


class Operation:
    """What computes one or several tensors."""

    def __init__(self, name, tag="", attrs=None):
        self.name, self.tag = name, tag
        self.attrs = dict(attrs.items()) if attrs else {}
        self.outputs = []
        self.input_tensors = []

    num_outputs = property(lambda self: len(self.outputs))

    def output(self, index):
        """The tensor of that number."""
        return self.outputs[index]

    def __repr__(self):
        return f"{type(self).__name__}({self.name})"

    def same_as(self, other):
        """Returns whether both are the same operation."""
        return self is other

    def _add_outputs(self, shapes, dtypes):
        for number, (shape, dtype) in enumerate(zip(shapes, dtypes)):
            name = self.name if len(shapes) == 1 else f"{self.name}.v{number}"
            self.outputs.append(Tensor(self, shape, dtype, number, name))


class PlaceholderOp(Operation):
    """An input."""

    def __init__(self, name, shape, dtype):
        super().__init__(name)
        self._add_outputs([shape], [dtype])

    shape = property(lambda self: self.outputs[0].shape)
    dtype = property(lambda self: self.outputs[0].dtype)


class ComputeOp(Operation):
    """Elements by a function of their indices, perhaps reduced over axes."""

    def __init__(self, name, tag, attrs, axis, body):
        super().__init__(name, tag, attrs)
        self.axis, self.body = Array(axis), Array(body)
        reductions = [value for value in body if type(value).__name__ == "Reduce"]
        if reductions and (len(reductions) != len(body) or not all(_same_reduction(reductions[0], other) for other in reductions)):
            raise ValueError("the results of a reduction differ by their number only: all have the same combiner, values "
                             "and axes")
        self.reduce_axis = reductions[0].axis if reductions else Array()
        self.input_tensors = read_tensors(body)
        self._add_outputs([[axis.dom.extent for axis in axis]] * len(body), [value.dtype for value in body])


def _same_reduction(a, b):
    def same(x, y):
        return native.node_id(x) == native.node_id(y) or native.structural_equal(x, y, False)

    return all(len(x) == len(y) and all(map(same, x, y))
               for x, y in (((a.combiner,), (b.combiner,)), (a.source, b.source), (a.axis, b.axis),
                            ((a.condition,), (b.condition,)), (a.init, b.init)))


class ExternOp(Operation):
    """Tensors by a statement that reads and writes buffers."""

    def __init__(self, name, tag, attrs, inputs, input_placeholders, output_placeholders, body):
        super().__init__(name, tag, attrs)
        self.inputs = self.input_tensors = list(inputs)
        self.input_placeholders, self.output_placeholders = list(input_placeholders), list(output_placeholders)
        self.body = body
        self._add_outputs([buffer.shape for buffer in output_placeholders], [buffer.dtype for buffer in output_placeholders])


class ScanOp(Operation):
    """Tensors whose elements along the first axis are computed from earlier ones. No PrimFunc is made of them."""

    def __init__(self, name, tag, attrs, scan_axis, init, update, state_placeholder, inputs):
        super().__init__(name, tag, attrs)
        self.scan_axis, self.init, self.update = scan_axis, list(init), list(update)
        self.state_placeholder, self.inputs = list(state_placeholder), list(inputs)
        self.input_tensors = self.init + self.update
        self._add_outputs([tensor.shape for tensor in self.update], [tensor.dtype for tensor in self.update])


def is_tensor(value):
    """Returns whether a value is a tensor of an expression."""
    return isinstance(value, Tensor)


def as_expr(value):
    """The expression of what stands for one: an element, an axis, a comparison, a number."""
    if isinstance(value, Node):
        return value.var if type(value).__name__ == "IterVar" else value
    if isinstance(value, Tensor):
        if value.ndim:
            raise TypeError(f"expected an expression, found the tensor '{value.name}' without indices")
        return value()
    return value._node_() if hasattr(value, "_node_") else native.to_prim(value, None)

"""Buffers and other parts of statements."""
import functools

from .._core import make, native, node
from .._object import Object
from .expr import BufferLoad, PrimExpr, Var, _Operators, const, convert


@node("Range")
class Range(Object):
    """From min, extent many."""

    __slots__ = ()

    def __new__(cls, begin, end=None, span=None):
        del span
        if end is None:
            return make("Range", min=0, extent=begin)
        begin, end = convert(begin), convert(end)
        return make("Range", min=begin, extent=end - begin)

    @staticmethod
    def from_min_extent(min_value, extent, span=None):
        del span
        return make("Range", min=min_value, extent=extent)


@node("IterVar")
class IterVar(_Operators, Object):
    """An iteration variable with its domain."""

    __slots__ = ()
    DataPar, ThreadIndex, CommReduce, Ordered, DimInfo, Unrolled, Vectorized, Parallelized, Tensorized = range(9)
    Opaque = DimInfo

    def __new__(cls, dom, var, iter_type, thread_tag="", span=None):
        del span
        if isinstance(dom, (list, tuple)):
            dom = Range(*dom)
        if isinstance(var, str):
            var = Var(var, dom.extent.dtype if dom is not None else "int32")
        return make("IterVar", dom=dom, var=var, iter_type=iter_type, thread_tag=thread_tag)

    dtype = property(lambda self: self.var.dtype)


@node("Buffer")
class Buffer(Object):
    """A typed view of memory."""

    __slots__ = ()
    READ, WRITE = 1, 2

    def scope(self):
        scope = self.data.pointer[1] if self.data.pointer else ""
        return scope or "global"

    def vload(self, begin, dtype=None, predicate=None):
        """The element at indices, or with a dtype of several lanes those from there on."""
        return BufferLoad(self, self._lanes(begin, dtype), predicate)

    def vstore(self, begin, value, predicate=None):
        """The statement that stores a value, or the lanes of one, at indices."""
        from .stmt import BufferStore

        return BufferStore(self, value, self._lanes(begin, getattr(value, "dtype", None)), predicate)

    def _lanes(self, begin, dtype):
        from .._dtype import DataType
        from .expr import Ramp

        indices = list(begin) if isinstance(begin, (list, tuple)) else [begin]
        lanes = DataType(dtype).lanes // DataType(self.dtype).lanes if dtype else 1
        if lanes > 1:
            last = convert(indices[-1])
            indices[-1] = Ramp(last, const(1, last.dtype), lanes)
        return indices

    def _flat_axes(self):
        """The axes of the flattened buffer as ranges of those of this one."""
        ends = [*self.axis_separators, len(self.shape)]
        return [range(first, last) for first, last in zip([0, *ends], ends)]

    def offset_of(self, indices):
        """The indices of an element in the flattened buffer, with the offset of the buffer."""
        from ..arith import Analyzer

        indices = [convert(index) for index in indices]
        offsets = []
        for axes in self._flat_axes():
            offset = None
            for axis in axes:
                if len(self.strides):
                    term = indices[axis] * self.strides[axis]
                    offset = term if offset is None else offset + term
                else:
                    offset = indices[axis] if offset is None else offset * self.shape[axis] + indices[axis]
            offsets.append(const(0, "int32") if offset is None else offset)
        if len(offsets) == 1:
            offsets[0] = offsets[0] + self.elem_offset
        simplify = Analyzer().simplify
        return [simplify(offset) for offset in offsets]

    def get_flattened_buffer(self):
        """The buffer of the same memory with one axis, or with one for each group between axis separators."""
        if len(self.shape) == 1 + len(self.axis_separators) and not len(self.strides):
            return self
        shape = []
        for axes in self._flat_axes():
            if len(self.strides) and len(axes):
                # Other axes may have strides that are longer than their rows.
                shape.append(self.strides[axes[0]] * self.shape[axes[0]])
            else:
                shape.append(functools.reduce(lambda a, b: a * b, [self.shape[axis] for axis in axes], const(1, "int32"))
                             if len(axes) else const(1, "int32"))
        return native.copy_with(self, {"shape": shape, "strides": [], "axis_separators": list(range(1, len(shape)))})

    def __getitem__(self, indices):
        if not isinstance(indices, tuple):
            indices = (indices,)
        if any(isinstance(index, slice) for index in indices):
            region = []
            for axis, index in enumerate(indices):
                if isinstance(index, slice):
                    start = 0 if index.start is None else index.start
                    stop = self.shape[axis] if index.stop is None else index.stop
                    region.append(Range(start, stop))
                else:
                    region.append(Range.from_min_extent(index, 1))
            return BufferRegion(self, region)
        return BufferLoad(self, list(indices))

    # Each index gives an element, so Python would never reach an end.
    __iter__ = None

    elem_type = property(lambda self: self.dtype)

    def access_ptr(self, access_mask, ptr_type="handle", content_lanes=1, offset=0, extent=None):
        """A pointer to elements from an offset on, which are read ("r"), written ("w") or both ("rw")."""
        from .expr import Call

        if isinstance(access_mask, str):
            access_mask = sum({"r": 1, "w": 2}[letter] for letter in set(access_mask))
        dtype = self.dtype if content_lanes == 1 else f"{self.dtype}x{content_lanes}"
        if extent is None:
            extent = self.strides[0] * self.shape[0] if len(self.strides) else functools.reduce(lambda a, b: a * b, self.shape)
            extent = extent - offset
        begin = self.elem_offset + offset
        if content_lanes > 1:
            begin, extent = begin // content_lanes, extent // content_lanes
        annotation = Call(dtype, "tir.type_annotation", [])
        return Call(ptr_type, "tir.tvm_access_ptr", [annotation, self.data, begin, extent, const(access_mask, "int32")])


def decl_buffer(shape, dtype=None, name="buffer", data=None, strides=None, elem_offset=None, scope="", data_alignment=-1,
                offset_factor=0, buffer_type="", axis_separators=None, span=None, layout=None):
    """A new buffer, and unless it is given a new variable for its memory.

    layout: where its elements are, in newer versions; without one, and as "default", the layout of the shape.
    """
    del span
    shape = list(shape) if isinstance(shape, (list, tuple)) else [shape]
    dtype = native.dtype_name("float32" if dtype is None else dtype)
    separators = [int(axis) for axis in axis_separators or []]
    if separators != sorted(separators) or any(not 0 <= axis <= len(shape) for axis in separators):
        raise ValueError(f"axis separators are positions between {len(shape)} axes in their order, not {separators}")
    if data is None:
        pointer = "int8" if dtype == "bool" else dtype
        data = make("PrimVar", name=name, dtype="handle", pointer=(pointer, scope or "global"))
    return make("Buffer", data=data, dtype=dtype, shape=shape, strides=list(strides or []),
                elem_offset=const(0, "int32") if elem_offset is None else elem_offset,
                axis_separators=separators, name=name, layout=None if layout == "default" else layout,
                data_alignment=64 if data_alignment <= 0 else data_alignment,
                offset_factor=1 if offset_factor == 0 else offset_factor,
                buffer_type=1 if buffer_type == "auto_broadcast" else 0)


def is_buffer_var(value):
    """Returns whether a value is a buffer: in newer versions buffers are variables."""
    return isinstance(value, Buffer)


@node("BufferRegion")
class BufferRegion(Object):
    """A part of a buffer."""

    __slots__ = ()

    def __new__(cls, buffer, region):
        return make("BufferRegion", buffer=buffer, region=list(region))


@node("MatchBufferRegion")
class MatchBufferRegion(Object):
    """A buffer for a part of another one."""

    __slots__ = ()

    def __new__(cls, buffer, source):
        return make("MatchBufferRegion", buffer=buffer, source=source)


@node("CommReducer")
class CommReducer(Object):
    """A commutative function of two values with its neutral element."""

    __slots__ = ()

    def __new__(cls, lhs, rhs, result, identity_element, span=None):
        del span
        return make("CommReducer", lhs=list(lhs), rhs=list(rhs), result=list(result),
                    identity_element=list(identity_element))


@node("DataProducer")
class DataProducer(Object):
    """A tensor before buffers are assigned."""

    __slots__ = ()

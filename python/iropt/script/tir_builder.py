"""The prefix T in the scope of an IRBuilder: functions and statements are built call by call."""
from .. import tir as _tir
from .._core import native as _native
from ..ir import PointerType, PrimType
from . import tir as _script_tir
from . import tir_frames as _frames
from .ir_builder import IRBuilder
from .tir_frames import (PrimFuncFrame, add as _add, block_frame as _block, function_frame as _function,
                         innermost as _innermost, made_region as _region)


def __getattr__(name):
    return getattr(_script_tir, name)


# ---- Functions


def prim_func(is_private=False, s_tir=True, persistent=False):
    """The scope of a function."""
    frame = PrimFuncFrame(is_private)
    if not s_tir:
        frame.attrs["s_tir"] = False
    if persistent:
        frame.attrs["tir.persistent_kernel"] = True
    return frame


def arg(name, obj):
    """A parameter: a variable, or a buffer."""
    return _function().add_param(name, obj)


def func_name(name):
    """Names the function."""
    _function().name = name


def func_attr(attrs):
    """Adds attributes to the function."""
    _function().attrs.update(attrs)


def func_ret(ret_type):
    """The type of the result."""
    _function().ret_type = ret_type
    return ret_type


# ---- Buffers and variables


def buffer(shape, dtype="float32", data=None, strides=None, elem_offset=None, scope="global", align=0, offset_factor=0,
           buffer_type="", axis_separators=None):
    """A buffer."""
    shape = shape if isinstance(shape, (list, tuple)) else [shape]
    strides = [_tir.Var(item, "int32") if isinstance(item, str) else item for item in strides or []]
    return _tir.decl_buffer(shape, dtype, "", data, strides, elem_offset, scope, align, offset_factor, buffer_type, axis_separators)


Buffer = buffer_decl = buffer


def handle(dtype=None, storage_scope="global", *, is_size_var=False):
    """A pointer, to elements of a dtype if one is given."""
    del is_size_var
    return _tir.Var("", "handle" if dtype is None else PointerType(PrimType(dtype), storage_scope))


def ptr(dtype, storage_scope="global", is_size_var=False):
    """A pointer to elements of a dtype."""
    return handle(dtype, storage_scope, is_size_var=is_size_var)


buffer_var = ptr


def var(dtype, name=""):
    """A variable."""
    return _tir.Var(name, dtype)


def match_buffer(param, shape=None, dtype="float32", data=None, strides=None, elem_offset=None, scope="global", align=-1,
                 offset_factor=0, buffer_type="default", axis_separators=None):
    """The buffer of a parameter, or of a region of another buffer."""
    if shape is None:
        if isinstance(param, _tir.Var):
            raise ValueError("the buffer of a parameter needs a shape")
        shape = [dom.extent for dom in _region(param).region]
    made = buffer(shape, dtype, data, strides, elem_offset, scope, align, offset_factor, buffer_type, axis_separators)
    if isinstance(param, _tir.Var):
        _function().buffers[param] = made
    else:
        _block().match_buffers.append(_tir.MatchBufferRegion(made, _region(param)))
    return made


def alloc_buffer(shape, dtype="float32", data=None, strides=None, elem_offset=None, scope="global", align=-1,
                 offset_factor=0, buffer_type="default", axis_separators=None):
    """A buffer that the block, or the function, allocates."""
    made = buffer(shape, dtype, data, strides, elem_offset, scope, align, offset_factor, buffer_type, axis_separators)
    _innermost((_frames.BlockFrame, PrimFuncFrame)).alloc_buffers.append(made)
    return made


# ---- Blocks


def block(name="", no_realize=False):
    """The scope of a block."""
    return _frames.BlockFrame(name, no_realize)


def init():
    """The scope of the initialization of a block."""
    return _frames.BlockInitFrame()


def where(predicate):
    """The condition under which the block runs."""
    _block().predicate = _tir.const(predicate, "bool") if isinstance(predicate, (bool, int)) else predicate


def reads(*buffer_slices):
    """The regions that the block reads."""
    _block().reads = _regions(buffer_slices)


def writes(*buffer_slices):
    """The regions that the block writes."""
    _block().writes = _regions(buffer_slices)


def _regions(slices):
    slices = slices[0] if len(slices) == 1 and isinstance(slices[0], (list, tuple)) else slices
    return [_region(item) for item in slices]


def block_attr(attrs):
    """Adds annotations to the block."""
    _block().annotations.update(attrs)


class axis:  # pylint: disable=invalid-name
    """The axes of blocks."""

    @staticmethod
    def spatial(dom, binding, dtype="int32"):
        """An axis whose iterations are independent."""
        return _block().add_axis(dom, binding, _tir.IterVar.DataPar, dtype)

    @staticmethod
    def reduce(dom, binding, dtype="int32"):
        """An axis of a reduction."""
        return _block().add_axis(dom, binding, _tir.IterVar.CommReduce, dtype)

    @staticmethod
    def scan(dom, binding, dtype="int32"):
        """An axis whose iterations are in order."""
        return _block().add_axis(dom, binding, _tir.IterVar.Ordered, dtype)

    @staticmethod
    def opaque(dom, binding, dtype="int32"):
        """An axis of which nothing is known."""
        return _block().add_axis(dom, binding, _tir.IterVar.DimInfo, dtype)

    @staticmethod
    def remap(kinds, bindings, dtype="int32"):
        """Axes over the ranges of loops: S for spatial ones, R for those of reductions."""
        makers = {"S": axis.spatial, "R": axis.reduce}
        loops = {_native.node_id(item): dom for frame in IRBuilder.current().frames if isinstance(frame, _frames.ForFrame)
                 for item, dom in zip(frame.vars, frame.doms)}
        made = [makers[kind](loops[_native.node_id(item)], item, dtype) for kind, item in zip(kinds, bindings)]
        return made[0] if len(made) == 1 else made

    S, R = spatial, reduce


# ---- Loops and other scopes


def _loop(kind):
    def loop(start, stop=None, *, annotations=None):
        return _frames.ForFrame([_frames.loop_range(start, stop)], kind, annotations)

    loop.__doc__ = "The scope of a loop, which gives its variable."
    return loop


serial, parallel = _loop(_tir.ForKind.SERIAL), _loop(_tir.ForKind.PARALLEL)
vectorized, unroll = _loop(_tir.ForKind.VECTORIZED), _loop(_tir.ForKind.UNROLLED)


def thread_binding(start, stop=None, thread=None, *, annotations=None):
    """The scope of a loop over threads."""
    if thread is None:
        if not isinstance(stop, str):
            raise ValueError("Thread cannot be None for thread_binding")
        stop, thread = None, stop
    return _frames.ForFrame([_frames.loop_range(start, stop)], _tir.ForKind.THREAD_BINDING, annotations, thread)


def grid(*extents):
    """The scope of a nest of loops, which gives their variables."""
    return _frames.ForFrame([_frames.loop_range(extent, None) for extent in extents], _tir.ForKind.SERIAL, None)


def While(condition):  # pylint: disable=invalid-name
    """The scope of a loop under a condition."""
    return _frames.Around(lambda body: _tir.While(condition, body))


def If(condition):  # pylint: disable=invalid-name
    """The scope of the branches Then and Else."""
    return _frames.IfFrame(condition)


def Then():  # pylint: disable=invalid-name
    """The scope of the branch of a condition that holds."""
    return _frames.BranchFrame("then_case")


def Else():  # pylint: disable=invalid-name
    """The scope of the branch of a condition that does not hold."""
    return _frames.BranchFrame("else_case")


def Assert(condition, message):  # pylint: disable=invalid-name
    """The scope of an assertion."""
    condition = _tir.const(condition, "bool") if isinstance(condition, bool) else condition
    return _frames.Around(lambda body: _tir.AssertStmt(condition, _tir.StringImm(message), body))


def LetStmt(value, type_annotation=None, *, var=None):  # pylint: disable=invalid-name,redefined-outer-name
    """The scope of a variable with a value."""
    value = _tir.convert(value)
    made = var if var is not None else _tir.Var("v", type_annotation if type_annotation is not None else value.dtype)
    return _frames.Around(lambda body: _tir.LetStmt(made, value, body), made)


def realize(buffer_slice, storage_scope, condition=True):
    """The scope of the realization of a part of a buffer."""
    region = _region(buffer_slice)
    condition = _tir.const(condition, "bool") if isinstance(condition, bool) else condition

    def made(body):
        realized = _tir.BufferRealize(region.buffer, list(region.region), condition, body)
        return _tir.AttrStmt(region.buffer, "realize_scope", _tir.StringImm(storage_scope), realized)

    return _frames.Around(made)


def allocate(extents, dtype, scope="global", condition=None, annotations=None):
    """The scope of an allocation, which gives the pointer."""
    pointer = handle(dtype, scope)
    condition = _tir.const(1, "bool") if condition is None else condition
    return _frames.Around(lambda body: _tir.Allocate(pointer, dtype, extents, condition, body, annotations), pointer)


def allocate_const(data, dtype, extents, annotations=None):
    """The scope of a constant, which gives the pointer."""
    import numpy

    pointer = handle(dtype)
    array = numpy.asarray(data, dtype).reshape([int(extent) for extent in extents])
    return _frames.Around(lambda body: _tir.AllocateConst(pointer, dtype, extents, array, body, annotations), pointer)


def decl_buffer(shape, dtype="float32", data=None, strides=None, elem_offset=None, scope="global", align=0, offset_factor=0,
                buffer_type="", axis_separators=None):
    """The scope of a buffer, which is allocated unless it has data."""
    made = buffer(shape, dtype, data, strides, elem_offset, scope, align, offset_factor, buffer_type, axis_separators)

    def declared(body):
        stmt = _tir.DeclBuffer(made, body)
        return stmt if data is not None else _tir.Allocate(made.data, dtype, list(made.shape), _tir.const(1, "bool"), stmt)

    return _frames.Around(declared, made)


def attr(node, attr_key, value):
    """The scope of an attribute."""
    return _frames.Around(lambda body: _tir.AttrStmt(_tir.convert(node), attr_key, _tir.convert(value), body))


def env_thread(thread_tag, dtype="int32"):
    """An axis of threads."""
    return _tir.IterVar(None, _tir.Var("v", dtype), _tir.IterVar.ThreadIndex, thread_tag)


def launch_thread(thread, extent):
    """The scope of threads, which gives their index."""
    thread = env_thread(thread) if isinstance(thread, str) else thread
    extent = _tir.convert(extent)
    bound = _tir.IterVar(_tir.Range(_tir.const(0, extent.dtype), extent), thread.var, thread.iter_type, thread.thread_tag)
    key = "virtual_thread" if thread.thread_tag.startswith("vthread") else "thread_extent"
    return _frames.Around(lambda body: _tir.AttrStmt(bound, key, extent, body), thread.var)


# ---- Statements


def buffer_store(buffer, value, indices, predicate=None):  # pylint: disable=redefined-outer-name
    """Assigns elements."""
    indices = indices if isinstance(indices, (list, tuple)) else [indices]
    indices = [_frames.vector_index(index) if isinstance(index, slice) else _tir.convert(index) for index in indices]
    if isinstance(value, (bool, int, float)):
        value = _tir.const(value, buffer.dtype)
    elif value.dtype.split("x")[0] != buffer.dtype.split("x")[0]:
        value = value.astype("x".join([buffer.dtype, *value.dtype.split("x")[1:]]))
    _add(_tir.BufferStore(buffer, value, indices, predicate))


def prefetch(buffer, bounds):  # pylint: disable=redefined-outer-name
    """Says that elements will be read."""
    _add(_tir.Prefetch(buffer, bounds))


def evaluate(value):
    """Evaluates an expression."""
    if isinstance(value, bool):
        value = _tir.const(value, "bool")
    _add(_tir.Evaluate(_tir.convert(value)))


# ---- Expressions


def Let(expr, where):  # pylint: disable=invalid-name,redefined-outer-name
    """An expression with a variable for a value."""
    (name, value), = where.items()
    return _tir.Let(name, value, expr)


def ramp(base, stride, lanes):
    """The vector of base, base + stride and so on."""
    return _tir.Ramp(_tir.convert(base), _tir.convert(stride), lanes)


def broadcast(value, lanes):
    """The vector of one value."""
    return _tir.Broadcast(_tir.convert(value), lanes)


def iter_var(v, dom, iter_type, thread_tag):
    """An iteration variable."""
    kinds = ("DataPar", "ThreadIndex", "CommReduce", "Ordered", "DimInfo", "Unrolled", "Vectorized", "Parallelized", "Tensorized")
    dom = _tir.Range(*dom) if isinstance(dom, (list, tuple)) else dom
    return _tir.IterVar(dom, v, kinds.index("DimInfo" if iter_type == "Opaque" else iter_type), thread_tag)


def comm_reducer(combiner, identity):
    """A reduction."""
    count = combiner.__code__.co_argcount
    identity = [_tir.convert(item) for item in identity]
    names = combiner.__code__.co_varnames[:count]
    params = [_tir.Var(name, identity[i % len(identity)].dtype) for i, name in enumerate(names)]
    result = combiner(*params)
    result = list(result) if isinstance(result, (list, tuple)) else [result]
    return _tir.CommReducer(params[: count // 2], params[count // 2 :], result, identity)


class meta_var:  # pylint: disable=invalid-name
    """A value that is one of Python while a script is read."""

    def __init__(self, value):
        self.value = value

    def __iter__(self):
        return iter(meta_var(item) for item in self.value)

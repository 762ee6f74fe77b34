"""Schedules of tensors, as programs for TVM 0.18 and older have them: a front of tir.Schedule.

    s = te.create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], factor=32)
    mod = tvm.lower(s, [A, B, C])

What is said about a stage is noted and applied to the blocks of the PrimFunc of the tensors when that is made, from the
results to the inputs.
"""
from .. import tir
from .._core import native
from ..ir import IRModule
from .prim_func import create_prim_func, ordered_operations
from .tensor import ComputeOp, PlaceholderOp, Tensor


class Axis:
    """A loop of a stage that scheduling has made."""

    def __init__(self, name):
        self.name = name
        self.var = tir.Var(name, "int32")

    def __repr__(self):
        return f"axis {self.name}"


class Cached:
    """The operation of a tensor that a schedule keeps in other memory. Its axes are known when the PrimFunc is made."""

    def __init__(self, name, axes, reductions):
        self.name = name
        self.axis = [Axis(axis) for axis in axes]
        self.reduce_axis = list(reductions)


class CachedTensor:
    """A tensor that a schedule keeps in other memory."""

    def __init__(self, op, shape, dtype):
        self.op, self.name, self.shape, self.dtype = op, op.name, shape, dtype

    # The name of its buffer in the PrimFunc.
    buffer_name = property(lambda self: self.name.replace(".", "_"))


class Stage:
    """What is done to the loops of one tensor."""

    def __init__(self, schedule, op):
        self._schedule, self.op, self._steps = schedule, op, []
        self.attached = None  # (stage, axis) of compute_at
        self.loops = None  # the axes in the order of the loops, where that is not the one of the operation
        self._is_inline = False
        self.leaf_iter_vars = [*getattr(op, "axis", ()), *getattr(op, "reduce_axis", ())]

    def _note(self, name, *args, **kwargs):
        self._steps.append((name, args, kwargs))

    def _place(self, axis):
        keys = [_key(leaf) for leaf in self.leaf_iter_vars]
        if _key(axis) not in keys:
            raise ValueError(f"{_name(axis)} is not a loop of the stage {self.op.name}")
        return keys.index(_key(axis))

    def split(self, parent, factor=None, nparts=None, disable_predication=False):
        """Splits a loop: the inner one has `factor` iterations, or the outer one `nparts`."""
        if (factor is None) == (nparts is None):
            raise ValueError("expected one of factor and nparts")
        name = _name(parent)
        pair = (Axis(f"{name}.outer"), Axis(f"{name}.inner"))
        self._note("split", parent, [nparts, factor], pair, disable_predication)
        place = self._place(parent)
        self.leaf_iter_vars[place:place + 1] = pair
        return pair

    def fuse(self, *args):
        """Makes one loop of several, which follow each other."""
        args = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
        fused = Axis(".".join(_name(arg) for arg in args) + ".fused")
        self._note("fuse", args, fused)
        place = self._place(args[0])
        self.leaf_iter_vars[place:place + len(args)] = [fused]
        return fused

    def reorder(self, *args):
        """Puts loops into another order."""
        self._note("reorder", list(args))
        places = sorted(self._place(arg) for arg in args)
        for place, arg in zip(places, args):
            self.leaf_iter_vars[place] = arg

    def tile(self, x_parent, y_parent, x_factor, y_factor):
        """Splits two loops, and puts the inner parts inside."""
        x_outer, x_inner = self.split(x_parent, factor=x_factor)
        y_outer, y_inner = self.split(y_parent, factor=y_factor)
        self.reorder(x_outer, y_outer, x_inner, y_inner)
        return x_outer, y_outer, x_inner, y_inner

    def vectorize(self, var):
        """Makes a loop one of vectors."""
        self._note("vectorize", var)

    def unroll(self, var):
        """Unrolls a loop."""
        self._note("unroll", var)

    def parallel(self, var):
        """Runs a loop on several processors."""
        self._note("parallel", var)

    def bind(self, ivar, thread_ivar):
        """Makes a loop the threads of an axis."""
        self._note("bind", ivar, thread_ivar.thread_tag)

    def pragma(self, var, pragma_type, pragma_value=None):
        """Annotates a loop with pragma_TYPE."""
        self._note("pragma", var, f"pragma_{pragma_type}", 1 if pragma_value is None else pragma_value)

    def storage_align(self, axis, factor, offset):
        """Aligns the rows of an axis in memory."""
        self._note("storage_align", axis, factor, offset)

    def set_scope(self, scope):
        """Keeps the tensor in another memory."""
        self._note("set_scope", scope)

    def compute_at(self, parent, scope):
        """Computes the tensor in a loop of another stage, as far as that needs it."""
        self.attached, self._is_inline = (parent, scope), False

    def compute_inline(self):
        """Computes elements where they are read."""
        self.attached, self._is_inline = None, True

    def compute_root(self):
        """Computes the whole tensor before what reads it."""
        self.attached, self._is_inline = None, False

    def is_moved(self):
        """Returns whether elements are computed where others need them."""
        return self._is_inline or self.attached is not None

    def rolling_buffer(self):
        """Keeps only what later iterations of the loop around it read again."""
        self._note("rolling_buffer")

    def double_buffer(self):
        """Computes the next part while the last one is used."""
        self._note("double_buffer")

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotImplementedError(f"{name} of a stage is not a part of iropt: schedule the PrimFunc of the tensors with tir.Schedule")


def _key(axis):
    """What the same axis has each time: nodes may be other objects."""
    return native.node_id(axis.var)


def _name(axis):
    return axis.var.name if isinstance(axis, tir.IterVar) else axis.name


class Schedule:
    """The stages of tensors, by the tensors or their operations."""

    def __init__(self, ops):
        ops = list(ops) if isinstance(ops, (list, tuple)) else [ops]
        self.outputs = [op.op if isinstance(op, Tensor) else op for op in ops]
        order = ordered_operations([op.output(0) for op in self.outputs])
        self._stages = {id(op): Stage(self, op) for op in order}
        self._caches = []  # (kind, stage, tensor, scope, readers)

    @property
    def stages(self):
        """The stages in the order in which they are computed."""
        return list({id(stage): stage for stage in self._stages.values()}.values())

    def __getitem__(self, tensor):
        op = tensor if id(tensor) in self._stages else getattr(tensor, "op", tensor)
        if id(op) not in self._stages:
            raise ValueError(f"Cannot find the operation {op} in the schedule")
        return self._stages[id(op)]

    def normalize(self):
        """The schedule itself."""
        return self

    def cache_read(self, tensor, scope, readers):
        """Reads a tensor through a copy in another memory. Returns the tensor of the copy."""
        readers = list(readers) if isinstance(readers, (list, tuple)) else [readers]
        op = Cached(f"{tensor.name}.{scope}", [f"ax{i}" for i in range(len(tensor.shape))], [])
        return self._add_cache("read", op, tensor, scope, [self[reader] for reader in readers])

    def cache_write(self, tensor, scope):
        """Computes a tensor in another memory, from which it is copied. Returns the tensor that is computed."""
        if isinstance(tensor, (list, tuple)):
            raise NotImplementedError("cache_write of several tensors is not a part of iropt")
        own = tensor.op
        # The axes of the reduction are its own from now on: the tensor is a copy.
        op = Cached(f"{tensor.name}.{scope}", [_name(axis) for axis in own.axis], own.reduce_axis)
        stage = self[tensor]
        stage.loops, stage.leaf_iter_vars = list(own.axis), list(own.axis)
        return self._add_cache("write", op, tensor, scope, [])

    def _add_cache(self, kind, op, tensor, scope, readers):
        stage = self._stages[id(op)] = Stage(self, op)
        made = CachedTensor(op, tensor.shape, tensor.dtype)
        self._caches.append((kind, stage, self[tensor], tensor, scope, readers))
        return made

    def rfactor(self, tensor, axis, factor_axis=0):
        """Computes partial results of a reduction in a tensor of their own, of which the tensor is then the reduction.

        axis: a loop of the reduction, which becomes the dimension `factor_axis` of the partial results.
        Returns the tensor of the partial results. `self[tensor].op` has new axes then.
        """
        stage = self[tensor]
        own, place = stage.op, stage._place(axis)
        made = [Axis(_name(leaf)) for leaf in stage.leaf_iter_vars]
        spatial = [leaf for leaf, old in zip(made, stage.leaf_iter_vars) if any(_key(old) == _key(other) for other in own.axis)]
        factor = made[place]
        op = Cached(f"{tensor.name}.rf", [], [])
        op.axis = spatial[:factor_axis] + [factor] + spatial[factor_axis:]
        op.reduce_axis = [leaf for leaf in made if leaf is not factor and leaf not in spatial]
        partial = Stage(self, op)
        partial.loops = made
        stage.op = Cached(own.name, [_name(old) for old in own.axis], [Axis(f"{_name(axis)}.v")])
        self._caches.append(("rfactor", partial, stage, own, (axis, factor_axis, stage._steps), []))
        stage._steps, stage.leaf_iter_vars = [], [*stage.op.axis, *stage.op.reduce_axis]
        # Partial results are computed before those of the tensor.
        stages = list(self._stages.items())
        index = next(i for i, (_, other) in enumerate(stages) if other is stage)
        self._stages = dict(stages[:index] + [(id(op), partial)] + stages[index:] + [(id(stage.op), stage)])
        shape = list(tensor.shape)
        shape.insert(factor_axis, tir.Var(f"{_name(axis)}_extent", "int32"))
        return CachedTensor(op, shape, tensor.dtype)

    def prim_func(self, args):
        """The PrimFunc of tensors and variables, with the loops that the schedule says. Other results are in it only."""
        known = [arg.op for arg in args if isinstance(arg, Tensor)]
        rest = [op.output(index) for op in self.outputs if not any(op is other for other in known)
                for index in range(len(op.outputs))]
        moved = [arg for arg in args if isinstance(arg, Tensor) and not any(arg.op is other for other in self.outputs) and
                 id(arg.op) in self._stages and self[arg].is_moved()]
        applied = _Applied(self, [arg for arg in args if not any(arg is other for other in moved)] + rest)
        func = _with_memory_of(applied.func, len(rest)) if rest else applied.func
        return _with_params(func, args, [(arg, applied.buffer_of(self[arg], arg)) for arg in moved]) if moved else func


def _with_memory_of(func, count):
    """The function without its last parameters, whose memory it allocates."""
    params, hidden = list(func.params)[:-count], list(func.params)[-count:]
    root = func.body.block
    root = tir.Block(root.iter_vars, root.reads, root.writes, root.name_hint, root.body, root.init,
                     [*root.alloc_buffers, *(func.buffer_map[param] for param in hidden)], root.match_buffers, root.annotations)
    body = tir.BlockRealize(func.body.iter_values, func.body.predicate, root)
    return tir.PrimFunc(params, body, func.ret_type, {param: func.buffer_map[param] for param in params if param in func.buffer_map},
                        func.attrs)


def _with_params(func, args, moved):
    """The function with parameters for tensors that are computed where others need them. It allocates their buffers itself so
    far, or has none for those that are computed inline."""
    params, buffer_map, root = iter(func.params), dict(func.buffer_map), func.body.block
    allocated, made = list(root.alloc_buffers), []
    for arg in args:
        own = next((buffer for other, buffer in moved if other is arg), False)
        if own is False:
            made.append(next(params))
            continue
        buffer = own or tir.decl_buffer(arg.shape, arg.dtype, arg.name)
        allocated = [other for other in allocated if not other.same_as(buffer)]
        made.append(tir.Var(arg.name, "handle"))
        buffer_map[made[-1]] = buffer
    root = tir.Block(root.iter_vars, root.reads, root.writes, root.name_hint, root.body, root.init, allocated, root.match_buffers,
                     root.annotations)
    return tir.PrimFunc(made, tir.BlockRealize(func.body.iter_values, func.body.predicate, root), func.ret_type, buffer_map, func.attrs)


def create_schedule(ops):
    """The schedule of operations and all that they need; see the class Schedule."""
    return Schedule(ops)


class _Applied:
    """A schedule that is applied to the PrimFunc of tensors."""

    def __init__(self, schedule, args):
        self.sch = tir.Schedule(create_prim_func(args))
        self._loops = {}  # of axes, by their keys
        self._rolling = []
        self._blocks = self._find_blocks(schedule)
        for kind, stage, of, tensor, scope, readers in schedule._caches:
            self._cache(kind, stage, of, tensor, scope, readers)
        order = [stage for stage in schedule.stages if id(stage) in self._blocks]
        for stage in order:
            if stage._is_inline:
                self.sch.compute_inline(self._blocks[id(stage)])
        # Consumers first, so that the loops at which others are computed are there.
        for stage in self._from_results(order):
            if not stage._is_inline:
                self._apply(stage)
        self._roll()
        self.func = self.sch.mod["main"]

    def buffer_of(self, stage, tensor):
        """The buffer to which the stage stores the tensor; None if it is computed inline."""
        if stage._is_inline:
            return None
        index = next(i for i, output in enumerate(tensor.op.outputs) if output is tensor)
        return self.sch.get(self._blocks[id(stage)]).writes[index].buffer

    def _find_blocks(self, schedule):
        ops = ordered_operations([op.output(0) for op in schedule.outputs])
        names = {}
        for op in ops:
            if isinstance(op, ComputeOp):
                stem = (op.name if len(op.reduce_axis) else op.outputs[0].name).replace(".", "_").replace(" ", "_")
                number = names.get(stem, -1) + 1
                names[stem] = number
                names[id(op)] = f"{stem}_{number}" if number else stem
        return {id(schedule[op]): self.sch.get_block(names[id(op)]) for op in ops if id(op) in names}

    def _cache(self, kind, stage, of, tensor, scope, readers):
        if kind == "rfactor":
            axis, factor_axis, steps = scope
            block = self._blocks[id(of)]
            self._apply_steps(block, of, [*tensor.axis, *tensor.reduce_axis], steps)
            self._blocks[id(stage)] = self.sch.rfactor(self._loops[_key(axis)], factor_axis)
            return
        if kind == "write":
            block = self._blocks[id(of)]
            # The block that computes belongs to the new stage, and the copy to the tensor.
            self._blocks[id(of)] = self.sch.cache_write(block, 0, scope)
            self._blocks[id(stage)] = block
            return
        blocks = [self._blocks[id(reader)] for reader in readers]
        names = [region.buffer.name for region in self.sch.get(blocks[0]).reads]
        wanted = tensor.buffer_name if isinstance(tensor, CachedTensor) else tensor.name
        if wanted not in names:
            raise ValueError(f"the stage {readers[0].op.name} does not read {wanted}")
        self._blocks[id(stage)] = self.sch.cache_read(blocks[0], names.index(wanted), scope, blocks[1:])

    @staticmethod
    def _from_results(order):
        """The stages, those at which others are computed before these."""
        done, result = set(), []

        def add(stage):
            if id(stage) in done:
                return
            done.add(id(stage))
            if stage.attached is not None:
                add(stage.attached[0])
            result.append(stage)

        for stage in reversed(order):
            add(stage)
        return result

    def _apply(self, stage):
        block, sch = self._blocks[id(stage)], self.sch
        if stage.attached is not None:
            sch.compute_at(block, self._loops[_key(stage.attached[1])], preserve_unit_loops=True)
        self._apply_steps(block, stage, stage.loops or [*stage.op.axis, *stage.op.reduce_axis], stage._steps)

    def _apply_steps(self, block, stage, axes, steps):
        loops = self.sch.get_loops(block)
        self._loops.update({_key(axis): loop for axis, loop in zip(axes, loops[len(loops) - len(axes):])})
        for name, args, kwargs in steps:
            getattr(self, "_" + name)(block, stage, *args, **kwargs)

    def _split(self, _block, _stage, parent, factors, pair, disable_predication):
        factors = [None if factor is None else int(factor) if not isinstance(factor, tir.PrimExpr) or isinstance(factor, tir.IntImm)
                   else factor for factor in factors]
        made = self.sch.split(self._loops[_key(parent)], factors, disable_predication=disable_predication)
        self._loops.update(zip(map(_key, pair), made))

    def _fuse(self, _block, _stage, parents, fused):
        self._loops[_key(fused)] = self.sch.fuse(*(self._loops[_key(parent)] for parent in parents))

    def _reorder(self, _block, _stage, axes):
        self.sch.reorder(*(self._loops[_key(axis)] for axis in axes))

    def _vectorize(self, _block, _stage, axis):
        self.sch.vectorize(self._loops[_key(axis)])

    def _unroll(self, _block, _stage, axis):
        self.sch.unroll(self._loops[_key(axis)])

    def _parallel(self, _block, _stage, axis):
        self.sch.parallel(self._loops[_key(axis)])

    def _bind(self, _block, _stage, axis, tag):
        self.sch.bind(self._loops[_key(axis)], tag)

    def _pragma(self, _block, _stage, axis, key, value):
        self.sch.annotate(self._loops[_key(axis)], key, value)

    def _storage_align(self, block, stage, axis, factor, offset):
        self.sch.storage_align(block, 0, [_key(own) for own in stage.op.axis].index(_key(axis)), factor, offset)

    def _set_scope(self, block, _stage, scope):
        self.sch.set_scope(block, 0, scope)

    def _rolling_buffer(self, block, _stage):
        self._rolling.append(block)

    def _roll(self):
        """Rolls buffers, after which other stages could not be moved. Where none rolls, all is computed again."""
        for block in self._rolling:
            try:
                self.sch.rolling_buffer(block, 0)
            except tir.ScheduleError:
                pass

    def _double_buffer(self, block, _stage):
        self.sch.annotate(block, "double_buffer_scope", 0)


def module_of(schedule, args, name="main"):
    """The module with the PrimFunc of a schedule, under a name."""
    return IRModule({name: schedule.prim_func(args).with_attr("global_symbol", name)})


def loops_of(module):
    """The module with loops and loads and stores of buffers alone: without blocks. Their predicates are likely to hold."""
    from ..tir import transform

    for step in ("LowerInitBlock", "PlanAndUpdateBufferAllocationLocation", "ConvertBlocksToOpaque", "LowerOpaqueBlock"):
        module = getattr(transform, step)()(module)
    return transform.Apply(lambda func: func.with_body(tir.stmt_functor.ir_transform(
        func.body, None, _likely, ["tir.IfThenElse"])))(module)


def _likely(node):
    if node.else_case is not None:
        return None
    conditions, body = [node.condition], node.then_case
    while isinstance(conditions[0], tir.And):
        conditions[:1] = [conditions[0].a, conditions[0].b]
    for condition in reversed(conditions):
        body = tir.IfThenElse(tir.likely(condition), body)
    return body


def InferBound(sch):
    """The ranges of the axes of stages, as far as they do not depend on where a stage is computed."""
    return {axis: axis.dom for stage in sch.stages for axis in stage.leaf_iter_vars if isinstance(axis, tir.IterVar)}


def ScheduleOps(sch, bounds=None, debug_keep_trivial_loop=False):
    """The loops of a schedule, with its tensors as buffers."""
    del bounds, debug_keep_trivial_loop
    ops = ordered_operations([op.output(0) for op in sch.outputs])
    args = [op.output(0) for op in ops if isinstance(op, PlaceholderOp)]
    args += [op.output(index) for op in sch.outputs for index in range(len(op.outputs))]
    return loops_of(module_of(sch, args))["main"].body

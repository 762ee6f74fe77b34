"""What rules ask of the blocks of a function, and the steps that they share."""
from .. import tir
from .._core import Error
from .._dtype import DataType
from ..tir.schedule.normalize import NormalizePrimFunc
from ..tir.stmt_functor import post_order_visit


class IterInfo:
    """An axis of a block: S for spatial, R for a reduction, O for another one, and its loop."""

    def __init__(self, kind, var, dom, loop_rv):
        self.kind, self.var, self._dom, self.loop_rv = kind, var, dom, loop_rv

    @property
    def dom(self):
        return self._dom.value if isinstance(self._dom, tir.IntImm) else self._dom

    def __repr__(self):
        return f'Iter("{self.kind}", {self.dom})'


class BlockInfo:
    """A block with its axes."""

    def __init__(self, name, iters, block_rv, reduction_block=False):
        self.name, self.iters, self.block_rv, self._reduction_block = name, iters, block_rv, reduction_block

    def dom(self):
        return [axis.dom for axis in self.iters]

    def dom_kind(self):
        """The kinds of the axes: SSR."""
        return "".join(axis.kind for axis in self.iters)

    def is_injective(self):
        return set(self.dom_kind()) <= {"S"}

    def is_elementwise(self, sch):
        """Returns whether the block reads and writes one element of one buffer each, at its axes."""
        block = sch.get(self.block_rv)
        if not self.is_injective() or len(block.reads) != 1 or len(block.writes) != 1:
            return False
        sides = [block.reads[0].region, block.writes[0].region]
        return all(len(region) == len(block.iter_vars) for region in sides) and all(
            dom.min == axis.var and _is_one(dom.extent) for region in sides for axis, dom in zip(block.iter_vars, region))

    def is_reduction(self):
        return self._reduction_block

    def __repr__(self):
        return f'BlockInfo("{self.name}", "{self.dom_kind()}", {self.dom()})'


SBlockInfo = BlockInfo


def normalize_prim_func(sch):
    """The blocks of the function of a schedule, each with one loop for each axis; None if it has no such form."""
    try:
        result = NormalizePrimFunc(sch)
    except Error:
        return None
    if result is None:
        return None
    kinds = {tir.IterVar.DataPar: "S", tir.IterVar.CommReduce: "R"}
    return [BlockInfo(sch.get(block).name_hint,
                      [IterInfo(kinds.get(axis.iter_type, "O"), axis.var, axis.dom.extent, loop)
                       for loop, axis in zip(loops, axes)], block, is_reduction)
            for block, loops, axes, is_reduction in zip(*result)]


def try_inline(sch, blocks):
    """Inlines as many blocks as possible, and gives the others."""
    blocks = list(blocks)

    def inline_one(primitive):
        for index, info in enumerate(blocks):
            try:
                primitive(info.block_rv)
            except Error:
                continue
            return blocks.pop(index)
        return None

    while inline_one(sch.compute_inline) or inline_one(sch.reverse_compute_inline):
        pass
    return blocks


def try_inline_contiguous_spatial(sch, block_infos):
    """Inlines the blocks between reductions into each other, and gives those that remain."""
    if block_infos is None:
        return None
    results, spatial = [], []
    for info in block_infos:
        if info.is_injective():
            spatial.append(info)
            continue
        results += try_inline(sch, spatial) + [info]
        spatial = []
    return results + try_inline(sch, spatial)


# ---- Accesses


def _is_one(expr):
    return isinstance(expr, tir.IntImm) and expr.value == 1


def collect_vars_used_in_prim_expr(expr):
    """The variables of an expression."""
    found = set()
    post_order_visit(expr, lambda node: found.add(node) if isinstance(node, tir.Var) else None)
    return found


def collect_block_iter_vars_used_in_access_region(block, region):
    """The axes of a block at which a region of single elements is accessed."""
    used = set()
    for dom in region:
        if not _is_one(dom.extent):
            raise ValueError(f"expected an access of one element, not of {dom.extent}")
        used |= collect_vars_used_in_prim_expr(dom.min)
    return used & {axis.var for axis in block.iter_vars}


def detect_dominant_read(block):
    """The offset of the read at the most axes."""
    reads = [(len(collect_block_iter_vars_used_in_access_region(block, read.region)), read) for read in block.reads]
    most = max(count for count, _ in reads)
    read = next(read for count, read in reads if count == most)
    return read.buffer.offset_of([dom.min for dom in read.region])[0]


def is_broadcast_epilogue(sch, block, epilogue):
    """Returns whether a block reads what another one writes at fewer axes than it has."""
    written = {region.buffer for region in sch.get(block).writes}
    axes = [axis for axis in sch.get(epilogue).iter_vars if not _is_one(axis.dom.extent)]
    return any(len(collect_block_iter_vars_used_in_access_region(sch.get(epilogue), read.region)) < len(axes)
               for read in sch.get(epilogue).reads if read.buffer in written)


# ---- Sizes


def get_bytes(dtype):
    """The bytes of a value of a dtype."""
    return DataType(str(dtype)).bits // 8


def get_extent(sch, loop_rv):
    """The extent of a loop: a number if it is known."""
    extent = sch.get(loop_rv).extent
    return extent.value if isinstance(extent, tir.IntImm) else extent


def auto_vectorize(sch, loop, max_vec):
    """Runs the innermost iterations of a loop as a vector of at most `max_vec` lanes."""
    extent = get_extent(sch, loop)
    if not isinstance(extent, int):
        return
    sch.vectorize(loop if extent <= max_vec else sch.split(loop, factors=[None, max_vec])[-1])


_LIMITS = ("max_threads_per_block", "max_num_threads")


def max_threads_per_block(target):
    """The threads of a block that the target states, or what its kind has at most."""
    stated = next((target.attrs[name] for name in _LIMITS if target.attrs.get(name) is not None), None)
    return stated if stated is not None else 1024 if target.kind.name == "cuda" else 256


def _check_gpu(target):
    if "gpu" not in (target.keys or ()):
        raise ValueError(f"expected a target with GPUs, not {target}")


def get_max_threads_per_block(target):
    """The threads of a block of a GPU that the target states, or 64."""
    _check_gpu(target)
    return int(next((target.attrs[name] for name in _LIMITS if target.attrs.get(name) is not None), 64))


def get_max_shared_memory_per_block(target):
    """The bytes of shared memory of a block of a GPU."""
    _check_gpu(target)
    size = target.attrs.get("max_shared_memory_per_block")
    if size is None:
        raise ValueError(f"the target {target} does not state max_shared_memory_per_block")
    return int(size)


_THREADS = {"cuda": 1024, "rocm": 256, "metal": 256, "opencl": 256}


def suggest_threads_per_block(target, loops, max_threads_for_dynamic_loop=32):
    """Numbers of threads for loops: powers of two up to their extents, as far as a block has threads. Loops of unknown extents
    come last."""
    threads = _THREADS.get(target.kind.name, 64)
    suggested = [None] * len(loops)
    known = [isinstance(loop.extent, tir.IntImm) for loop in loops]
    for index in sorted(range(len(loops)), key=lambda index: not known[index]):
        most = loops[index].extent.value if known[index] else max_threads_for_dynamic_loop
        suggested[index] = 1 << (min(most, threads).bit_length() - 1)
        threads //= suggested[index]
    if not all(known):
        suggested[known.index(False)] *= threads
    return suggested


def get_root_block(sch, func_name="main"):
    """The block around all others of a function."""
    body = sch.mod[func_name].body
    if not isinstance(body, tir.BlockRealize):
        raise ValueError(f"expected a function whose body is a block, not\n{body}")
    return sch.get_block(body.block.name_hint, func_name=func_name)

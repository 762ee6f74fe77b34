"""Layouts of a PrimFunc that follow from those of its outputs: transformations of blocks and of the buffers that they read."""
from .. import tir
from ..arith import IterMapLevel, IterMark, IterSplitExpr, IterSumExpr, detect_iter_map
from .._core import native


def suggest_layout_transforms(func, write_buffer_transforms):
    """By block, the maps of its iterators (under the block) and of its buffers that keep accesses in their order.

    The maps of the last parameters of the function are given. Blocks that are nested, that write several buffers or at indices
    that are not affine, and those whose map would not be bijective get none.
    """
    assert all(isinstance(transform, tir.IndexMap) or callable(transform) for transform in write_buffer_transforms), "expected maps"
    dtype = _index_dtype(func)
    maps = [transform if isinstance(transform, tir.IndexMap) else tir.IndexMap.from_func(transform, index_dtype=dtype)
            for transform in write_buffer_transforms]
    if not maps:
        return {}
    if len(maps) > len(func.params):
        raise native.ArgumentError("Incompatible PrimFunc and write_transformations: there are more maps than parameters")
    known = {}
    for param, index_map in zip(func.params[len(func.params) - len(maps):], maps):
        buffer = func.buffer_map[param]
        if len(buffer.shape) != len(index_map.params):
            raise native.ArgumentError(f"Mismatch between output buffer shape and index map: {buffer.name} has "
                                       f"{len(buffer.shape)} dimensions, the map {len(index_map.params)} indices")
        known[buffer] = index_map
    suggested = {}
    for block in _outer_blocks(func.body):
        if len(block.writes) == 1 and block.writes[0].buffer in known:
            found = _Block(block, known).transforms()
            if found is not None:
                suggested[block] = found
    return suggested


def _index_dtype(func):
    dtypes = {dim.dtype for buffer in func.buffer_map.values() for dim in buffer.shape}
    return "int64" if "int64" in dtypes or not dtypes else str(next(iter(dtypes)))


def _outer_blocks(body):
    """The blocks of a function that are in the root, or in no block, in order."""
    found = []

    class Visitor(tir.PyStmtExprVisitor):
        def visit_block_(self, op):
            if op.name_hint == "root":
                self.visit_stmt(op.body)
            else:
                found.append(op)

    Visitor().visit_stmt(body)
    return found


class _Block:
    """A block with the spatial axes that its accesses of buffers have, dimension by dimension."""

    def __init__(self, block, known):
        self._block, self._known = block, known
        self._places = {iter_var.var: place for place, iter_var in enumerate(block.iter_vars)}
        self._spatial = {iter_var.var: iter_var.dom for iter_var in block.iter_vars
                         if iter_var.iter_type == tir.IterVar.DataPar}

    def transforms(self):
        """The map of the block and those of its buffers, which become known; None if it has none."""
        if any(iter_var.iter_type not in (tir.IterVar.DataPar, tir.IterVar.CommReduce) for iter_var in self._block.iter_vars):
            return None
        accesses = self._accesses()
        written = self._block.writes[0].buffer
        source = accesses and accesses.get(written)
        if not source or not self._is_sequential(source):
            return None
        index_map = self._known[written]
        of_block = _transfer(source, index_map, list(self._places))
        if of_block is None or not self._is_bijective(of_block):
            return None
        result = {self._block: of_block, written: index_map}
        for region in self._block.reads:
            layout = accesses.get(region.buffer)
            if layout and self._is_sequential(layout) and region.buffer not in self._known:
                found = _transfer(source, index_map, layout)
                if found is not None:
                    self._known[region.buffer] = result[region.buffer] = found
        return result

    def _accesses(self):
        """The axes by buffer, None if accesses differ or are not affine; nothing if the block can't be transformed."""
        accesses, is_simple = {}, [True]
        written = self._block.writes[0].buffer

        def add(buffer, indices):
            axes = self._axes(indices)
            accesses[buffer] = axes if buffer not in accesses or _are_same(axes, accesses[buffer]) else None

        class Visitor(tir.PyStmtExprVisitor):
            def visit_block_(self, op):
                is_simple[0] = False

            def visit_buffer_store_(self, op):
                super().visit_buffer_store_(op)
                is_simple[0] &= op.buffer.same_as(written)
                add(op.buffer, op.indices)

            def visit_buffer_load_(self, op):
                super().visit_buffer_load_(op)
                add(op.buffer, op.indices)

        Visitor().visit_stmt(self._block.body)
        return accesses if is_simple[0] else None

    def _axes(self, indices):
        """The spatial axis of each index, None for one that has none; None if an index has several."""
        found = detect_iter_map(indices, self._spatial, check_level=IterMapLevel.NoCheck)
        axes = [_axes_of(index) for index in found.indices]
        return [of_index[0] if of_index else None for of_index in axes] if axes and all(len(a) < 2 for a in axes) else None

    def _is_sequential(self, axes):
        """Returns whether axes are in the order of the block."""
        places = [self._places[axis] for axis in axes if axis is not None]
        return all(a < b for a, b in zip(places, places[1:]))

    def _is_bijective(self, index_map):
        domains = {param: iter_var.dom for param, iter_var in zip(index_map.params, self._block.iter_vars)}
        return bool(detect_iter_map(index_map.results, domains, check_level=IterMapLevel.Bijective).indices)


def _are_same(a, b):
    return a is not None and b is not None and len(a) == len(b) and all(
        x is y or (x is not None and y is not None and x.same_as(y)) for x, y in zip(a, b))


def _axes_of(expr):
    """The variables of iterators in a sum of them."""
    if isinstance(expr, IterSumExpr):
        return [axis for arg in expr.args for axis in _axes_of(arg)]
    if isinstance(expr, IterSplitExpr):
        return _axes_of(expr.source)
    if isinstance(expr, IterMark):
        return [expr.source] if isinstance(expr.source, tir.Var) else _axes_of(expr.source)
    return []


def _transfer(source, index_map, target):
    """The map of indices with the axes of `target` that moves them as `index_map` moves those of `source`; None if there is none.

    Indices without an axis of the source stay where they are.
    """
    if any(axis is None for axis in source):
        return None
    axes = set(target)
    kept = [param for param, axis in zip(index_map.params, source) if axis in axes]
    kept_set, results = set(kept), []
    for result in index_map.results:
        is_kept = [var in kept_set for var in tir.analysis.undefined_vars(result)]
        if all(is_kept):
            results.append(result)
        elif any(is_kept):
            return None
    params, known = list(kept), set(source)
    for place, axis in enumerate(target):
        if axis not in known:
            new = tir.Var("d", index_map.params[0].dtype)
            params.insert(place, new)
            results.insert(min(place, len(results)), new)
    return tir.IndexMap(params, results)

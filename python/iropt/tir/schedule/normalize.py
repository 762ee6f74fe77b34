"""Blocks in a form that rules for schedules expect."""
from ..buffer import IterVar
from ..expr import const
from ..function import IndexMap


def _children(sch):
    """The blocks of the function that have no blocks in them."""
    blocks, stack = [], list(reversed(sch.get_child_blocks(sch.get_block("root"))))
    while stack:
        block = stack.pop()
        inner = sch.get_child_blocks(block)
        stack.extend(reversed(inner))
        if not inner:
            blocks.append(block)
    return blocks


def NormalizePrimFunc(sch):
    """Gives each innermost block of a schedule one loop for each of its axes, of which at least one is spatial.

    Args:
        sch: the schedule.

    Returns: the lists of the blocks, of their loops, of their axes, and whether each is a reduction; None if the function
        has no such blocks.
    """
    blocks, loops, axes, reductions = _children(sch), [], [], []
    if not blocks:
        return None
    for block in blocks:
        is_spatial = any(axis.iter_type == IterVar.DataPar for axis in sch.get(block).iter_vars)

        def mapping(*indices, is_spatial=is_spatial):
            return list(indices) if is_spatial else [const(0, indices[0].dtype if indices else "int32"), *indices]

        own = sch.get(block).iter_vars
        index_map = IndexMap.from_func(mapping, ndim=len(own), index_dtype=own[0].dtype if len(own) else "int32")
        sch.transform_block_layout(block, index_map)
        loops.append(sch.get_loops(block))
        axes.append(sch.get(block).iter_vars)
        reductions.append(any(axis.iter_type == IterVar.CommReduce for axis in axes[-1]))
    return blocks, loops, axes, reductions

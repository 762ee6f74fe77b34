"""Questions about blocks of schedules."""


def is_output_block(sch, block):
    """Returns whether a block writes a buffer that its function gets from outside."""
    from ..function import PrimFunc

    node = sch.get(block)
    written = [region.buffer for region in node.writes]
    for func in sch.mod.values():
        if isinstance(func, PrimFunc):
            outer = [func.buffer_map[param] for param in func.params if param in func.buffer_map]
            if any(buffer.same_as(own) for buffer in written for own in outer):
                return True
    return False


def has_block(sch, block_name):
    """Returns whether the function that the schedule works on has a block of a name."""
    from .schedule import ScheduleError

    try:
        sch.copy().get_block(block_name)
    except ScheduleError:
        return False
    return True

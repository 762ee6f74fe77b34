"""Operators and their schedules for targets, by TVM's names: `topi.generic.schedule_injective([C])`, `topi.x86.conv2d_nchw`.

An operator is that of all targets. A schedule computes all tensors one after another; how they run fast is found out when they run.
"""
from ..te.schedule import create_schedule
from . import nn


def _schedule(outs, *_, **__):
    """The schedule of tensors, or of the operations of tensors."""
    outs = outs if isinstance(outs, (list, tuple)) else [outs]
    return create_schedule([getattr(out, "op", out) for out in outs])


def __getattr__(name):
    if name == "default_schedule" or name.startswith("schedule_"):
        return _schedule
    found = getattr(nn, name, None)
    if callable(found):
        return found
    raise AttributeError(f"topi has no '{name}' for targets")

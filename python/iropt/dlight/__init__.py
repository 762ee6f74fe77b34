"""Rules that schedule PrimFuncs for a target without search."""
from . import analysis, base, cpu, gpu  # noqa: F401
from .analysis import (BlockInfo, IterInfo, SBlockInfo, normalize_prim_func, try_inline,  # noqa: F401
                       try_inline_contiguous_spatial)
from .rules import ApplyDefaultSchedule, ScheduleRule  # noqa: F401

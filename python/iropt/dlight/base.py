"""What rules are made of."""
from .analysis import (BlockInfo, IterInfo, SBlockInfo, auto_vectorize, collect_block_iter_vars_used_in_access_region,  # noqa: F401
                       collect_vars_used_in_prim_expr, detect_dominant_read, get_bytes, get_extent, get_max_shared_memory_per_block,
                       get_max_threads_per_block, get_root_block, is_broadcast_epilogue, max_threads_per_block,
                       normalize_prim_func, suggest_threads_per_block, try_inline, try_inline_contiguous_spatial)
from .rules import ApplyDefaultSchedule, ScheduleRule, _apply_rules  # noqa: F401

"""Schedules: the primitives of the table as methods, and the trace of what was applied."""
from ..buffer import Buffer  # noqa: F401
from .intrinsics import TensorIntrin  # noqa: F401
from . import analysis  # noqa: F401
from .instruction import Instruction, InstructionKind  # noqa: F401
from .normalize import NormalizePrimFunc  # noqa: F401
from .schedule import BlockRV, ExprRV, LoopRV, Schedule, ScheduleError  # noqa: F401
from .state import BlockDependenceInfo, BlockScope, Dependency, DepKind, ScheduleState, StmtSRef  # noqa: F401
from .trace import Trace  # noqa: F401
from ... import _newer

__all__ = ["BlockDependenceInfo", "BlockRV", "BlockScope", "DepKind", "Dependency", "ExprRV", "Instruction", "InstructionKind", "LoopRV",
           "NormalizePrimFunc", "Schedule", "ScheduleError", "ScheduleState", "StmtSRef", "TensorIntrin", "Trace"]

_newer.add_names("tir.schedule", globals())

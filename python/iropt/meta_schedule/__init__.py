"""Search for schedules by measuring, as far as it runs on this machine: for targets that are CPUs.

Candidates are compiled, run on random inputs, compared with the function without a schedule, and timed. There is no cost
model: a space of schedules is tried in order, or drawn from, until the trials are used up.
"""
from . import (arg_info, builder, database, measure_callback, relax_integration, runner, space_generator,  # noqa: F401
               tir_integration, tune, tune_context, utils)
from .builder import Builder  # noqa: F401
from .database import Database, JSONDatabase, MemoryDatabase, TuningRecord, Workload  # noqa: F401
from .measure_callback import MeasureCallback  # noqa: F401
from .relax_integration import compile_relax, tune_relax  # noqa: F401
from .runner import Runner  # noqa: F401
from .space_generator import PostOrderApply, ScheduleFn, SpaceGenerator  # noqa: F401
from .tir_integration import compile_tir, tune_tir  # noqa: F401
from .tune import ExtractedTask, tune_tasks  # noqa: F401
from .tune_context import MeasureCandidate, TuneContext  # noqa: F401
from .utils import derived_object  # noqa: F401

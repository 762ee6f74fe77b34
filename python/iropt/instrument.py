"""Instruments, which watch the passes of a context."""
from .ir.instrument import *  # noqa: F401,F403
from .ir.instrument import (DumpIR, PassInstrument, PassTimingInstrument, PrintAfterAll, PrintBeforeAll,  # noqa: F401
                            ProgressBar, Report, make, pass_instrument)

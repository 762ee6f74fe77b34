"""Rules for CPUs."""
from .rules import LibraryRule


class CPUScheduleRule(LibraryRule):
    """A rule for CPUs."""


class GEMV(CPUScheduleRule, name="cpu.GEMV"):
    """Products of a matrix and a vector."""


class Reduction(CPUScheduleRule, name="cpu.Reduction"):
    """Blocks that share their leading spatial axes."""


class Tile(CPUScheduleRule, name="cpu.Tile"):
    """Reductions in tiles of registers, and elementwise blocks; a rule of this library."""

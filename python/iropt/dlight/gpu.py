"""Rules for GPUs."""
from .rules import LibraryRule


class GPUScheduleRule(LibraryRule):
    """A rule for GPUs."""

    def is_target_available(self, target):
        return "gpu" in (target.keys or ())


class Fallback(GPUScheduleRule, name="gpu.Fallback"):
    """Every function: its blocks are inlined as far as possible, and their axes are bound to threads."""


class GEMV(GPUScheduleRule, name="gpu.GEMV"):
    """Products of a matrix and a vector."""


class GeneralReduction(GPUScheduleRule, name="gpu.GeneralReduction"):
    """Reductions over the same axes, such as softmax."""


class LowBatchGEMV(GPUScheduleRule, name="gpu.LowBatchGEMV"):
    """Products of a matrix and a few vectors, whose number is not known; it is padded to a multiple of `bucket`."""

    def __init__(self, bucket=4):
        self.bucket = bucket

    _few = property(lambda self: self.bucket)


class Matmul(GPUScheduleRule, name="gpu.Matmul"):
    """Matrix products."""


class RMSNorm(GPUScheduleRule, name="gpu.RMSNorm"):
    """Root mean squares of rows."""


class Reduction(GPUScheduleRule, name="gpu.Reduction"):
    """A sum over some axes."""


class Transpose(GPUScheduleRule, name="gpu.Transpose"):
    """A transposition of a matrix."""

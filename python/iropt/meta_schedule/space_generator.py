"""Spaces of schedules: what a search draws from."""
import json

from .._core import native
from ..tir import Schedule
from ..tir.schedule import Trace


class SpaceGenerator:
    """A space of schedules of the function `main` of a module."""

    def schedules(self, mod, target, seed):
        """Candidates, in the order in which they are tried; perhaps without end."""
        raise NotImplementedError

    def generate_design_space(self, mod):
        """Some schedules: those that a search would begin with."""
        raise NotImplementedError


class ScheduleFn(SpaceGenerator):
    """The schedules that a function makes: sampling draws other decisions each time that it is called.

    The function changes a schedule, or returns one or several.
    """

    def __init__(self, sch_fn, *_, **__):
        self.function = sch_fn

    def _call(self, mod, seed):
        sch = Schedule(mod, seed=seed)
        result = self.function(sch)
        if result is None:
            return [sch]
        return list(result) if isinstance(result, (list, tuple)) else [result]

    def schedules(self, mod, target, seed):
        del target
        while True:
            yield from self._call(mod, seed)
            seed = (seed * 48271 + 1) % 2147483647

    def generate_design_space(self, mod):
        return self._call(mod, 1)


class PostOrderApply(SpaceGenerator):
    """The schedules of the library's rule for CPUs, cpu.Tile: tiles of registers and caches, its own choice first."""

    def __init__(self, *_, **__):
        pass

    def schedules(self, mod, target, seed):
        del seed
        for trace in native.tile_traces(mod._module, "main", target):
            sch = Schedule(mod)
            Trace(json.loads(trace)).apply_to_schedule(sch)
            yield sch

    def generate_design_space(self, mod):
        from ..target import Target

        return list(self.schedules(mod, Target.current() or Target("llvm"), 1))


def make(space):
    """The space that a word, a function or an object stands for."""
    if isinstance(space, SpaceGenerator):
        return space
    if space in ("post-order-apply", None):
        return PostOrderApply()
    if callable(space):
        return ScheduleFn(space)
    raise ValueError(f"unknown space of schedules '{space}': expected post-order-apply, a function or a SpaceGenerator")


create = make

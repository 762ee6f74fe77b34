"""A function that is tuned, with all that its search needs."""
import itertools
import os

from ..ir import IRModule
from ..target import Target
from ..tir import PrimFunc
from . import space_generator as _space
from .arg_info import ArgInfo


def _normalize_mod(mod):
    """The module of a PrimFunc, or one with one function, where the function is `main`."""
    if isinstance(mod, PrimFunc):
        if mod.attrs is None or "global_symbol" not in mod.attrs:
            mod = mod.with_attr("global_symbol", "main")
        mod = IRModule({"main": mod.with_attr("tir.noalias", True)})
    if not isinstance(mod, IRModule):
        raise TypeError(f"Expected `mod` to be PrimFunc or IRModule, but gets: {mod}")
    functions = mod.values()
    return IRModule({"main": functions[0]}) if len(functions) == 1 else mod


class MeasureCandidate:
    """A schedule that will be measured, and what the arguments of the function are."""

    def __init__(self, sch, args_info):
        self.sch, self.args_info = sch, args_info


class TuneContext:
    """A PrimFunc, or a module of one, for a target, and the space of its schedules.

    search_strategy: has no meaning here: candidates are drawn from the space in its order
    rand_state: what the space draws from; by default 1
    """

    def __init__(self, mod=None, *, target=None, space_generator=None, search_strategy=None, task_name="main", rand_state=-1,
                 num_threads="physical", logger=None):
        self.mod = None if mod is None else _normalize_mod(mod)
        self.target = Target(target) if target is not None else Target.current()
        self.space_generator = None if space_generator is None else _space.make(space_generator)
        self.search_strategy, self.task_name, self.logger = search_strategy, task_name, logger
        self.rand_state = 1 if rand_state in (-1, None) else rand_state
        self.num_threads = num_threads if isinstance(num_threads, int) else os.cpu_count()
        self._candidates, self._per_iter = None, 0

    def generate_design_space(self):
        """The schedules that a search begins with."""
        self._check()
        with self.target:
            return self.space_generator.generate_design_space(self.mod)

    def _check(self):
        if self.space_generator is None:
            raise ValueError("space_generator is not provided. Please construct TuneContext with space_generator")
        if self.target is None:
            raise ValueError("target is not provided. Please construct TuneContext with target")

    def pre_tuning(self, max_trials, num_trials_per_iter=64, design_spaces=None, database=None, cost_model=None):
        """Begins a search of a number of trials."""
        del database, cost_model
        self._check()
        first = list(self.generate_design_space() if design_spaces is None else design_spaces)
        drawn = self.space_generator.schedules(self.mod, self.target, self.rand_state)
        infos, self._per_iter = ArgInfo.from_entry_func(self.mod), num_trials_per_iter
        seen = set()
        fresh = (sch for sch in itertools.islice(itertools.chain(first, drawn), 4 * max_trials)
                 if str(sch.trace) not in seen and not seen.add(str(sch.trace)))
        self._candidates = (MeasureCandidate(sch, infos) for sch in itertools.islice(fresh, max_trials))

    def generate_measure_candidates(self):
        """The next candidates; None if the trials are used up."""
        if self._candidates is None:
            raise ValueError("the search has not begun: call pre_tuning first")
        return list(itertools.islice(self._candidates, self._per_iter)) or None

    def notify_runner_results(self, measure_candidates, results):
        """Tells the search what candidates took: its order does not depend on it."""

    def post_tuning(self):
        """Ends the search."""
        self._candidates = None

    def clone(self):
        """Another context of the same function."""
        return TuneContext(self.mod, target=self.target, space_generator=self.space_generator, search_strategy=self.search_strategy,
                           task_name=self.task_name, rand_state=self.rand_state, num_threads=self.num_threads, logger=self.logger)

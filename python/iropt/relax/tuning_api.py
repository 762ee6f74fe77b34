"""Choices of transformations, the history of those that were applied, and databases of their measurements."""
import json
import os

from ..ir import BaseFunc, IRModule, load_json, save_json, structural_equal
from ..packed import get_global_func, register_func

_DEFAULT = "relax.tuning_api.Choice.default_"
register_func(_DEFAULT + "transform_func", lambda mod: mod, override=True)
register_func(_DEFAULT + "constr_func", lambda mod: True, override=True)


class Choice:
    """A transformation of modules and a condition for it: names of registered functions, with arguments after the module."""

    def __init__(self, transform_func_key=None, transform_func_args=None, constr_func_key=None, constr_func_args=None):
        self.transform_func_key = transform_func_key or _DEFAULT + "transform_func"
        self.transform_func_args = list(transform_func_args or [])
        self.constr_func_key = constr_func_key or _DEFAULT + "constr_func"
        self.constr_func_args = list(constr_func_args or [])

    def get_transform_func(self):
        return get_global_func(self.transform_func_key)

    def get_constr_func(self):
        return get_global_func(self.constr_func_key)

    def check_constr(self, mod):
        """Returns whether a module fulfils the condition."""
        return bool(self.get_constr_func()(mod, *self.constr_func_args))

    def apply_transform_func(self, mod):
        """The transformed module; the module itself, which never changes, if it does not fulfil the condition."""
        return self.get_transform_func()(mod.copy(), *self.transform_func_args) if self.check_constr(mod) else mod

    def as_json(self):
        return [self.transform_func_key, self.transform_func_args, self.constr_func_key, self.constr_func_args]

    @staticmethod
    def from_json(json_obj):
        return Choice(*json_obj)

    def deepcopy(self):
        return Choice.from_json(self.as_json())


class Knob:
    """A decision: its choices by their names, which are numbers if a list is given."""

    def __init__(self, name, choices):
        self.name = name
        self.choices = dict(choices) if isinstance(choices, dict) else {str(i): item for i, item in enumerate(choices)}

    def verify(self, decision):
        """Returns whether there is a choice of a name."""
        return str(decision) in self.choices

    def apply(self, mod, decision):
        """The module that the choice of a name makes."""
        if not self.verify(decision):
            raise ValueError(f"'{decision}' is not a choice of {self.name}: expected one of {', '.join(self.choices)}")
        return self.choices[str(decision)].apply_transform_func(mod)

    def as_json(self):
        return [self.name, {name: choice.as_json() for name, choice in self.choices.items()}]

    @staticmethod
    def from_json(json_obj):
        name, choices = json_obj
        return Knob(name, {key: Choice.from_json(choice) for key, choice in choices.items()})

    def deepcopy(self):
        return Knob.from_json(self.as_json())

    def __str__(self):
        lines = [f"{self.name} (# of choices: {len(self.choices)})", *(f"  - {name}" for name in self.choices)]
        return "\n".join(lines) + "\n"


class Trace:
    """A module, the decisions that were made, and the module that they have led to; `perf` is -1 if it was not measured."""

    def __init__(self, in_mod, knobs=None, decisions=None):
        self.in_mod = self.out_mod = in_mod
        self.knobs, self.decisions, self.perf = [], [], -1
        for knob, decision in zip(knobs or [], decisions or []):
            self.add(knob, decision)

    size = property(lambda self: len(self.decisions))

    def verify(self):
        """Returns whether all decisions are choices."""
        return all(knob.verify(decision) for knob, decision in zip(self.knobs, self.decisions))

    def add(self, knob, decision):
        """Makes one more decision, and returns the module that it leads to."""
        self.out_mod = knob.apply(self.out_mod, decision)
        self.knobs.append(knob)
        self.decisions.append(str(decision))
        self.perf = -1
        return self.out_mod

    def set_perf(self, perf):
        self.perf = perf

    def set_out_mod(self, mod):
        self.out_mod = mod

    def as_json(self, include_irmod=True):
        made = [[knob.as_json() for knob in self.knobs], self.decisions, self.perf]
        return [*made, save_json(self.in_mod)] if include_irmod else made

    @staticmethod
    def from_json(json_obj):
        """The trace that as_json has written; one without its module begins with an empty one."""
        knobs, decisions, perf, *module = json_obj
        knobs = [Knob.from_json(knob) for knob in knobs]
        trace = Trace(load_json(module[0]), knobs, decisions) if module else Trace(IRModule())
        if not module:
            trace.knobs, trace.decisions = knobs, list(decisions)
        trace.perf = perf
        return trace

    def deepcopy(self):
        copy = Trace(self.in_mod)
        copy.knobs, copy.decisions = list(self.knobs), list(self.decisions)
        copy.out_mod, copy.perf = self.out_mod, self.perf
        return copy

    def __str__(self):
        steps = (f"[{i + 1}] {knob.name}: {decision}\n" for i, (knob, decision) in enumerate(zip(self.knobs, self.decisions)))
        return f"Trace length: {self.size}\n" + "".join(steps)


def get_trace(in_):
    """The trace of a trace, or that of a module or a function before any decision."""
    if isinstance(in_, Trace):
        return in_
    if isinstance(in_, BaseFunc):
        symbol = in_.attrs.get("global_symbol") if in_.attrs is not None else None
        in_ = IRModule({symbol or "main": in_})
    if not isinstance(in_, IRModule):
        raise TypeError(f"expected a module, a function or a trace, not {type(in_).__name__}")
    return Trace(in_)


def default_generate_candidate(knobs, trace, eval_passes=None):
    """The traces of all combinations of choices whose conditions hold, each after the passes that are given."""
    candidates = [trace]
    for knob in knobs:
        longer = []
        for candidate in candidates:
            for name, choice in knob.choices.items():
                if choice.check_constr(candidate.out_mod):
                    longer.append(candidate.deepcopy())
                    longer[-1].add(knob, name)
        candidates = longer
    if eval_passes:
        raise NotImplementedError("passes that are traced are not a part of iropt")
    return candidates


def select_best_candidate(candidates):
    """The trace with the least time."""
    return min(candidates, key=lambda candidate: candidate.perf)


class TuningRecord:
    """A trace with the seconds of its runs."""

    def __init__(self, trace, run_secs=None):
        self.trace, self.run_secs = trace, None if run_secs is None else [float(seconds) for seconds in run_secs]

    def as_json(self, include_irmod=False):
        return [self.trace.as_json(include_irmod), self.run_secs]

    @staticmethod
    def from_json(json_obj):
        return TuningRecord(Trace.from_json(json_obj[0]), json_obj[1])


class Workload:
    """A module of a database."""

    def __init__(self, mod):
        self.mod = mod


class JSONDatabase:
    """Modules, and their measurements and tuning records by target, in three files: one JSON value a line."""

    def __init__(self, path_workload, path_tuning_record, path_measurement_record, allow_missing=True):
        self.path_workload, self.path_tuning_record = path_workload, path_tuning_record
        self.path_measurement_record = path_measurement_record
        for path in (path_workload, path_tuning_record, path_measurement_record):
            if not os.path.exists(path):
                if not allow_missing:
                    raise FileNotFoundError(path)
                with open(path, "w", encoding="utf-8"):
                    pass
        self._workloads = [Workload(load_json(text)) for text in _read(path_workload)]
        self._records = [(at, target, TuningRecord.from_json(record)) for at, target, record in _read(path_tuning_record)]
        self._measured = {(at, target): seconds for at, target, seconds in _read(path_measurement_record)}

    def _find(self, mod):
        return next((i for i, other in enumerate(self._workloads) if structural_equal(other.mod, mod)), None)

    def _key(self, workload, target):
        return self._find(workload.mod), str(target)

    def has_workload(self, mod):
        return self._find(mod) is not None

    def has_measurement_record(self, workload, target):
        return self._key(workload, target) in self._measured

    def has_tuning_record(self, workload, target):
        return bool(self.get_top_k(workload, target, 1))

    def commit_workload(self, mod):
        """The workload of a module, which is added if there is none of an equal one."""
        at = self._find(mod)
        if at is None:
            at = len(self._workloads)
            self._workloads.append(Workload(mod))
            _append(self.path_workload, save_json(mod))
        return self._workloads[at]

    def commit_measurement_record(self, workload, target, run_secs):
        """Notes the seconds of the runs of a workload."""
        key = self._key(workload, target)
        self._measured[key] = [float(seconds) for seconds in run_secs]
        _append(self.path_measurement_record, [*key, self._measured[key]])

    def commit_tuning_record(self, workload, target, record):
        """Notes a tuning record of a workload."""
        key = self._key(workload, target)
        self._records.append((*key, record))
        _append(self.path_tuning_record, [*key, record.as_json()])

    def get_measurement_record(self, workload, target):
        """The seconds of the runs of a workload; an empty list if it was not measured."""
        return self._measured.get(self._key(workload, target), [])

    def get_top_k(self, workload, target, top_k):
        """The tuning records of a workload with the least mean seconds."""
        key = self._key(workload, target)
        records = [record for at, name, record in self._records if (at, name) == key and record.run_secs]
        return sorted(records, key=lambda record: sum(record.run_secs) / len(record.run_secs))[:top_k]


def _read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def _append(path, value):
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(value) + "\n")

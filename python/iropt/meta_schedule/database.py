"""Databases of measured schedules, also as the files of TVM's tuner."""
import json
import os
import statistics

from .._core import native
from ..ir import IRModule, structural_equal
from ..target import Target, as_json
from ..tir import PrimFunc, Schedule
from ..tir.schedule import Trace

_FILES = ("database_workload.json", "database_tuning_record.json")
_current = []


def normalize(mod):
    """The module with the PrimFunc as "main" that a database compares: names of functions do not count."""
    if not isinstance(mod, PrimFunc):
        functions = [func for func in mod.values() if isinstance(func, PrimFunc)]
        if len(functions) != 1:
            raise ValueError(f"a workload is a module with one PrimFunc, not {len(functions)}")
        mod = functions[0]
    func = mod.with_attr("tir.noalias", True)
    symbol = func.attrs.get("global_symbol")
    return IRModule({"main": func if symbol == "main" else func.with_attr("global_symbol", "main")})


class Workload:
    """A function that was tuned, as a module with the function `main`."""

    def __init__(self, mod):
        self.mod = mod

    def as_json(self):
        return self.mod.script()


class TuningRecord:
    """A schedule of a workload, as its trace, with the seconds of its runs."""

    def __init__(self, trace, workload, run_secs=None, target=None, args_info=None):
        self.trace, self.workload, self.target = trace, workload, target
        self.run_secs, self.args_info = list(run_secs or []), args_info

    def is_valid(self):
        """Returns whether it was run."""
        return bool(self.run_secs) and all(0 < seconds < float("inf") for seconds in self.run_secs)

    def seconds(self):
        """The mean time of a run."""
        return statistics.fmean(self.run_secs)

    def schedule(self):
        """The schedule of the workload."""
        sch = Schedule(self.workload.mod)
        self.trace.apply_to_schedule(sch)
        return sch


class Database:
    """Records by workloads. It is also a scope: `with database: ...`."""

    def __init__(self):
        self._records = []
        self._workloads = []

    def _find(self, mod):
        wanted = normalize(mod)
        return next((known for known in self._workloads if structural_equal(known.mod, wanted)), None)

    def has_workload(self, mod):
        """Returns whether a function was tuned."""
        return self._find(mod) is not None

    def commit_workload(self, mod):
        """The workload of a function, which is added if it is new."""
        found = self._find(mod)
        if found is None:
            found = Workload(normalize(mod))
            self._workloads.append(found)
        return found

    def commit_tuning_record(self, record):
        """Adds a record."""
        self._records.append(record)

    def get_all_tuning_records(self):
        """All records."""
        return list(self._records)

    def get_top_k(self, workload, top_k):
        """The fastest records of a workload."""
        records = [record for record in self._records if record.workload is workload and record.is_valid()]
        return sorted(records, key=TuningRecord.seconds)[:top_k]

    def __len__(self):
        return len(self._records)

    def query_tuning_record(self, mod, target=None, workload_name="main"):
        """The fastest record of a function; None if there is none."""
        del target, workload_name
        workload = self._find(mod)
        records = [] if workload is None else self.get_top_k(workload, 1)
        return records[0] if records else None

    def query_schedule(self, mod, target=None, workload_name="main"):
        """The fastest schedule of a function; None if there is none."""
        record = self.query_tuning_record(mod, target, workload_name)
        return None if record is None else record.schedule()

    def query_ir_module(self, mod, target=None, workload_name="main"):
        """The module with the fastest schedule of a function; None if there is none."""
        sch = self.query_schedule(mod, target, workload_name)
        return None if sch is None else sch.mod

    def query(self, mod, target=None, *, workload_name="main", kind="schedule"):
        """The fastest record of a function as a "schedule", a "record" or an "ir_module"."""
        find = {"schedule": self.query_schedule, "record": self.query_tuning_record, "ir_module": self.query_ir_module}
        if kind not in find:
            raise ValueError(f"unknown kind '{kind}': expected one of {', '.join(find)}")
        return find[kind](mod, target, workload_name)

    def dump_pruned(self, destination):
        """Adds the fastest record of each workload to another database."""
        for workload in self._workloads:
            for record in self.get_top_k(workload, 1):
                destination.commit_tuning_record(TuningRecord(record.trace, destination.commit_workload(workload.mod),
                                                              record.run_secs, record.target, record.args_info))

    def __enter__(self):
        _current.append(self)
        return self

    def __exit__(self, *_):
        _current.pop()

    @staticmethod
    def current():
        """The database of the innermost scope, or None."""
        return _current[-1] if _current else None


class MemoryDatabase(Database):
    """A database that ends with the program."""


class JSONDatabase(Database):
    """The database of a folder: the files that TVM's tuner and MetaScheduleApplyDatabase read."""

    def __init__(self, path_workload=None, path_tuning_record=None, *, work_dir=None, allow_missing=True,
                 module_equality="structural"):
        super().__init__()
        del module_equality
        if work_dir is None:
            if path_workload is None:
                raise ValueError("expected the folder of the database: work_dir=FOLDER")
            names = (os.path.basename(path_workload), os.path.basename(path_tuning_record or _FILES[1]))
            if names != _FILES:
                raise ValueError(f"the files of a database are named {_FILES[0]} and {_FILES[1]}, not {names[0]} and {names[1]}")
            work_dir = os.path.dirname(os.path.abspath(path_workload))
        self.work_dir = work_dir
        if not allow_missing and not all(os.path.exists(os.path.join(work_dir, name)) for name in _FILES):
            raise ValueError(f"{work_dir} has no database: expected {_FILES[0]} and {_FILES[1]}")
        for module, trace, seconds, target in native.tuning_records(work_dir, None, ""):
            workload = super().commit_workload(IRModule(_module=module))
            target = json.loads(target) if target else None
            super().commit_tuning_record(TuningRecord(Trace(trace), workload, seconds, target and Target(target)))

    path_workload = property(lambda self: os.path.join(self.work_dir, _FILES[0]))
    path_tuning_record = property(lambda self: os.path.join(self.work_dir, _FILES[1]))

    def commit_tuning_record(self, record):
        super().commit_tuning_record(record)
        target = "null" if record.target is None else as_json(record.target.export())
        native.add_tuning_record(self.work_dir, record.workload.mod._module, "main", json.dumps(record.trace.as_json()),
                                 record.run_secs, target, json.dumps(record.args_info))


def create(kind="json", *args, **kwargs):
    """A database of a kind: "json" (with the arguments of JSONDatabase) or "memory"."""
    if kind == "memory":
        kwargs.pop("module_equality", None)
        return MemoryDatabase(*args, **kwargs)
    if kind != "json":
        raise ValueError(f"unknown kind of database '{kind}': expected json or memory")
    return JSONDatabase(*args, **kwargs)


def make(database, work_dir):
    """The database that a word or an object stands for."""
    if isinstance(database, Database):
        return database
    if database == "memory" or work_dir is None:
        return MemoryDatabase()
    if database != "json":
        raise ValueError(f"unknown kind of database '{database}': expected json or memory")
    os.makedirs(work_dir, exist_ok=True)
    return JSONDatabase(work_dir=work_dir)

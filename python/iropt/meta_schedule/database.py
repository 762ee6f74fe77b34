"""Databases of measured schedules, also as the files of TVM's tuner."""
import json
import os
import shutil
import statistics
import tempfile

from .._core import native
from ..ir import IRModule, structural_equal
from ..target import Target, as_json
from ..tir import PrimFunc, Schedule
from ..tir.schedule import Trace
from .arg_info import ArgInfo

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


def _named_as(workload, mod):
    """The module of a workload whose function has the symbol of one that a program asks for."""
    functions = [mod] if isinstance(mod, PrimFunc) else [func for func in mod.values() if isinstance(func, PrimFunc)]
    symbol = functions[0].attrs.get("global_symbol")
    return IRModule({"main": workload["main"].with_attr("global_symbol", symbol)}) if symbol else workload


class Workload:
    """A function that was tuned, as a module with the function `main`."""

    def __init__(self, mod):
        self.mod = mod

    def as_json(self):
        return self.mod.script()


class _Seconds(float):
    """A time, also with the field of TVM 0.18's numbers."""

    value = property(float)


class TuningRecord:
    """A schedule of a workload, as its trace, with the seconds of its runs."""

    def __init__(self, trace, workload, run_secs=None, target=None, args_info=None):
        self.trace, self.workload, self.target = trace, workload, target
        self.run_secs, self.args_info = [_Seconds(seconds) for seconds in run_secs or []], args_info

    def is_valid(self):
        """Returns whether it was run: runs that failed take 1e10 seconds."""
        return any(seconds < 1e10 for seconds in self.run_secs)

    def seconds(self):
        """The mean time of a run."""
        return statistics.fmean(self.run_secs)

    def as_json(self):
        """The record without its workload, as a file has it."""
        return [self.trace.as_json(), self.run_secs, None if self.target is None else as_json(self.target.export()), self._infos()]

    def _infos(self):
        infos = self.args_info
        return None if infos is None else [info.as_json() if isinstance(info, ArgInfo) else info for info in infos]

    @staticmethod
    def from_json(json_obj, workload):
        """The record that as_json has written, of a workload."""
        trace, seconds, target, infos = json_obj
        target = json.loads(target) if isinstance(target, str) else target
        return TuningRecord(Trace(json.dumps(trace)), workload, seconds, None if target is None else Target(target),
                            None if infos is None else [ArgInfo.from_json(info) for info in infos])

    def schedule(self, mod=None):
        """The schedule of the workload, or of a module that differs from it only in names."""
        sch = Schedule(self.workload.mod if mod is None else mod)
        self.trace.apply_to_schedule(sch)
        return sch


class Database:
    """Records by workloads. It is also a scope: `with database: ...`."""

    @staticmethod
    def create(kind="json", *args, **kwargs):
        """A database of a kind; see the function `create`."""
        return create(kind, *args, **kwargs)

    def __init__(self, module_equality="structural"):
        del module_equality
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
        return None if record is None else record.schedule(_named_as(record.workload.mod, mod))

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


class PyDatabase(Database):
    """A database of a program's own: a class with `has_workload`, `commit_workload`, `commit_tuning_record`, `get_top_k` and so on.

    Queries go to these methods, unless the class has its own.
    """

    def query_tuning_record(self, mod, target=None, workload_name="main"):
        del target, workload_name
        records = self.get_top_k(self.commit_workload(mod), 1) if self.has_workload(mod) else []
        return records[0] if records else None


class _Databases(Database):
    """Several databases, which are only asked."""

    def __init__(self, *databases):
        super().__init__()
        self._databases = databases

    def _answers(self, mod, target, workload_name):
        records = (database.query_tuning_record(mod, target, workload_name) for database in self._databases)
        return [record for record in records if record is not None]

    def _refuse(self, *_):
        raise NotImplementedError(f"{type(self).__name__} answers queries only")

    has_workload = commit_workload = commit_tuning_record = get_top_k = get_all_tuning_records = _refuse


class UnionDatabase(_Databases):
    """Several databases, of whose answers the fastest counts."""

    def query_tuning_record(self, mod, target=None, workload_name="main"):
        return min(self._answers(mod, target, workload_name), key=TuningRecord.seconds, default=None)


class OrderedUnionDatabase(_Databases):
    """Several databases, of which the first that knows a function answers."""

    def query_tuning_record(self, mod, target=None, workload_name="main"):
        return next(iter(self._answers(mod, target, workload_name)), None)


class ScheduleFnDatabase(Database):
    """A function that schedules: it returns whether it has done so."""

    def __init__(self, schedule_fn):
        super().__init__()
        self._schedule_fn = schedule_fn

    def query_tuning_record(self, mod, target=None, workload_name="main"):
        del workload_name
        module = IRModule({"main": mod}) if isinstance(mod, PrimFunc) else mod
        sch = Schedule(module)
        return TuningRecord(sch.trace, Workload(module), [0.0], target) if self._schedule_fn(sch) else None


class JSONDatabase(Database):
    """The database of a folder: the files that TVM's tuner and MetaScheduleApplyDatabase read."""

    def __init__(self, path_workload=None, path_tuning_record=None, *, work_dir=None, allow_missing=True,
                 module_equality="structural"):
        super().__init__(module_equality)
        if work_dir is None and path_workload is None:
            raise ValueError("expected the folder of the database: work_dir=FOLDER")
        folder = work_dir if work_dir is not None else os.path.dirname(os.path.abspath(path_workload))
        self.path_workload = path_workload or os.path.join(folder, _FILES[0])
        self.path_tuning_record = path_tuning_record or os.path.join(folder, _FILES[1])
        paths = self.path_workload, self.path_tuning_record
        if not allow_missing and not all(map(os.path.exists, paths)):
            raise ValueError(f"{folder} has no database: expected {' and '.join(map(os.path.basename, paths))}")
        # Files of other names are copies of those of a folder of their own.
        has_own_names = tuple(os.path.abspath(path) for path in paths) != tuple(os.path.abspath(os.path.join(folder, name)) for name in _FILES)
        self._own_folder = tempfile.TemporaryDirectory() if has_own_names else None
        self.work_dir = self._own_folder.name if has_own_names else folder
        if has_own_names:
            for path, name in zip(paths, _FILES):
                if os.path.exists(path):
                    shutil.copyfile(path, os.path.join(self.work_dir, name))
                else:
                    open(path, "w", encoding="ascii").close()
        records = native.tuning_records(self.work_dir, None, "")
        for (module, trace, seconds, target), infos in zip(records, self._infos_in_file(len(records))):
            workload = super().commit_workload(IRModule(_module=module))
            target = json.loads(target) if target else None
            super().commit_tuning_record(TuningRecord(Trace(trace), workload, seconds, target and Target(target), infos))

    def _infos_in_file(self, count):
        """What the records say of arguments; None for each if the file has another number of records."""
        path = os.path.join(self.work_dir, _FILES[1])
        lines = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                lines = [json.loads(line)[1][3] for line in file if line.strip()]
        if len(lines) != count:
            return [None] * count
        return [None if infos is None else [ArgInfo.from_json(info) if info[:1] == ["TENSOR"] else info for info in infos]
                for infos in lines]

    def commit_tuning_record(self, record):
        super().commit_tuning_record(record)
        target = "null" if record.target is None else as_json(record.target.export())
        native.add_tuning_record(self.work_dir, record.workload.mod._module, "main", json.dumps(record.trace.as_json()),
                                 record.run_secs, target, json.dumps(record._infos()))
        if self._own_folder is not None:
            for path, name in zip((self.path_workload, self.path_tuning_record), _FILES):
                shutil.copyfile(os.path.join(self.work_dir, name), path)


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

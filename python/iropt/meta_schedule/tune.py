"""The search: candidates are compiled, run, compared and timed."""
import itertools
import time

from .._core import Error
from ..ir import IRModule, structural_equal
from ..running import Function
from ..runtime import array
from ..target import Target
from ..tir import IntImm, PrimFunc
from . import database as _database
from . import space_generator as _space

# A candidate is timed until it has run for this long, and at least twice.
_SECONDS = 0.02
_RUNS = 2


class ExtractedTask:
    """A function to be tuned: the module with it as `main`, and how often a program calls it."""

    def __init__(self, task_name, mod, target, weight=1):
        self.task_name, self.mod, self.target, self.weight = task_name, mod, target, weight
        self.dispatched = [mod]

    def __repr__(self):
        return f"ExtractedTask({self.task_name}, weight={self.weight})"


def cpu_target(target):
    """The target, which must be one that this machine can measure."""
    target = target if isinstance(target, Target) else Target(target)
    if target.kind not in ("llvm", "c"):
        raise NotImplementedError(f"schedules for the target {target.kind} cannot be measured here: expected llvm")
    return target


def tasks_of(mod, target):
    """The tasks of a module: PrimFuncs with blocks, those that are equal once; the weight is the number of calls."""
    from ..relax import Call
    from ..relax import Function as RelaxFunction
    from ..relax.analysis import post_order_visit

    calls = {}

    def count(node):
        if isinstance(node, Call):
            for arg in node.args[:1]:
                name = getattr(arg, "name_hint", None)
                calls[name] = calls.get(name, 0) + 1

    for func in mod.values():
        if isinstance(func, RelaxFunction):
            post_order_visit(func, count)
    tasks = []
    for name, func in mod.items():
        if not isinstance(func, PrimFunc):
            continue
        workload, weight = _database.normalize(func), calls.get(name.name_hint, 0) or 1
        known = next((task for task in tasks if structural_equal(task.mod, workload)), None)
        if known is None:
            tasks.append(ExtractedTask(name.name_hint, workload, target, weight))
        else:
            known.weight += weight
    return tasks


def _arguments(func):
    """Random arguments; None if a shape is not constant or a parameter is not a tensor."""
    import numpy

    random, arguments = numpy.random.RandomState(0), []
    for param in func.params:
        buffer = func.buffer_map.get(param)
        if buffer is None or not all(isinstance(dim, IntImm) for dim in buffer.shape):
            return None
        shape, dtype = [int(dim) for dim in buffer.shape], str(buffer.dtype)
        if dtype.startswith(("float", "int", "uint")) and "_" not in dtype:
            values = random.uniform(-1, 1, shape) if dtype.startswith("float") else random.randint(0, 2, shape)
            arguments.append(numpy.asarray(values).astype(dtype))
        elif dtype == "bool":
            arguments.append(random.randint(0, 2, shape).astype(bool))
        else:
            return None
    return arguments


class Runner:
    """Runs candidates of a function on the same random inputs."""

    def __init__(self, mod):
        self._inputs = _arguments(mod["main"])
        self.expected = None
        if self._inputs is not None:
            self.expected = self._run(mod)[0]

    def _run(self, mod):
        arguments = [array(value) for value in self._inputs]
        function = Function(mod, "main", loops="compile")
        function(*arguments)
        return [value.numpy() for value in arguments], function, arguments

    def seconds(self, mod):
        """The least time of a call of the function; None if its results are wrong."""
        import numpy

        results, function, arguments = self._run(mod)
        for result, expected in zip(results, self.expected):
            tolerance = {"float16": 1e-2, "float32": 1e-4}.get(str(expected.dtype), 1e-8)
            if not numpy.allclose(result, expected, tolerance, tolerance, equal_nan=True):
                return None
        times = []
        while len(times) < _RUNS or sum(times) < _SECONDS:
            begin = time.perf_counter()
            function(*arguments)
            times.append(time.perf_counter() - begin)
        return min(times)


def _tune_task(task, database, trials, space, seed):
    """Measures candidates of one task; returns the number of trials."""
    runner = Runner(task.mod)
    if runner.expected is None:
        return 0
    workload, seen, tried = database.commit_workload(task.mod), set(), 0
    # A space may draw the same schedule many times.
    for sch in itertools.islice(space.schedules(task.mod, task.target, seed), 4 * trials):
        text = str(sch.trace)
        if text in seen:
            continue
        seen.add(text)
        tried += 1
        try:
            seconds = runner.seconds(sch.mod)
        except Error:
            seconds = None
        if seconds is not None:
            args_info = [["TENSOR", str(task.mod["main"].buffer_map[param].dtype),
                          [int(dim) for dim in task.mod["main"].buffer_map[param].shape]] for param in task.mod["main"].params]
            database.commit_tuning_record(
                _database.TuningRecord(sch.trace, workload, [seconds], task.target, args_info))
        if tried >= trials:
            break
    return tried


def tune_tasks(tasks, work_dir, max_trials_global, max_trials_per_task=None, database="json", space="post-order-apply", seed=None):
    """Tunes functions, those with the most weight first, until the trials are used up. Returns the database."""
    database = _database.make(database, work_dir)
    space, left = _space.make(space), max_trials_global
    tasks = sorted(tasks, key=lambda task: -task.weight)
    for index, task in enumerate(tasks):
        share = -(-left // (len(tasks) - index))
        trials = min(share, max_trials_per_task or share)
        if trials > 0:
            left -= _tune_task(task, database, trials, space, 1 if seed is None else seed)
    return database


def applied(database, mod, target, enable_warning=False):
    """The module with the fastest schedules of its functions."""
    import warnings

    functions = {}
    for name, func in mod.items():
        sch = database.query_schedule(func, target) if isinstance(func, PrimFunc) else None
        if sch is None:
            functions[name] = func
            if enable_warning and isinstance(func, PrimFunc):
                warnings.warn(f"the database has no record for {name.name_hint}")
            continue
        symbol = func.attrs.get("global_symbol") if func.attrs is not None else None
        scheduled = sch.mod["main"].without_attr("global_symbol")
        functions[name] = scheduled if symbol is None else scheduled.with_attr("global_symbol", symbol)
    return IRModule(functions, attrs=mod.attrs)

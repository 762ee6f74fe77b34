"""The search: candidates are compiled, run, compared and timed."""
import itertools
import time

from .._core import Error
from ..ir import IRModule, structural_equal
from ..running import Function
from ..runtime import array
from ..target import Target
from ..tir import IntImm, PrimFunc
from . import builder as _builder
from . import database as _database
from . import runner as _runner
from . import space_generator as _space
from .arg_info import ArgInfo
from .measure_callback import MeasureCallback
from .tune_context import MeasureCandidate

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


def _is_own(tool):
    """Returns whether a builder or a runner does what this module does not do itself."""
    for plain in (_builder.LocalBuilder, _runner.LocalRunner):
        if isinstance(tool, plain):
            return vars(tool) != vars(plain())
    return tool is not None


def _tool(kinds, tool):
    """A builder or a runner: that of a word, that of a program, or None."""
    return kinds.create(tool) if isinstance(tool, str) else tool


class _Measuring:
    """How candidates of one task are measured: in this process, or by a builder and a runner of a program."""

    def __init__(self, task, builder, runner):
        builder, runner = _tool(_builder, builder), _tool(_runner, runner)
        self._task, self._tools, self._runner = task, None, None
        if _is_own(builder) or _is_own(runner):
            self._tools = builder or _builder.create(), runner or _runner.create()
        else:
            self._runner = Runner(task.mod)

    def can_run(self):
        """Returns whether there are arguments for the function."""
        return self._tools is not None or self._runner.expected is not None

    def measure(self, sch, args_info):
        """The results of a builder and of a runner for a schedule."""
        if self._tools is None:
            try:
                seconds = self._runner.seconds(sch.mod)
            except Error as error:
                return _builder.BuilderResult(None, str(error)), _runner.RunnerResult(None, str(error))
            message = None if seconds is not None else "the results differ from those without a schedule"
            return _builder.BuilderResult(None, None), _runner.RunnerResult(None if seconds is None else [seconds], message)
        builder, runner = self._tools
        built = builder.build([_builder.BuilderInput(sch.mod, self._task.target)])[0]
        if built.error_msg is not None:
            return built, _runner.RunnerResult(None, built.error_msg)
        target = Target(self._task.target)
        return built, runner.run([_runner.RunnerInput(built.artifact_path, target.kind.name, args_info)])[0].result()


class _Scheduler:
    """What callbacks see of the search."""

    def __init__(self, tasks, database, callbacks):
        self.tasks_, self.database_, self.measure_callbacks_ = tasks, database, callbacks


def _tune_task(task, database, trials, space, seed, measuring, report):
    """Measures candidates of one task; returns the number of trials. `report` is called with each candidate and its results."""
    if not measuring.can_run():
        return 0
    workload, seen, tried = database.commit_workload(task.mod), set(), 0
    args_info = ArgInfo.from_entry_func(task.mod)
    # A space may draw the same schedule many times.
    for sch in itertools.islice(space.schedules(task.mod, task.target, seed), 4 * trials):
        text = str(sch.trace)
        if text in seen:
            continue
        seen.add(text)
        tried += 1
        built, ran = measuring.measure(sch, args_info)
        if ran.error_msg is None:
            database.commit_tuning_record(_database.TuningRecord(
                sch.trace, workload, [float(seconds) for seconds in ran.run_secs], task.target, args_info))
        report(MeasureCandidate(sch, args_info), built, ran)
        if tried >= trials:
            break
    return tried


def tune_tasks(tasks, work_dir=None, max_trials_global=None, max_trials_per_task=None, database="json", space=None, seed=None, *,
               task_weights=None, builder="local", runner="local", measure_callbacks="default", **_):
    """Tunes functions, those with the most weight first, until the trials are used up. Returns the database.

    tasks: ExtractedTask, or TuneContext with task_weights
    space: by default that of a TuneContext, or post-order-apply
    builder, runner: "local", or objects of a program that build and run the candidates; by default wrong results are refused
    measure_callbacks: are called with each candidate and its results
    """
    database = _database.make(database, work_dir)
    weights = list(task_weights) if task_weights is not None else [getattr(task, "weight", 1) for task in tasks]
    if isinstance(measure_callbacks, str):
        measure_callbacks = MeasureCallback.create(measure_callbacks)
    callbacks = list(measure_callbacks) if isinstance(measure_callbacks, (list, tuple)) else [measure_callbacks] if measure_callbacks else []
    if max_trials_global is None:
        raise ValueError("max_trials_global is not given")
    scheduler, left = _Scheduler(list(tasks), database, callbacks), max_trials_global
    order = sorted(range(len(weights)), key=lambda index: -weights[index])
    for place, index in enumerate(order):
        task = scheduler.tasks_[index]
        share = -(-left // (len(order) - place))
        trials = min(share, max_trials_per_task or share)

        def report(candidate, built, ran, index=index):
            for callback in callbacks:
                callback.apply(scheduler, index, [candidate], [built], [ran])

        if trials > 0:
            of_task = _space.make(space if space is not None else getattr(task, "space_generator", None))
            of_seed = seed if seed is not None else getattr(task, "rand_state", 1)
            left -= _tune_task(task, database, trials, of_task, of_seed, _Measuring(task, builder, runner), report)
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

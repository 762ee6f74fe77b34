"""Runners: they load what a builder has made, run it on random inputs and measure it."""
from typing import NamedTuple

from .. import runtime
from .arg_info import ArgInfo
from .builder import function_of
from .tune_utils import generate_input_data


class EvaluatorConfig(NamedTuple):
    """How a function is measured: `repeat` times, `number` calls each, and more of them until min_repeat_ms are over."""

    number: int = 3
    repeat: int = 1
    min_repeat_ms: int = 100
    enable_cpu_cache_flush: bool = False


class RPCConfig(NamedTuple):
    """Where a tracker of devices is."""

    tracker_host: str = None
    tracker_port: object = None
    tracker_key: str = None
    session_priority: int = 1
    session_timeout_sec: int = 10


class RunnerInput:
    """The path of what was built, the type of the device, and what the arguments are: a list of ArgInfo."""

    def __init__(self, artifact_path, device_type, args_info):
        self.artifact_path, self.device_type, self.args_info = artifact_path, device_type, args_info


class RunnerResult:
    """The seconds of the runs, or the message of an error: one of them is None."""

    def __init__(self, run_secs, error_msg):
        self.run_secs, self.error_msg = run_secs, error_msg


class RunnerFuture:
    """A result to come."""

    def __init__(self, f_done=None, f_result=None):
        self._done, self._result = f_done, f_result

    def done(self):
        """Returns whether the result is there."""
        return self._done()

    def result(self):
        """The RunnerResult."""
        return self._result()


class PyRunnerFuture(RunnerFuture):
    """A result of a program's runner."""


class LocalRunnerFuture(PyRunnerFuture):
    """A result that is there: seconds, or the message of an error."""

    def __init__(self, res=None, error_message=None):
        super().__init__(lambda: True, lambda: RunnerResult(res, error_message))


class Runner:
    """What runs candidates. A program's own extends PyRunner."""

    def run(self, runner_inputs):
        """The futures of a list of RunnerInput, in order."""
        raise NotImplementedError

    @staticmethod
    def create(kind="local", *args, **kwargs):
        """The runner of a kind, "local"."""
        return create(kind, *args, **kwargs)


class PyRunner(Runner):
    """A runner of a program."""


def _arguments(device, args_info, count):
    infos = [info if isinstance(info, ArgInfo) else ArgInfo.from_json(info) for info in args_info]
    return [[runtime.array(generate_input_data(info.shape, info.dtype), device) for info in infos] for _ in range(count)]


def _run(module, device, config, repeated):
    function, seconds = module.entry_func, []
    for arguments in repeated:
        measured = module.time_evaluator(module.entry_name, device, number=config.number, repeat=config.repeat,
                                         min_repeat_ms=config.min_repeat_ms)
        function(*arguments)
        seconds += measured(*arguments).results
    return seconds


class LocalRunner(PyRunner):
    """Runs in this process.

    alloc_repeat: how many sets of arguments are measured
    f_alloc_argument: makes the sets for a device, a list of ArgInfo as JSON and alloc_repeat
    f_run_evaluator: the seconds of a module, a device, an EvaluatorConfig and the sets
    f_cleanup: is called last, without arguments. All may be names of registered functions.
    timeout_sec, cooldown_sec, and enable_cpu_cache_flush of the configuration: have no effect
    """

    def __init__(self, timeout_sec=30, evaluator_config=None, cooldown_sec=0.0, alloc_repeat=1, f_alloc_argument=None,
                 f_run_evaluator=None, f_cleanup=None, initializer=None):
        self.timeout_sec, self.cooldown_sec, self.alloc_repeat = timeout_sec, cooldown_sec, alloc_repeat
        self.evaluator_config = evaluator_config or EvaluatorConfig()
        self.f_alloc_argument, self.f_run_evaluator, self.f_cleanup = f_alloc_argument, f_run_evaluator, f_cleanup
        self.initializer = initializer

    def run(self, runner_inputs):
        if self.initializer:
            self.initializer()
        return [self._future(item) for item in runner_inputs]

    def _future(self, item):
        try:
            try:
                return LocalRunnerFuture(self._seconds(item))
            finally:
                if self.f_cleanup is not None:
                    function_of(self.f_cleanup, None)()
        except Exception as error:  # a program's function may raise anything
            return LocalRunnerFuture(None, f"LocalRunner: An exception occurred\n{error}")

    def _seconds(self, item):
        from ..executable import load_module

        device = runtime.device(item.device_type)
        infos = [info.as_json() for info in item.args_info]
        arguments = function_of(self.f_alloc_argument, _arguments)(device, infos, self.alloc_repeat)
        module = load_module(item.artifact_path)
        return function_of(self.f_run_evaluator, _run)(module, device, self.evaluator_config, arguments)


def create(kind="local", *args, **kwargs):
    """The runner of a kind, "local"."""
    if kind == "rpc":
        raise NotImplementedError("runs on other machines are not a part of iropt: expected the runner 'local'")
    if kind != "local":
        raise ValueError(f"Unknown Runner: {kind}")
    # One process runs all.
    kwargs.pop("max_workers", None)
    return LocalRunner(*args, **kwargs)

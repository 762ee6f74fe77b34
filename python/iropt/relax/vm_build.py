"""Building modules of Relax, the virtual machine, and pipelines by their names."""
from ..executable import Executable, VirtualMachine, build_relax as build  # noqa: F401
from ..ir import transform

VMExecutable = Executable

_PIPELINES = {}


def register_pipeline(name):
    """A decorator of functions that return a pass, which get_pipeline then finds by a name."""
    if name in _PIPELINES:
        raise ValueError(f"Pipeline {name} has already been registered")

    def register(function):
        _PIPELINES[name] = function
        return function

    return register


def get_pipeline(name="zero", **kwargs):
    """A named pipeline as a pass: one that was registered, or one of the library at the level of its context."""
    if name in _PIPELINES:
        return _PIPELINES[name](**kwargs)
    if name == "static_shape_tuning":
        return static_shape_tuning_pipeline(**kwargs)

    @transform.module_pass(opt_level=0)
    def _pipeline(mod, ctx):
        return transform.Pipeline(f"{name}<O{min(ctx.opt_level, 4)}>")(mod)

    return _pipeline


def zero_pipeline():
    """The pipeline "zero": operators as loops, fused."""
    return get_pipeline("zero")


def default_build_pipeline():
    """The pipeline that modules are built with where no other is named."""
    return get_pipeline("default_build")


def static_shape_tuning_pipeline(total_trials, target=None, work_dir="tuning_logs", max_trials_per_task=None, **_):
    """The pipeline "zero", a search for schedules, and the best ones of it."""
    from ..target import Target
    from .transform import MetaScheduleApplyDatabase, MetaScheduleTuneTIR

    steps = [get_pipeline("zero"), MetaScheduleTuneTIR(work_dir, total_trials, max_trials_per_task),
             MetaScheduleApplyDatabase(work_dir=work_dir)]

    @transform.module_pass(opt_level=0)
    def _pipeline(mod, ctx):
        del ctx
        with Target(target or "llvm"):
            return transform.Sequential(steps)(mod)

    return _pipeline


def get_default_pipeline(target=None):
    """The pipeline that lowers a module for a target."""
    del target
    return get_pipeline("default_build")


def _vmcodegen(builder, mod, exec_mode="bytecode"):
    """Adds the functions of a module to those of a builder of instructions, and returns the module."""
    if exec_mode not in ("bytecode", "compiled"):
        raise ValueError(f"Unknown exec_mode {exec_mode}")
    builder.add_module(mod)
    return mod


def _vmlink(builder, target, tir_mod=None, ext_libs=None, params=None):
    """The executable of the functions that _vmcodegen has added to a builder of instructions."""
    del ext_libs
    module = builder.module if tir_mod is None else tir_mod
    return build(module, target, params)


class vm:  # pylint: disable=invalid-name
    """The names that older versions have for these."""

    build = staticmethod(build)
    Executable = Executable
    VirtualMachine = VirtualMachine

"""Tuning of modules of Relax."""
from ..target import Target
from . import tune


def _module(mod, params):
    from ..ir import IRModule
    from ..relax.transform import BindParams

    mod = mod if isinstance(mod, IRModule) else IRModule({"main": mod})
    return BindParams("main", params)(mod) if params else mod


def extract_tasks(mod, target, params=None, module_equality="structural"):
    """The functions of a module that can be tuned: PrimFuncs, equal ones once, with the number of their calls."""
    del module_equality
    target = target if isinstance(target, Target) else Target(target)
    return tune.tasks_of(_module(mod, params), target)


def tune_relax(mod, params, target, work_dir, max_trials_global, max_trials_per_task=None, op_names=None, *,
               database="json", space="post-order-apply", seed=None, **_):
    """Searches schedules for the PrimFuncs of a module by measuring them; see tir_integration.tune_tir.

    op_names: parts of names; only functions with one of them are tuned.
    """
    target = tune.cpu_target(target)
    tasks = extract_tasks(mod, target, params)
    if op_names:
        tasks = [task for task in tasks if any(name in task.task_name for name in op_names)]
    return tune.tune_tasks(tasks, work_dir, max_trials_global, max_trials_per_task, database, space, seed)


def compile_relax(database, mod, target, params, enable_warning=False):
    """Builds a module with the fastest schedules of its functions."""
    from ..executable import build_relax

    target = target if isinstance(target, Target) else Target(target)
    return build_relax(tune.applied(database, _module(mod, params), target, enable_warning), target)

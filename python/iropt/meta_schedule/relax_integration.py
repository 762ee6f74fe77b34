"""Tuning of modules of Relax."""
from ..target import Target
from . import tune
from .tune_context import TuneContext


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


def extracted_tasks_to_tune_contexts(extracted_tasks, work_dir=None, space="post-order-apply", strategy="evolutionary",
                                     num_threads="physical", seed=None):
    """The contexts of tasks and their weights, for tune_tasks."""
    del work_dir
    contexts = [TuneContext(task.dispatched[0], target=task.target, space_generator=space, search_strategy=strategy,
                            task_name=task.task_name, rand_state=seed, num_threads=num_threads) for task in extracted_tasks]
    return contexts, [float(task.weight) for task in extracted_tasks]


def tune_relax(mod, params, target, work_dir, max_trials_global, max_trials_per_task=None, op_names=None, *,
               database="json", space="post-order-apply", seed=None, builder="local", runner="local", measure_callbacks="default", **_):
    """Searches schedules for the PrimFuncs of a module by measuring them; see tir_integration.tune_tir.

    op_names: parts of names; only functions with one of them are tuned.
    """
    target = tune.cpu_target(target)
    tasks = extract_tasks(mod, target, params)
    if op_names:
        tasks = [task for task in tasks if any(name in task.task_name for name in op_names)]
    return tune.tune_tasks(tasks, work_dir, max_trials_global, max_trials_per_task, database, space, seed,
                           builder=builder, runner=runner, measure_callbacks=measure_callbacks)


def compile_relax(database, mod, target, params, enable_warning=False):
    """Builds a module with the fastest schedules of its functions."""
    from ..executable import build_relax

    target = target if isinstance(target, Target) else Target(target)
    return build_relax(tune.applied(database, _module(mod, params), target, enable_warning), target)

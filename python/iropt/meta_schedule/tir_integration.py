"""Tuning of PrimFuncs."""
from ..target import Target
from . import database as _database
from . import tune


def tune_tir(mod, target, work_dir, max_trials_global, *, max_trials_per_task=None, num_trials_per_iter=64, builder="local",
             runner="local", database="json", cost_model="xgb", measure_callbacks="default", task_scheduler="gradient",
             space="post-order-apply", strategy="evolutionary", num_tuning_cores="physical", seed=None,
             module_equality="structural", special_space=None):
    """Searches schedules for a PrimFunc, or for those of a module, by measuring them on this machine.

    target: must be a CPU, "llvm"
    work_dir: the folder of the database; None: one in memory
    max_trials_global, max_trials_per_task: how many candidates are measured
    space: "post-order-apply", the choices of the rule for CPUs, or a space_generator.ScheduleFn
    seed: what the search draws from
    builder, runner, measure_callbacks: see tune_tasks
    num_trials_per_iter, cost_model, ...: have no meaning here

    Returns the database.
    """
    del num_trials_per_iter, cost_model, task_scheduler, strategy, num_tuning_cores
    del module_equality, special_space
    target = tune.cpu_target(target)
    from ..ir import IRModule

    module = mod if isinstance(mod, IRModule) else IRModule({"main": mod})
    return tune.tune_tasks(tune.tasks_of(module, target), work_dir, max_trials_global, max_trials_per_task, database, space, seed,
                           builder=builder, runner=runner, measure_callbacks=measure_callbacks)


def compile_tir(database, mod, target):
    """The fastest schedule of a PrimFunc in a database; None if it has none."""
    target = target if isinstance(target, Target) else Target(target)
    return database.query_schedule(_database.normalize(mod), target, workload_name="main")

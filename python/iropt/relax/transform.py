"""The passes of the graph level, made from the table of passes: `relax.transform.FoldConstant()`."""
import sys

from .. import ir as _ir
from .. import tir as _tir
from .._core import Error, native
from ..ir import transform as _transform
from ..ir.transform import (DataflowBlockPass, FunctionPass, ModulePass, Pass, PassContext,  # noqa: F401
                            dataflowblock_pass, function_pass, module_pass)
from . import expr as _expr
from .fusion_pattern import FuseOpsByPattern, FusionPattern, PatternCheckContext  # noqa: F401
from .lazy_params import LazyTransformParams  # noqa: F401


def AlterOpImpl(op_impl_map, op_buffer_transforms=None, op_buffer_axis_separators=None, op_buffer_input_axis_separators=None):
    """Replaces PrimFuncs by other implementations of their operators, which may want other layouts.

    op_impl_map: PrimFuncs, or their names in the module, by kinds of operators

    op_buffer_transforms: by kinds of operators, an index map, a function or None for each parameter

    op_buffer_axis_separators, op_buffer_input_axis_separators: the same: positions at which tensors are separated
    """
    import tempfile

    from .. import ir

    names, functions = {}, {}
    for kind, impl in op_impl_map.items():
        if isinstance(impl, ir.BaseFunc):
            functions[f"impl{len(functions)}"] = impl
            impl = f"impl{len(functions) - 1}"
        names[kind] = impl
    options = {"op_impl_map": names,
               "op_buffer_transforms": _by_operator(op_buffer_transforms, _lambda_text),
               "op_buffer_axis_separators": _by_operator(op_buffer_axis_separators, _transform.to_option),
               "op_buffer_input_axis_separators": _by_operator(op_buffer_input_axis_separators, _transform.to_option)}
    if not functions:
        return _transform.make("AlterOpImpl", options)
    with tempfile.NamedTemporaryFile("w", suffix=".ir") as file:
        file.write(ir.IRModule(functions).script())
        file.flush()
        return _transform.make("AlterOpImpl", {**options, "file": file.name})


def CombineParallelMatmul(check=None):
    """Computes several products with the same left factor as one.

    check: a function of the left factor, the right factors, the biases that follow the products, and the values of variables;
    returns whether the products become one
    """
    if check is None:
        return _transform.make("CombineParallelMatmul")

    def holds(function, left, factors, biases):
        bindings = {node.var: node.value for node in native.post_order(function) if isinstance(node, _expr.VarBinding)}
        return check(left, factors, biases, bindings)

    return _transform.FunctionPass(native.combine_products_pass(holds))


def BindSymbolicVars(binding_map, func_name=None):
    """Binds symbolic variables to values.

    binding_map: integers by variables, which are those of one function, or by names, in all functions

    func_name: the function; all Relax functions without it
    """
    by_name = {key: value for key, value in binding_map.items() if isinstance(key, str)}
    by_var = [(key, value) for key, value in binding_map.items() if not isinstance(key, str)]

    def bind(values, name):
        return _transform.make("BindSymbolicVars", {"binding_map": values, "func_name": name or ""})

    if not by_var:
        return bind(by_name, func_name)

    def run(mod, ctx):
        del ctx
        from . import Function, analysis

        bound = set()
        for name, func in list(mod.items()):
            if not isinstance(func, Function) or func_name not in (None, name.name):
                continue
            own = {native.node_id(var) for var in analysis.defined_symbolic_vars(func)}
            values = {var.name: value for var, value in by_var if native.node_id(var) in own}
            bound.update(values)
            if values:
                mod = bind(values, name.name)(mod)
        unknown = next((var.name for var, _ in by_var if var.name not in bound), None)
        if unknown is not None:
            raise Error(f"no function has the symbolic variable '{unknown}'")
        return bind(by_name, func_name)(mod) if by_name else mod

    return module_pass(run, opt_level=1, name="BindSymbolicVars")


def LegalizeOps(customize_legalize_map=None, skip_ops=None, enable_warning=False, file=""):
    """Lowers operators to calls of PrimFuncs.

    customize_legalize_map: by operators, functions of (block builder, call) that make other expressions of calls, or names of
    PrimFuncs of the module or of `file`

    skip_ops: names of operators whose calls stay

    enable_warning: warn about operators that stay
    """
    if isinstance(skip_ops, bool):
        # TVM 0.18 has the warnings at this place.
        skip_ops, enable_warning = None, skip_ops
    skipped = list(skip_ops or ())
    customized = {**_ir.op_attrs.functions_of("FLegalize"), **(customize_legalize_map or {})}
    functions = {name: item for name, item in customized.items() if callable(item) and name not in skipped}
    names = {name: item for name, item in (customize_legalize_map or {}).items() if not callable(item)}
    legalize = _transform.make("LegalizeOps", {"customize_legalize_map": names, "skip_ops": skipped,
                                               "enable_warning": enable_warning, "file": file})
    if not functions:
        return legalize

    def run(mod, ctx):
        del ctx
        from . import Function

        mutator = _legalizer()(mod, functions)
        for name, func in mod.items():
            if isinstance(func, Function):
                mutator.builder_.update_func(name, mutator.visit_expr(func))
        return legalize(mutator.builder_.get())

    return module_pass(run, opt_level=0, name="LegalizeOps")


def FoldConstant(max_bytes=None, max_file_bytes=None, fold_qnn=None, skip_ops=None):
    """Folds constant expressions, and removes dead bindings.

    max_bytes, max_file_bytes: limits of results, and of operands in files

    skip_ops: operators whose calls are not folded; by default those that a program has given a legalization of its own, since
    that may compute something else
    """
    if skip_ops is None:
        skip_ops = sorted(name for name in _ir.op_attrs.functions_of("FLegalize") if _ir.op_attrs.is_of_library(name))
    options = {"max_bytes": max_bytes, "max_file_bytes": max_file_bytes, "fold_qnn": fold_qnn, "skip_ops": skip_ops or None}
    return _transform.make("FoldConstant", {name: value for name, value in options.items() if value is not None})


def Gradient(func_name="main", require_grads=None, target_index=0):
    """Adds a function that computes the gradients of a scalar result, too.

    func_name: the function, whose body is one dataflow block

    require_grads: the variables, or their names, whose gradients are computed; by default all parameters

    target_index: the number of the scalar among the results

    Gradients of R.call_tir_with_grad are PrimFuncs of the module, or functions that register_te_gradient has registered.
    """
    variables = require_grads if isinstance(require_grads, (list, tuple)) else [] if require_grads is None else [require_grads]
    names = [getattr(var, "name_hint", var) for var in variables]
    func_name = getattr(func_name, "name_hint", func_name)
    options = {} if require_grads is None else {"require_grads": names}
    gradient = _transform.make("Gradient", {"func_name": func_name, "target_index": target_index, **options})

    training = sys.modules.get("iropt.relax.training.utils")
    adds_te = training is not None and training.te_gradients
    nodes = [var for var in variables if hasattr(var, "name_hint")]
    if not adds_te and not nodes:
        return gradient

    def run(mod, ctx):
        del ctx
        from . import Function, analysis

        func = mod[func_name] if func_name in mod else None
        own = {native.node_id(var) for var in analysis.all_vars(func)} if isinstance(func, Function) else None
        other = next((var for var in nodes if own is not None and native.node_id(var) not in own), None)
        if other is not None:
            raise Error(f"'{other.name_hint}' is not a variable of function '{func_name}'")
        return gradient(training.add_te_gradients(mod) if adds_te else mod)

    return module_pass(run, opt_level=0, name="Gradient")


def UpdateParamStructInfo(sinfo_func):
    """Changes the types of parameters, and of what depends on them.

    sinfo_func: a function that gives the new type of a parameter, or None; or types by the names of functions and parameters
    """
    if not callable(sinfo_func):
        return _transform.make("UpdateParamStructInfo", {"updates": sinfo_func})

    def run(mod, ctx):
        del ctx
        from . import Function

        mutator = _type_changer()(mod, sinfo_func)
        for name, func in mod.items():
            if isinstance(func, Function):
                mutator.builder_.update_func(name, mutator.visit_expr(func))
        return mutator.builder_.get()

    return module_pass(run, opt_level=0, name="UpdateParamStructInfo")


def _type_changer():
    from . import PyExprMutator, Var

    class TypeChanger(PyExprMutator):
        """Gives parameters other types."""

        def __init__(self, module, type_of):
            super().__init__(module)
            self.type_of = type_of

        def visit_function_(self, op):
            for param in op.params:
                info = self.type_of(param)
                if info is not None:
                    self.set_var_remap(param.vid, Var(param.name_hint, info))
            return super().visit_function_(op)

        def visit_var_def_(self, var):
            new = self.get_var_remap(var.vid)
            return super().visit_var_def_(var) if new is None else new

    return TypeChanger


@module_pass(opt_level=0, name="AttachExternModules")
class AttachExternModules:
    """Adds modules that were compiled elsewhere, those of ExternModules, to the attribute external_mods."""

    def __init__(self, extern_modules):
        self.extern_modules = list(extern_modules)

    def transform_module(self, mod, ctx):
        del ctx
        loaded = [module.load() for module in self.extern_modules]
        known = mod.get_attr("external_mods")
        return mod.with_attr("external_mods", [*(known or ()), *loaded])


def MetaScheduleTuneTIR(work_dir, max_trials_global, max_trials_per_task=None):
    """A pass that measures schedules of the PrimFuncs on this machine, for the current target, which must be a CPU.

    work_dir: the folder of the database, for MetaScheduleApplyDatabase; the module stays as it is.
    max_trials_global, max_trials_per_task: how many candidates are measured.
    """
    return _tuning("MetaScheduleTuneTIR", None, work_dir, max_trials_global, max_trials_per_task)


def MetaScheduleTuneIRMod(params, work_dir, max_trials_global, max_trials_per_task=None, op_names=None):
    """A pass that does the same as MetaScheduleTuneTIR on the module with constants for parameters of `main`.

    op_names: parts of names; only functions with one of them are tuned.
    """
    return _tuning("MetaScheduleTuneIRMod", params, work_dir, max_trials_global, max_trials_per_task, op_names)


def _tuning(name, params, work_dir, max_trials_global, *options):

    def run(mod, ctx):
        del ctx
        from .. import meta_schedule
        from ..target import Target

        if max_trials_global > 0:
            meta_schedule.relax_integration.tune_relax(mod, params, Target.current() or "llvm", work_dir, max_trials_global, *options)
        return mod

    return module_pass(run, opt_level=0, name=name)


def FewShotTuning(valid_count=1, benchmark=False):
    """A pass that gives every PrimFunc with blocks the fastest of a few schedules that are measured on this machine.

    valid_count: how many schedules are measured. benchmark: whether those are measured at all if it is 1.
    A function that cannot be run, such as one with symbolic shapes, stays as it is.
    """
    del benchmark  # Schedules are measured when they are compared with the function.

    def run(mod, ctx):
        del ctx
        from ..meta_schedule import tune
        from ..target import Target

        target = tune.cpu_target(Target.current() or "llvm")
        open_functions = {name: func for name, func in mod.items()
                          if isinstance(func, _tir.PrimFunc) and not (func.attrs or {}).get("tir.is_scheduled")}
        tasks = tune.tasks_of(_ir.IRModule(open_functions), target)
        database = tune.tune_tasks(tasks, None, valid_count * len(tasks), valid_count, database="memory")
        found = tune.applied(database, _ir.IRModule(open_functions), target)
        changed = mod.copy()
        for name, func in open_functions.items():
            if not found[name].same_as(func) and not _ir.structural_equal(found[name], func):
                changed[name] = found[name].with_attr("tir.is_scheduled", True)
        return changed

    return module_pass(run, opt_level=0, name="FewShotTuning")


def MetaScheduleApplyDatabase(work_dir=None, enable_warning=False, **options):
    """A pass that schedules PrimFuncs by the fastest records of a database.

    work_dir: its folder, which is read when the pass runs; None: the database whose scope the pass runs in
    enable_warning: whether functions without a record are reported

    Other options are those of the pass in `ir-opt`.
    """

    def run(mod, ctx):
        del ctx
        from .. import meta_schedule
        from ..target import Target

        database = meta_schedule.Database.current()
        if work_dir is None and database is not None:
            return meta_schedule.tune.applied(database, mod, Target.current(), enable_warning)
        folder = {} if work_dir is None else {"work_dir": work_dir}
        return _transform.make("MetaScheduleApplyDatabase", {**folder, "enable_warning": enable_warning, **options})(mod)

    return module_pass(run, opt_level=0, name="MetaScheduleApplyDatabase")


def _legalizer():
    from .. import ir
    from . import PyExprMutator

    class Legalizer(PyExprMutator):
        """Calls the function for the operator of each call."""

        def __init__(self, mod, functions):
            super().__init__(mod)
            self.functions = functions

        def visit_call_(self, op):
            op = self.visit_expr_post_order(op)
            function = self.functions.get(op.op.name) if isinstance(op.op, ir.Op) else None
            return op if function is None else function(self.builder_, op)

    return Legalizer


def _by_operator(table, convert):
    return {kind: [None if item is None else convert(item) for item in items]
            for kind, items in (table or {}).items() if items is not None}


def _lambda_text(item):
    """The text of an index map as passes take it: lambda i: (i // 4, i % 4)."""
    from .. import tir

    if isinstance(item, (list, tuple)):
        item = item[0]  # with its separators, as from_func_with_separators gives it
    item = item if isinstance(item, tir.IndexMap) else tir.IndexMap.from_func(item)
    names = ", ".join(var.name for var in item.initial_indices)
    results = ", ".join(str(index) for index in item.final_indices)
    return f"lambda {names}: ({results},)"


def __getattr__(name):
    return _transform.constructor(name, (name,))


def __dir__():
    return sorted(set(globals()) | {row["name"] for row in _transform.table() if "." not in row["name"]})

"""The pass LazyTransformParams: parameters are read when they are needed, and written as soon as they are computed."""
from .. import ir
from .._core import native
from ..ir.transform import module_pass


def _num_inputs(func):
    count = func.attrs.get("num_input") if func.attrs is not None else None
    return int(getattr(count, "value", count)) if count is not None else 0


class _Plan:
    """Facts about a function before it is rewritten; variables are known by their ids."""

    def __init__(self, func, num_inputs):
        from . import TupleGetItem, VarBinding

        self.result = func.body.body
        self.outputs = {}  # by id, (expression, its indices in the result), in the order of the result
        self.items = set()  # variables that are bound to items of the tuple of parameters
        params = list(func.params)[num_inputs:]
        bindings = [binding for block in func.body.blocks for binding in block.bindings]
        for binding in bindings:
            if not isinstance(binding, VarBinding):
                continue
            value = binding.value
            if binding.var == self.result:
                for index, field in enumerate(value.fields):
                    self.outputs.setdefault(native.node_id(field), (field, []))[1].append(index)
            elif isinstance(value, TupleGetItem) and params and value.tuple == params[0]:
                self.items.add(native.node_id(binding.var))
        self.ends = self._last_uses(bindings)

    def _last_uses(self, bindings):
        """By variable, those that nothing uses after its binding."""
        from .analysis import all_vars

        seen, ends = set(), {}
        for binding in reversed(bindings):
            if binding.var == self.result:
                continue
            ended = ends.setdefault(native.node_id(binding.var), [])
            for var in [*all_vars(binding.value), binding.var]:
                if native.node_id(var) not in seen:
                    seen.add(native.node_id(var))
                    ended.append(var)
        return ends


def _call(name, args):
    from . import Call, ExternFunc, ObjectStructInfo

    return Call(ExternFunc(name), args, None, [ObjectStructInfo()])


def _lazy_input(mod, num_inputs, name, extra):
    """A mutator that calls a function for each parameter before its first use."""
    from . import Function, MatchCast, PrimValue, PyExprMutator, TupleStructInfo

    class LazyInput(PyExprMutator):
        def __init__(self):
            super().__init__(mod)
            self.tuple, self.params = None, {}

        def visit_function_(self, op):
            params = list(op.params)[num_inputs:]
            if len(params) == 1 and isinstance(params[0].struct_info, TupleStructInfo):
                self.tuple = params[0]
            else:
                self.params = {native.node_id(var): index for index, var in enumerate(params)}
            impure = Function(list(op.params)[:num_inputs], op.body, op.ret_struct_info, is_pure=False,
                              attrs=op.attrs).without_attr("relax.force_pure")
            return super().visit_function_(impure)

        def _get(self, index):
            return self.builder_.emit(_call(name, [*extra, PrimValue(index)]))

        def visit_var_(self, op):
            index = self.params.pop(native.node_id(op), None)
            if index is not None:
                self.builder_.emit_normalized(MatchCast(op, self._get(index), op.struct_info))
            return super().visit_var_(op)

        def visit_tuple_getitem_(self, op):
            type_ = op.struct_info
            op = super().visit_tuple_getitem_(op)
            if self.tuple is None or op.tuple != self.tuple:
                return op
            return self.builder_.match_cast(self._get(op.index), type_)

    return LazyInput()


def _lazy_output(mod, plan, name, extra):
    """A mutator that gives each output to a function when nothing else needs it, and frees parameters."""
    from . import PrimValue, PyExprMutator, Tuple, op as ops

    class LazyOutput(PyExprMutator):
        def visit_var_binding_(self, binding):
            if binding.var == plan.result:
                self.set_var_remap(binding.var, self.builder_.emit(Tuple([])))
                return
            super().visit_var_binding_(binding)
            self._end_variables(binding.var)

        def _end_variables(self, at):
            for var in plan.ends.get(native.node_id(at), ()):
                _, indices = plan.outputs.get(native.node_id(var), (None, ()))
                for index in indices:
                    self.builder_.emit(_call(name, [*extra, PrimValue(index), self.visit_var_(var)]), name_hint="_")
                if native.node_id(var) in plan.items:
                    self.builder_.emit(ops.vm.kill_object(self.visit_var_(var)), name_hint="_")

    return LazyOutput(mod)


def _with_leaf_outputs(body, plan, name, extra):
    """The body with calls for outputs that are not variables, such as constants."""
    from . import BindingBlock, BlockBuilder, ObjectStructInfo, PrimValue, SeqExpr, Var, VarBinding

    normalize = BlockBuilder().normalize
    bindings = [VarBinding(Var("_", ObjectStructInfo()), normalize(_call(name, [*extra, PrimValue(index), expr])))
                for expr, indices in plan.outputs.values() if not isinstance(expr, Var) for index in indices]
    return SeqExpr([*body.blocks, BindingBlock(bindings)], body.body) if bindings else body


def _symbolic_params(params):
    """Parameters in place of those whose scalars and shapes define symbolic variables."""
    from . import PrimStructInfo, ShapeStructInfo, TupleStructInfo, Var

    def fields(type_):
        if isinstance(type_, TupleStructInfo):
            for field in type_.fields:
                yield from fields(field)
        else:
            yield type_

    return [Var("symbolic_var_holder", field) for param in params for field in fields(param.struct_info)
            if isinstance(field, (PrimStructInfo, ShapeStructInfo))]


def LazyTransformParams(fget_item="get_item", fset_item="set_item", extra_get_item_params=None, extra_set_item_params=None):
    """Makes functions named *transform_params lazy.

    They read each parameter when it is used for the first time, by calling a packed function with its index, give each
    result to another one when it is complete, and free what is not needed any longer. ToNonDataflow and
    RemovePurityChecking come before this pass.

    fget_item: the function that gives a parameter; extra_get_item_params: its arguments before the index

    fset_item: the function that takes a result, or None; extra_set_item_params: its arguments before the index
    """
    if fget_item is None:
        raise ValueError("expected the name of a function that gives parameters")
    get_params, set_params = list(extra_get_item_params or []), list(extra_set_item_params or [])

    def transform(mod, func):
        from . import Function, ObjectStructInfo

        num_inputs = _num_inputs(func)
        plan = _Plan(func, num_inputs)
        body = _lazy_input(mod, num_inputs, fget_item, get_params).visit_expr(func).body
        if fset_item is not None:
            body = _with_leaf_outputs(body, plan, fset_item, set_params)
            body = _lazy_output(mod, plan, fset_item, set_params).visit_expr(body)
        rest = list(func.params)[num_inputs:]
        symbolic = _symbolic_params(rest) if any(native.defined_sym_vars(param.struct_info) for param in func.params) else []
        params = [*list(func.params)[:num_inputs], *get_params, *set_params, *symbolic]
        return Function(params, body, ObjectStructInfo(), is_pure=False, attrs=func.attrs).without_attr("relax.force_pure")

    def run(mod, ctx):
        from . import BlockBuilder, Function

        del ctx
        builder = BlockBuilder(mod)
        for name, func in mod.items():
            if name.name.endswith("transform_params") and isinstance(func, Function):
                builder.update_func(name, transform(mod, func))
        return builder.get()

    return module_pass(run, opt_level=0, name="LazyTransformParams")

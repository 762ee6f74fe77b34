"""Replaces values of bindings in the blocks of functions."""
from ... import ir
from ..._core import native
from .. import analysis
from .. import expr as _expr
from ..expr_functor import PyExprMutator


def rewrite_function(func, rewriter, module=None):
    """The function, of a module if it is given, with the replacements that a rewriter finds, until it finds none."""
    while True:
        new = _Blocks(rewriter, module).visit_expr(func)
        if new == func or native.structural_equal(new, func, False):
            return func
        new = _simplified(new, module)
        if native.structural_equal(new, func, False):
            return func
        func = new


def _simplified(func, others):
    """The function without what rewriting leaves: names for variables, equal values, values that nothing uses."""
    from .. import transform

    passes = [transform.CanonicalizeBindings(), transform.EliminateCommonSubexpr(), transform.DeadCodeElimination()]
    is_private = func.attrs is None or "global_symbol" not in func.attrs
    name = "main" if is_private else func.attrs["global_symbol"]
    # What nothing calls would be removed.
    func = func.with_attr("global_symbol", name)
    with ir.transform.PassContext(instruments=[]):
        while True:
            module = ir.IRModule() if others is None else others.copy()
            module[name] = func
            for each in passes:
                module = each(module)
            new = module[name]
            if native.structural_equal(new, func, False):
                return new.without_attr("global_symbol") if is_private else new
            func = new


class _Blocks(PyExprMutator):
    """Replaces values, and puts what they need before them."""

    def __init__(self, rewriter, module):
        super().__init__(module)
        self._rewriter = rewriter

    def visit_seq_expr_(self, op):
        *blocks, last = [self._block(block, isinstance(block, _expr.DataflowBlock)) for block in op.blocks] or [None]
        blocks = [self._replaced(block, list(block.bindings)) or block for block in blocks]
        body = self.visit_expr(op.body)
        if isinstance(body, _expr.Var):
            blocks += [] if last is None else [self._replaced(last, list(last.bindings)) or last]
        else:
            # The result is the value of one more binding of the last block.
            old = _expr.BindingBlock([]) if last is None else last
            result = _expr.Var("result", body.type)
            new = self._replaced(old, [*old.bindings, _expr.VarBinding(result, body)])
            blocks += [block for block in (new or last,) if block is not None]
            body = result if new else body
        if body == op.body and len(blocks) == len(op.blocks) and all(a == b for a, b in zip(blocks, op.blocks)):
            return op
        return self.builder_._builder.seq(blocks, body)

    def _replaced(self, block, bindings):
        """The block with these bindings after replacements; None if there are none."""
        dataflow = isinstance(block, _expr.DataflowBlock)
        parts = [bindings] if dataflow else _without_effects(bindings)
        new = [self._replace(part) for part in parts]
        if all(part is None for part in new):
            return None
        builder = self.builder_._builder
        builder.begin_block(dataflow)
        for old, part in zip(parts, new):
            for binding in old if part is None else part:
                self._emit_binding(binding)
        return builder.end_block()

    def _replace(self, bindings):
        if len(bindings) == 1 and _has_effects(bindings[0].value):
            return None
        found = self._rewriter.replacements(bindings)
        if not found:
            return None
        bound = {}
        for binding in bindings:
            if isinstance(binding, _expr.VarBinding) and not isinstance(binding.value, _expr.Var):
                bound.setdefault(binding.value, binding.var)
        changed = [_with_value(binding, _named(found[binding.var], bound, binding)) if binding.var in found else binding
                   for binding in bindings]
        return _sorted(changed)

    def _emit_binding(self, binding):
        builder = self.builder_._builder
        value = builder.normalize(binding.value)
        builder.emit_normalized(binding if value == binding.value else _with_value(binding, value))


def _with_value(binding, value):
    if isinstance(binding, _expr.MatchCast):
        return _expr.MatchCast(binding.var, value, binding.struct_info)
    return _expr.VarBinding(binding.var, value)


def _named(expr, bound, binding):
    """The expression with the variables of values that are bound already, but for the binding itself."""
    if isinstance(expr, (_expr.Var, ir.Op, ir.GlobalVar)):
        return expr
    var = bound.get(expr)
    if var is not None and not var == binding.var:
        return var
    if isinstance(expr, _expr.Call):
        args = [_named(arg, bound, binding) for arg in expr.args]
        return expr if all(a == b for a, b in zip(args, expr.args)) else native.copy_with(expr, {"args": args})
    if isinstance(expr, _expr.Tuple):
        return _expr.Tuple([_named(field, bound, binding) for field in expr.fields])
    if isinstance(expr, _expr.TupleGetItem):
        value = _named(expr.tuple, bound, binding)
        return expr if value == expr.tuple else _expr.TupleGetItem(value, expr.index)
    return expr


def _has_effects(value):
    return isinstance(value, _expr.If) or (isinstance(value, _expr.Call) and native.is_impure_call(value))


def _without_effects(bindings):
    """The bindings in parts: each that has an effect alone, and those between."""
    parts = [[]]
    for binding in bindings:
        if _has_effects(binding.value):
            parts += [[binding], []]
        else:
            parts[-1].append(binding)
    return [part for part in parts if part]


def _sorted(bindings):
    """The bindings with each after those that it uses; they stay where they are if they can."""
    waiting = {binding.var for binding in bindings}
    rest, result = list(bindings), []
    while rest:
        ready = next((binding for binding in rest
                      if not any(var in waiting and not var == binding.var
                                 for var in analysis.all_vars(binding.value))), None)
        if ready is None:
            raise ValueError("the replacements depend on each other")
        rest.remove(ready)
        waiting.discard(ready.var)
        result.append(ready)
    return result

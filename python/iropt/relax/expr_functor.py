"""Visitors and mutators of Relax in Python."""
import functools

from .. import _core, ir
from .._core import native
from ..ir import op_attrs
from .expr import (BindingBlock, Call, Constant, DataflowBlock, DataflowVar, DataTypeImm, ExternFunc, Function, If, MatchCast,
               PrimValue, SeqExpr, ShapeExpr, StringImm, Tuple, TupleGetItem, Var, VarBinding)

_METHODS = {
    Constant: "visit_constant_", Tuple: "visit_tuple_", DataflowVar: "visit_dataflow_var_", Var: "visit_var_",
    ShapeExpr: "visit_shape_expr_", ExternFunc: "visit_extern_func_", ir.GlobalVar: "visit_global_var_",
    Function: "visit_function_", Call: "visit_call_", SeqExpr: "visit_seq_expr_", If: "visit_if_", ir.Op: "visit_op_",
    TupleGetItem: "visit_tuple_getitem_", PrimValue: "visit_prim_value_", StringImm: "visit_string_imm_",
    DataTypeImm: "visit_data_type_imm_",
}


@functools.lru_cache(maxsize=None)
def _method_of(cls):
    """The name of the method for a class of expressions, or for one that it is made from."""
    return next((_METHODS[base] for base in cls.__mro__ if base in _METHODS), None)


def visitor(cls):
    """Marks a class as a visitor; PyExprVisitor needs nothing else. `_cls` is the class, which others inherit of."""
    cls._cls = cls
    return cls


mutator = visitor


class _Functor:
    def visit_expr(self, expr):
        """Calls the method for the kind of the expression."""
        method = _method_of(type(expr))
        if method is None:
            return expr if isinstance(self, PyExprMutator) else None
        return getattr(self, method)(expr)

    def visit_binding(self, binding):
        if isinstance(binding, MatchCast):
            return self.visit_match_cast_(binding)
        return self.visit_var_binding_(binding)

    def visit_binding_block(self, block):
        if isinstance(block, DataflowBlock):
            return self.visit_dataflow_block_(block)
        return self.visit_binding_block_(block)

    def visit_var_def(self, var):
        if isinstance(var, DataflowVar):
            return self.visit_dataflow_var_def_(var)
        return self.visit_var_def_(var)


class PyExprVisitor(_Functor):
    """Visits expressions: methods that are overridden see the nodes of their kind."""

    def visit_constant_(self, op):
        pass

    def visit_global_var_(self, op):
        pass

    visit_var_ = visit_dataflow_var_ = visit_extern_func_ = visit_op_ = visit_shape_expr_ = visit_constant_
    visit_prim_value_ = visit_string_imm_ = visit_data_type_imm_ = visit_constant_

    def visit_tuple_(self, op):
        for field in op.fields:
            self.visit_expr(field)

    def visit_call_(self, op):
        self.visit_expr(op.op)
        for arg in op.args:
            self.visit_expr(arg)

    def visit_if_(self, op):
        self.visit_expr(op.cond)
        self.visit_expr(op.true_branch)
        self.visit_expr(op.false_branch)

    def visit_tuple_getitem_(self, op):
        self.visit_expr(op.tuple)

    def visit_seq_expr_(self, op):
        for block in op.blocks:
            self.visit_binding_block(block)
        self.visit_expr(op.body)

    def visit_function_(self, op):
        for param in op.params:
            self.visit_var_def(param)
        self.visit_expr(op.body)

    def visit_binding_block_(self, block):
        for binding in block.bindings:
            self.visit_binding(binding)

    visit_dataflow_block_ = visit_binding_block_

    def visit_var_binding_(self, binding):
        self.visit_expr(binding.value)
        self.visit_var_def(binding.var)

    def visit_match_cast_(self, binding):
        self.visit_expr(binding.value)
        self.visit_var_def(binding.var)

    def visit_var_def_(self, var):
        pass

    visit_dataflow_var_def_ = visit_var_def_


class PyExprMutator(_Functor):
    """Rewrites expressions: what a method returns takes the place of what it was given."""

    def __init__(self, mod=None):
        from .block_builder import BlockBuilder

        self.builder_ = BlockBuilder(mod)
        self._remap = {}

    def _keep(self, op):
        return op

    visit_constant_ = visit_global_var_ = visit_extern_func_ = visit_op_ = visit_shape_expr_ = _keep
    visit_prim_value_ = visit_string_imm_ = visit_data_type_imm_ = _keep

    def visit_var_(self, op):
        return self._remap.get(native.node_id(op), op)

    visit_dataflow_var_ = visit_var_

    def _changed(self, node, /, **fields):
        changes = {}
        for name, value in fields.items():
            old = getattr(node, name)
            same = all(a == b for a, b in zip(old, value)) if isinstance(value, list) else old == value
            if not same:
                changes[name] = value
        return changes

    def visit_expr_post_order(self, expr):
        """The expression with its operands rewritten, before its own method changes it."""
        return getattr(PyExprMutator, _METHODS[type(expr)])(self, expr)

    def visit_tuple_(self, op):
        changes = self._changed(op, fields=[self.visit_expr(field) for field in op.fields])
        return Tuple(changes["fields"]) if changes else op

    def visit_call_(self, op):
        changes = self._changed(op, op=self.visit_expr(op.op), args=[self.visit_expr(arg) for arg in op.args])
        if not changes:
            return op
        return _core.make("Call", **{"op": op.op, "args": op.args, "attrs": op.attrs, "type_args": op.type_args,
                                     **changes})

    def visit_if_(self, op):
        changes = self._changed(op, cond=self.visit_expr(op.cond), true_branch=self.visit_with_new_scope(op.true_branch),
                                false_branch=self.visit_with_new_scope(op.false_branch))
        if not changes:
            return op
        return If(changes.get("cond", op.cond), changes.get("true_branch", op.true_branch),
                  changes.get("false_branch", op.false_branch))

    def visit_tuple_getitem_(self, op):
        value = self.visit_expr(op.tuple)
        return op if value == op.tuple else TupleGetItem(value, op.index)

    def visit_seq_expr_(self, op):
        blocks = [self.visit_binding_block(block) for block in op.blocks]
        self.builder_._builder.begin_block(False)
        body = self.builder_._builder.normalize(self.visit_expr(op.body))
        epilogue = self.builder_._builder.end_block()
        if len(epilogue.bindings):
            blocks.append(epilogue)
        if body == op.body and len(blocks) == len(op.blocks) and all(a == b for a, b in zip(blocks, op.blocks)):
            return op
        return self.builder_._builder.seq(blocks, body)

    def visit_function_(self, op):
        params = [self._define(param) for param in op.params]
        body = self.visit_with_new_scope(op.body)
        if body == op.body and all(a == b for a, b in zip(params, op.params)):
            return op
        return self.builder_._builder.make_function(params, body, op.attrs, op.is_pure)

    def visit_with_new_scope(self, expr):
        if not isinstance(expr, SeqExpr):
            expr = SeqExpr([], expr)
        return self.visit_expr(expr)

    def visit_binding_block_(self, block):
        return self._block(block, False)

    def visit_dataflow_block_(self, block):
        return self._block(block, True)

    def _block(self, block, dataflow):
        self.builder_._builder.begin_block(dataflow)
        for binding in block.bindings:
            self.visit_binding(binding)
        new = self.builder_._builder.end_block()
        same = len(new.bindings) == len(block.bindings) and all(a == b for a, b in zip(new.bindings, block.bindings))
        return block if same else new

    def visit_var_binding_(self, binding):
        value = op_attrs.normalized(self.visit_expr(binding.value), self.builder_)
        var = self._define(binding.var)
        if value == binding.value and var == binding.var:
            self.builder_._builder.emit_normalized(binding)
            return
        value = self.builder_._builder.normalize(value)
        self._emit(binding.var, var, value)

    def _define(self, var):
        """What visit_var_def makes of a variable, which stands for it from now on."""
        new = self.visit_var_def(var)
        if new != var:
            self.set_var_remap(var, new)
        return new

    def _emit(self, old, var, value):
        if var.type is None or not (var.type == value.type):
            if var == old:
                var = type(old)(old.name, value.type)
                self.set_var_remap(old, var)
        self.builder_._builder.emit_normalized(VarBinding(var, value))

    def visit_match_cast_(self, binding):
        value = self.visit_expr(binding.value)
        var = self._define(binding.var)
        if value == binding.value and var == binding.var:
            self.builder_._builder.emit_normalized(binding)
            return
        value = self.builder_._builder.normalize(value)
        self.builder_._builder.emit_normalized(MatchCast(var, value, binding.struct_info))

    def visit_var_def_(self, var):
        return var

    visit_dataflow_var_def_ = visit_var_def_

    def set_var_remap(self, vid, var):
        """Lets a variable stand for another one from now on."""
        self._remap[native.node_id(vid)] = var

    def get_var_remap(self, vid):
        return self._remap.get(native.node_id(vid))

    def lookup_binding(self, var):
        """The value that a variable is bound to, as far as it was visited."""
        return self.builder_.lookup_binding(var)

    def with_struct_info(self, var, struct_info):
        return var if var.type == struct_info else type(var)(var.name, struct_info)

    with_type = with_struct_info

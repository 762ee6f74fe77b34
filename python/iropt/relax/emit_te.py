"""Calls of PrimFuncs that compute what an operator does: emit_te of BlockBuilder and of scripts.

The PrimFunc is that which LegalizeOps makes for the operator.
"""
from .. import ir
from .._core import make, native
from ..tir import PrimFunc


def legalized(call):
    """The PrimFunc that computes the call of an operator, and a function that calls it by a name.

    Operands may be such calls themselves; all of them are computed by the one PrimFunc.
    """
    from . import Call, Function, PrimValue, SeqExpr, ShapeExpr, Tuple, Var
    from .transform import FuseTIR, LegalizeOps

    actual, params = [], []
    is_nested = any(isinstance(arg, Call) and arg.type is None for arg in _leaves(call.args, Tuple))

    def parameter(arg):
        if isinstance(arg, Tuple):
            return Tuple([parameter(field) for field in arg.fields])
        if isinstance(arg, (PrimValue, ShapeExpr)):
            return arg
        if isinstance(arg, Call) and arg.type is None:
            return with_parameters(arg)
        # A function of several operators uses its argument several times; those of one operator are different ones.
        for known, param in zip(actual, params):
            if is_nested and known == arg:
                return param
        actual.append(arg)
        params.append(Var(f"p{len(params)}", arg.struct_info))
        return params[-1]

    def with_parameters(call):
        return make("Call", op=call.op, args=[parameter(arg) for arg in call.args], attrs=call.attrs,
                    type_args=call.type_args)

    changed = with_parameters(call)
    builder = native.Builder(None)
    builder.begin_block(True)
    result = builder.emit(changed, "", True)
    block = builder.end_block()
    computed = Function(params, SeqExpr([block], result))
    if len(block.bindings) == 1:
        module = LegalizeOps()(ir.IRModule({"main": computed}))
    else:
        outer = [Var(param.name, param.struct_info) for param in params]
        builder.begin_block(True)
        fused = builder.emit(make("Call", op=ir.GlobalVar("fused"), args=outer, type=result.struct_info), "", True)
        main = Function(outer, SeqExpr([builder.end_block()], fused)).with_attr("global_symbol", "main")
        module = ir.IRModule({"fused": computed.with_attr("Primitive", 1), "main": main})
        module = FuseTIR()(LegalizeOps()(module))
    functions = [value for value in module.values() if isinstance(value, PrimFunc)]
    main = module["main"]
    calls = [binding.value for block in main.body.blocks for binding in block.bindings if isinstance(binding.value, Call)]
    if len(functions) != 1 or len(calls) != 1:
        raise ir.Error(f"{call.op.name} is not computed by one PrimFunc")
    arguments = {native.node_id(param): arg for param, arg in zip(main.params, actual)}

    def call_by(name):
        args = [arguments.get(native.node_id(arg), arg) for arg in calls[0].args[1].fields]
        rest = list(calls[0].args[2:])
        return make("Call", op=calls[0].op, args=[name, Tuple(args)] + rest, attrs=calls[0].attrs,
                    type_args=calls[0].type_args)

    return functions[0], call_by


def _leaves(args, tuple_class):
    for arg in args:
        if isinstance(arg, tuple_class):
            yield from _leaves(arg.fields, tuple_class)
        else:
            yield arg


def emit_calls(module, hints):
    """Replaces the operators that stand for emit_te in a script: by function, their operators and names in order."""
    from . import Function

    for name, expected in hints.items():
        func = module._module.find(name)
        if isinstance(func, Function):
            mutator = _mutator()(module, list(expected))
            changed = mutator.visit_expr(func)
            mutator.builder_.update_func(ir.GlobalVar(name), changed)
            module = mutator.builder_.get()
    return module


def _mutator():
    from .expr_functor import PyExprMutator

    class Mutator(PyExprMutator):
        """Replaces the calls in the order of the source."""

        def __init__(self, module, expected):
            super().__init__(module)
            self.expected = expected

        def visit_call_(self, op):
            op = self.visit_expr_post_order(op)
            if not self.expected or not isinstance(op.op, ir.Op) or op.op.name != self.expected[0][0]:
                return op
            _, hint = self.expected.pop(0)
            prim_func, call_by = legalized(op)
            return call_by(self.builder_.add_func(prim_func, hint))

    return Mutator

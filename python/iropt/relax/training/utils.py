"""Appending a loss to a function, and gradients of functions on tensors."""
from ..._core import Error, native
from ...ir import GlobalVar, Op
from ...ir.transform import module_pass
from ...packed import register_func
from ..block_builder import BlockBuilder
from ..expr import DataflowBlock, Function, MatchCast, TensorStructInfo, Tuple, Var
from ..expr_functor import PyExprMutator
from ..op import call_tir_with_grad
from ..te_call import gen_call_tir_inputs
from ..utils import copy_with_new_vars, replace_vars


def _only_block(function, what):
    blocks = function.body.blocks
    if len(blocks) != 1 or not isinstance(blocks[0], DataflowBlock):
        raise Error(f"the {what} must have one dataflow block, but has {len(blocks)} blocks")
    return blocks[0]


def _results(function):
    """The variables that a function returns."""
    body = function.body.body
    results = list(body.fields) if isinstance(body, Tuple) else [body]
    if not all(isinstance(result, Var) for result in results):
        raise Error("the backbone must return a variable or a tuple of variables")
    return results


def _check_loss(loss, results, count):
    result = loss.body.body
    info = result.struct_info
    if not isinstance(result, Var) or not isinstance(info, TensorStructInfo) or info.ndim != 0:
        raise Error("the loss must return a variable that is a tensor of rank 0")
    if count > len(results) or count > len(loss.params):
        raise Error(f"the loss takes {count} results of the backbone, which has {len(results)}; it has "
                    f"{len(loss.params)} parameters")
    for param, value in zip(loss.params[:count], results):
        if not native.is_base_of(param.struct_info, value.struct_info):
            raise Error(f"the parameter '{param.name_hint}' of the loss is of type {param.struct_info}, but the result "
                        f"'{value.name_hint}' of the backbone of type {value.struct_info}")


def _emit(builder, bindings, values, outputs):
    """Emits bindings with other variables: `values` has those, and is filled."""
    for binding in bindings:
        value = replace_vars(binding.value, values)
        name = binding.var.name_hint
        if isinstance(binding, MatchCast):
            new = builder.match_cast(value, binding.struct_info, name)
        elif binding.var in outputs:
            new = builder.emit_output(value, name)
        else:
            new = builder.emit(value, name)
        values[binding.var] = new


def _appended(backbone, loss, count, name):
    block, loss_block = _only_block(backbone, "backbone"), _only_block(loss, "loss")
    results = _results(backbone)
    _check_loss(loss, results, count)
    values = {param: param for param in backbone.params}
    extra = loss.params[count:]
    kept = results[count:]
    builder = BlockBuilder()
    attrs = dict(backbone.attrs.items()) if backbone.attrs is not None else {}
    attrs["global_symbol"] = name
    with builder.function(name, [*backbone.params, *extra], attrs=attrs):
        with builder.dataflow():
            _emit(builder, block.bindings, values, kept)
            values.update(zip(loss.params, [values[result] for result in results[:count]]))
            values.update((param, param) for param in extra)
            _emit(builder, loss_block.bindings, values, [loss.body.body])
        result = values[loss.body.body]
        builder.emit_func_output(Tuple([result, *(values[value] for value in kept)]) if kept else result)
    return builder.get()[name]


def AppendLoss(func_name, loss_function, num_backbone_outputs=1, new_func_name=None):  # pylint: disable=invalid-name
    """A pass that adds a function which computes a backbone and a loss of its results.

    The backbone and the loss have one dataflow block each. The first parameters of the loss are the first
    `num_backbone_outputs` results of the backbone; the others are parameters of the new function, and the other results
    of the backbone are results after the loss. The name is `new_func_name`, by default that of the backbone and `_loss`.
    """

    @module_pass(opt_level=0, name="AppendLoss")
    def append(mod, ctx):
        del ctx
        name = new_func_name or func_name + "_loss"
        backbone = copy_with_new_vars(mod[func_name])
        mod[GlobalVar(name)] = _appended(backbone, copy_with_new_vars(loss_function), num_backbone_outputs, name)
        return mod

    return append


def register_te_gradient(te_grad_name, te_grad_func=None):
    """Registers a function on tensors as the gradient that call_tir_with_grad names; a decorator without a function.

    te_grad_func: takes the gradient of the output and the arguments of the call, and gives the gradients of these.
    """

    def register(func):
        def handler(orig_var, call_tir_with_grad, output_grad, builder):
            del orig_var
            kwargs = call_tir_with_grad.attrs.te_grad_kwargs
            return builder.emit_te(func, output_grad, *call_tir_with_grad.args[1], **dict(kwargs.items()),
                                   primfunc_name_hint=te_grad_name)

        register_func("tvm.relax.te_grad._register." + te_grad_name, handler, override=True)
        te_gradients[te_grad_name] = func
        return func

    return register(te_grad_func) if te_grad_func is not None else register


te_gradients: dict = {}


def add_te_gradients(mod):
    """The module with PrimFuncs of registered functions that its calls name as gradients, which Gradient looks for."""
    builder = BlockBuilder(mod)

    class Namer(PyExprMutator):
        """Makes the PrimFuncs, and gives calls their names."""

        def visit_call_(self, op):
            op = super().visit_call_(op)
            name = op.attrs.te_grad_name if isinstance(op.op, Op) and op.op.name == "relax.call_tir_with_grad" else None
            if name not in te_gradients or any(name == known.name_hint for known in mod.get_global_vars()):
                return op
            kwargs = dict(op.attrs.te_grad_kwargs.items())
            adjoint = Var("output_grad", op.struct_info)
            made, _, _, tir_vars = gen_call_tir_inputs(te_gradients[name], adjoint, *op.args[1], **kwargs)
            if tir_vars:
                raise Error(f"the gradient {name} has symbolic sizes that no shape of its arguments gives")
            known = builder.add_func(made, name).name_hint
            return op if known == name else call_tir_with_grad(op.args[0], op.args[1], list(op.sinfo_args), known, kwargs, *op.args[2:])

    for name, func in mod.items():
        if isinstance(func, Function):
            builder.update_func(name, Namer(mod).visit_expr(func))
    return builder.get()

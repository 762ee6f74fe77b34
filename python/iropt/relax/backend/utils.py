"""Conditions for patterns, and what passes for targets share."""
from ...target import Target
from .. import TensorStructInfo, TupleStructInfo
from ..expr import DataflowVar
from ..expr_functor import PyExprMutator


def has_leaking_intermediate_variables(context):
    """Returns whether something outside of a match, a PatternCheckContext, uses a result within it."""
    output = context.value_to_bound_var[context.matched_expr]
    return any(not isinstance(var, DataflowVar) or any(user not in context.matched_bindings
                                                       for user in context.var_usages.get(var, ()))
               for var in context.matched_bindings if not var == output)


class BackendDispatcher(PyExprMutator):
    """The base of mutators that look at targets."""

    @staticmethod
    def is_gpu_target(target):
        return "gpu" in (target.keys or ())

    @staticmethod
    def get_shape_dtype(expr):
        """The shape and the dtype of a tensor, which must be known."""
        info = expr.struct_info
        if not isinstance(info, TensorStructInfo):
            raise ValueError(f"expected a tensor, not an expression of type {info}")
        if info.shape is None:
            raise ValueError(f"expected a tensor of known shape, not one of type {info}")
        return info.shape, info.dtype

    def _get_target(self, sinfo):
        """The target of the virtual device of a type, or the current one."""
        if isinstance(sinfo, TensorStructInfo) and sinfo.vdevice is not None:
            return _target_of(sinfo.vdevice)
        if isinstance(sinfo, TupleStructInfo):
            for field in sinfo.fields:
                target = self._get_target(field)
                if target != Target.current():
                    return target
        target = Target.current()
        if target is None:
            raise ValueError("no target: expected a virtual device of the module or a scope `with Target(...)`")
        return target


def _target_of(vdevice):
    target = vdevice.target
    return target if isinstance(target, Target) else Target(target)

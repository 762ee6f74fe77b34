"""Memory that kernels of attention need in addition."""
from .... import tir
from ....ir.transform import module_pass
from ... import Function
from ...expr_functor import PyExprMutator, mutator
from ._checks import product

_BYTES = {"float16": 2, "float32": 4}
# Of results whose size is not known, for which TVM's kernels allocate themselves.
_UNKNOWN_SIZE = 8


@mutator
class _Annotator(PyExprMutator):
    def __init__(self, mod, library):
        super().__init__(mod)
        self._library = library

    def visit_function_(self, op):
        attrs = dict(op.attrs.items()) if op.attrs is not None else {}
        if "Composite" not in attrs:
            return self._outer(op, attrs)
        if "attention" not in attrs["Composite"] or self._library not in attrs["Composite"]:
            return op
        result = op.ret_struct_info
        size = product([*result.shape.values, _BYTES[str(result.dtype)]])
        return op.with_attr("WorkspaceSize", size if isinstance(size, (int, tir.IntImm)) else _UNKNOWN_SIZE)

    def _outer(self, op, attrs):
        body = self.visit_expr(op.body)
        func = Function(op.params, body, op.ret_struct_info, op.is_pure, op.attrs)
        if self._library in attrs.get("global_symbol", ""):
            inner = body.blocks[0].bindings[0].value
            if isinstance(inner, Function) and "WorkspaceSize" in (inner.attrs or {}):
                return func.with_attr("WorkspaceSize", inner.attrs["WorkspaceSize"])
        return func


def annotate_workspace(library):
    """A pass that says how much memory functions for a library need."""

    def run(mod, _):
        annotator = _Annotator(mod, library)
        for name, func in mod.functions_items():
            if isinstance(func, Function):
                mod.update_func(name, annotator.visit_expr(func))
        return mod

    return module_pass(run, opt_level=0, name="annotate_workspace")

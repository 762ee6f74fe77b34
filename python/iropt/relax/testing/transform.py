"""Passes for tests."""
from ...ir.transform import module_pass


def ApplyEmptyCppMutator():
    """A pass that visits all functions of Relax and changes only calls that are not as their operators want them."""
    from .. import Function, PyExprMutator

    @module_pass(opt_level=0, name="ApplyEmptyCppMutator")
    def run(mod, ctx):
        del ctx
        mutator = PyExprMutator(mod)
        for name, func in mod.items():
            if isinstance(func, Function):
                mutator.builder_.update_func(name, mutator.visit_expr(func))
        return mutator.builder_.get()

    return run

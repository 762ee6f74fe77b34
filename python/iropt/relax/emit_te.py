"""The PrimFuncs of scripts that R.emit_te makes."""


def add_prim_funcs(module, made):
    """Adds functions to a module, and lets calls have their names.

    made: for each function its name in the calls, the name that it is to have, and the function; equal functions are one.
    """
    from . import BlockBuilder, Function

    builder = BlockBuilder(module)
    names = {name: builder.add_func(prim_func, hint) for name, hint, prim_func in made}
    module = builder.get()
    for name, func in module.items():
        if isinstance(func, Function):
            mutator = _mutator()(module, names)
            mutator.builder_.update_func(name, mutator.visit_expr(func))
            module = mutator.builder_.get()
    return module


def _mutator():
    from .expr_functor import PyExprMutator

    class Mutator(PyExprMutator):
        """Replaces names of functions."""

        def __init__(self, module, names):
            super().__init__(module)
            self.names = names

        def visit_global_var_(self, op):
            return self.names.get(op, op)

    return Mutator

"""Scripts: modules and functions as Python source."""
from . import ir, relax, tir
from .ir import ir_module


def from_source(input, extra_vars=None, check_well_formed=True, *, path=None):
    """Reads a text, or the source of a class or a function: a module, or one function if there is no class."""
    import inspect
    import textwrap

    from .. import _script
    from ..ir import Error, diagnostics

    del path
    env = {"T": tir, "R": relax, "I": ir}
    if not isinstance(input, str):
        if inspect.isfunction(input):
            env.update(_script.environment(_script.caller(), input))
        input = inspect.getsource(input)
    env.update(extra_vars or {})
    source = textwrap.dedent(input)
    del check_well_formed
    try:
        module = _script.read(source, env, verify=False)
    except (Error, TypeError, ValueError) as error:
        diagnostics.report(error)
        raise
    return _module_or_function(module, source)


parse = from_source


def _module_or_function(module, source):
    import ast

    if any(isinstance(statement, ast.ClassDef) for statement in ast.parse(source).body):
        return module
    functions = module.items()
    if len(functions) != 1:
        return module
    return functions[0][1]

"""Small tools for functions of Relax."""
from .. import ir
from .._core import Error, native


def bind_function(func, params, symbols):
    """The function with constants for parameters, and values for symbolic variables."""
    from . import transform

    module = ir.IRModule({"main": func})
    _check_symbols(func, symbols)
    if symbols:
        module = transform.BindSymbolicVars({getattr(key, "name", key): int(value) for key, value in symbols.items()},
                                            "main")(module)
    params = {getattr(key, "name", key): value for key, value in params.items()}
    expressions = {name: value for name, value in params.items() if _is_expression(value)}
    arrays = {name: value for name, value in params.items() if name not in expressions}
    if arrays:
        module = transform.BindParams("main", arrays)(module)
    return _bind_expressions(module["main"], expressions) if expressions else module["main"]


def _is_expression(value):
    from .expr import Constant, Expr

    return isinstance(value, Expr) and not isinstance(value, Constant)


def _bind_expressions(func, values):
    """The function with expressions in place of parameters."""
    from .expr import Function

    known = {param.name: index for index, param in enumerate(func.params)}
    unknown = [name for name in values if name not in known]
    if unknown:
        raise Error(f"the function has no parameter '{unknown[0]}'")
    symbols = {}
    for name, value in values.items():
        _match_dimensions(func.params[known[name]].struct_info, value.struct_info, symbols)
    if symbols:
        func = bind_function(func, {}, symbols)
    taken = {func.params[known[name]]: value for name, value in values.items()}
    return Function([param for param in func.params if param not in taken], replace_vars(func.body, taken), None, func.is_pure,
                    func.attrs)


def _match_dimensions(param, value, symbols):
    """Notes the numbers that a value gives for symbolic variables in the type of a parameter."""
    from .. import tir
    from .analysis import scalars

    for own, other in zip(scalars(param), scalars(value)):
        if isinstance(own, tir.Var) and isinstance(other, tir.IntImm):
            symbols[own] = other.value


def _check_symbols(func, symbols):
    """Raises an error if a function has no symbolic variable of a name, or one is given twice."""
    from .analysis import defined_symbolic_vars, free_symbolic_vars

    names = [getattr(key, "name", key) for key in symbols]
    known = {var.name for var in [*defined_symbolic_vars(func), *free_symbolic_vars(func)]} if names else set()
    for name in names:
        if name not in known:
            raise Error(f"the function has no symbolic variable '{name}'")
        if names.count(name) > 1:
            raise Error(f"the symbolic variable '{name}' is given twice")


def inline_functions(func, function_map):
    """The function with the bodies of others where it calls them: {name or GlobalVar: function}."""
    from . import transform
    from .analysis import called_global_vars

    functions = {}
    for key, callee in function_map.items():
        name = getattr(key, "name", key)
        if name in functions:
            raise ValueError(f"the function '{name}' is given twice")
        functions[name] = callee.without_attr("global_symbol") if callee.attrs is not None else callee
    own = "main"
    while own in functions:
        own += "_"
    public = func.with_attr("global_symbol", own)
    inlined = transform.InlinePrivateFunctions()(ir.IRModule({own: public, **functions}))[own]
    left = [name.name for name in called_global_vars(inlined) if name.name in functions]
    if left:
        raise ValueError(f"the function '{left[0]}' calls itself, so that it can't be inlined")
    symbol = func.attrs.get("global_symbol") if func.attrs is not None else None
    return inlined.without_attr("global_symbol") if symbol is None else inlined.with_attr("global_symbol", symbol)


def replace_vars(expr, values):
    """The expression with others for some of its variables."""
    from .expr_functor import PyExprMutator

    class Replacer(PyExprMutator):
        def visit_var_(self, op):
            return values[op] if op in values else super().visit_var_(op)

        visit_dataflow_var_ = visit_var_

    return Replacer().visit_expr(expr)


def convert_to_expr(value):
    return native.to_expr(value)


def copy_with_new_vars(func):
    """A copy of a function with variables and symbolic variables of its own."""
    return native.copy_function(func)


def gen_call_tir_inputs(func, *args, **kwargs):
    """What a call of call_tir needs that computes what a function on tensors does: see BlockBuilder.call_te."""
    from .te_call import gen_call_tir_inputs as generate

    return generate(func, *args, **kwargs)


def __getattr__(name):
    if name == "args_converter":
        from .args_converter import args_converter

        return args_converter
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")

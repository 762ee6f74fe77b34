"""Rules of rewriting that are written as modules: a function that is a pattern, and its replacement."""
from ..._core import native
from .. import expr as _expr
from .constructors import is_tuple_get_item, wildcard
from .pattern import CallPattern, ExprPattern, ExternFuncPattern, TuplePattern


def read(mod):
    """The pattern, a function that makes the replacement, and further functions of the module by their names."""
    pattern, replacement = _function(mod, "pattern"), _function(mod, "replacement")
    types = [[param.type for param in func.params] for func in (pattern, replacement)]
    if len(types[0]) != len(types[1]) or not all(native.structural_equal(a, b, True) for a, b in zip(*types)):
        raise ValueError("the pattern and the replacement must have the same signature: their parameters differ")
    if not native.structural_equal(pattern.ret_type, replacement.ret_type, True):
        raise ValueError("the pattern and the replacement must have the same signature: their results differ")
    others = {}
    for name, func in mod.items():
        if name.name in ("pattern", "replacement"):
            continue
        if func.attrs is not None and "global_symbol" in func.attrs:
            raise ValueError(f"the function '{name.name}' is publicly exposed, but only the pattern and the replacement may be")
        others[name] = func
    leaves = [wildcard() for _ in pattern.params]
    top = _pattern_of(pattern, leaves)
    return top, lambda expr, matched: _instance(replacement, [matched[leaf] for leaf in leaves]), others


def _function(mod, name):
    if name not in mod:
        raise KeyError(f"the module must have a function '{name}'")
    if not isinstance(mod[name], _expr.Function):
        raise TypeError(f"the function '{name}' must be a function of Relax")
    return mod[name]


def _pattern_of(func, leaves):
    known = {param: leaf.has_struct_info(param.type) for param, leaf in zip(func.params, leaves)}

    def convert(expr):
        if isinstance(expr, _expr.Var):
            return known[expr]
        if isinstance(expr, _expr.Call):
            return CallPattern(convert(expr.op), [convert(arg) for arg in expr.args], add_constraint=False)
        if isinstance(expr, _expr.Tuple):
            return TuplePattern([convert(field) for field in expr.fields])
        if isinstance(expr, _expr.TupleGetItem):
            return is_tuple_get_item(convert(expr.tuple), expr.index)
        if isinstance(expr, _expr.ExternFunc):
            return ExternFuncPattern(expr.global_symbol)
        if isinstance(expr, _expr.PrimValue):
            return wildcard().has_struct_info(_expr.PrimStructInfo(expr.value))
        return ExprPattern(expr)

    for block in func.body.blocks:
        for binding in block.bindings:
            value = convert(binding.value)
            if isinstance(binding, _expr.MatchCast):
                value = value.has_struct_info(binding.struct_info)
            known[binding.var] = value
    return convert(func.body.body)


def _instance(func, args):
    """The result of the function for these arguments, as one expression."""
    known = dict(zip(func.params, args))
    symbols = {}
    for param, arg in zip(func.params, args):
        _bind_dims(param.type, arg.type, symbols)

    def convert(expr):
        if isinstance(expr, _expr.Var):
            return known[expr]
        if isinstance(expr, _expr.Call):
            types = expr.type_args and _expr.TupleStructInfo([_with_dims(info, symbols) for info in expr.type_args.fields])
            call = _expr.Call(expr.op, [convert(arg) for arg in expr.args], expr.attrs)
            return call if types is None else native.copy_with(call, {"type_args": types})
        if isinstance(expr, _expr.Tuple):
            return _expr.Tuple([convert(field) for field in expr.fields])
        if isinstance(expr, _expr.TupleGetItem):
            return _expr.TupleGetItem(convert(expr.tuple), expr.index)
        if isinstance(expr, _expr.ShapeExpr):
            return _expr.ShapeExpr([_with_symbols(dim, symbols) for dim in expr.values])
        if isinstance(expr, _expr.PrimValue):
            return _expr.PrimValue(_with_symbols(expr.value, symbols))
        return expr

    for block in func.body.blocks:
        for binding in block.bindings:
            known[binding.var] = convert(binding.value)
    return convert(func.body.body)


def _bind_dims(info, given, symbols):
    from ... import tir

    if isinstance(info, _expr.TupleStructInfo) and isinstance(given, _expr.TupleStructInfo):
        for a, b in zip(info.fields, given.fields):
            _bind_dims(a, b, symbols)
    dims = getattr(info, "dims", None) or getattr(info, "values", None) or ()
    for dim, value in zip(dims, getattr(given, "dims", None) or getattr(given, "values", None) or ()):
        if isinstance(dim, tir.Var):
            symbols.setdefault(dim, value)


def _with_symbols(dim, symbols):
    from ...arith import Analyzer
    from ...tir import stmt_functor

    return Analyzer().simplify(stmt_functor.substitute(dim, symbols)) if symbols else dim


def _with_dims(info, symbols):
    if not isinstance(info, _expr.TensorStructInfo) or not info.known:
        return info
    return _expr.TensorStructInfo([_with_symbols(dim, symbols) for dim in info.dims], info.dtype, info.vdevice)

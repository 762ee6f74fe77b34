"""The text of parts of graphs, with the variables that they use and do not define."""
import textwrap

from . import _text
from ._core import Error, native

_COMPACT = ("Constant", "PrimValue", "ShapeExpr", "StringImm", "DataTypeImm", "If", "ExternFunc")


def script(value, **options):
    """The text of an expression, a binding, a block or a type, after the declarations of free variables."""
    from . import ir, relax

    if isinstance(value, ir.StructInfo):
        symbols = relax.analysis.tir_vars_in_struct_info(value)
        return "\n".join([*(_symbol(var) for var in symbols), native.type_text(value)])
    if type(value).__name__ in _COMPACT:
        return _text.script(value, **options)
    function = _function(value)
    try:
        lines = _lines(function, options)
    except Error:
        return _text.script(value, **options)
    lines[-1:] = [] if isinstance(value, (relax.Binding, relax.BindingBlock)) else [lines[-1].removeprefix("return ")]
    return "\n".join([*_declarations(function), *lines])


def _symbol(var):
    return f"{var.name} = T.{var.dtype}()"


def _function(value):
    """A function with the part as its body, and the free variables as its parameters."""
    from . import relax

    if isinstance(value, relax.Binding):
        value = relax.BindingBlock([value])
    if isinstance(value, relax.BindingBlock):
        value = relax.SeqExpr([value], value.bindings[-1].var if len(value.bindings) else relax.Tuple([]))
    if not isinstance(value, relax.SeqExpr):
        value = relax.SeqExpr([], value)
    params = relax.analysis.free_vars(value)
    return relax.Function(params, value, ret_struct_info=relax.ObjectStructInfo())


def _lines(function, options):
    """The lines of the body of a function, without what declares names of the function itself."""
    text = _text.script(function, **options).split("\n")
    start = next(index for index, line in enumerate(text) if line.startswith("def ")) + 1
    lines = textwrap.dedent("\n".join(text[start:])).split("\n")
    symbols = {_symbol(var) for var in _symbols(function)}
    return [line.replace("cls.", "") for line in lines if line not in symbols and line != "cls = Module"]


def _symbols(function):
    from . import relax

    return [*relax.analysis.defined_symbolic_vars(function), *relax.analysis.free_symbolic_vars(function)]


def _declarations(function):
    """A line for each free variable, with those of the symbolic variables of its type before it."""
    from . import relax

    known = set()

    def declare(symbols):
        new = [var for var in symbols if native.node_id(var) not in known]
        known.update(native.node_id(var) for var in new)
        return map(_symbol, new)

    for param in function.params:
        if param.type is not None:
            yield from declare(relax.analysis.tir_vars_in_struct_info(param.type))
            yield f"{param.name}: {native.type_text(param.type)}"
    yield from declare(relax.analysis.free_symbolic_vars(function))

"""The text of nodes, and its colours."""
import html as _html
import json
import keyword
import math
import re
import sys

from ._core import Error, Node, native


def script(value, **options):
    """The text of a node."""
    from . import ir, relax, tir

    if isinstance(value, ir.BaseFunc) and not isinstance(value, relax.ExternFunc):
        return _function(value, options)
    if isinstance(value, tir.PrimExpr):
        try:
            return native.scalar_text(value)
        except Error:
            return _fields(value)
    if isinstance(value, tir.Buffer):
        return value.name
    if isinstance(value, (tir.BufferRegion, tir.MatchBufferRegion, tir.Range, tir.IterVar, tir.CommReducer)):
        return _part(value)
    if isinstance(value, tir.Stmt):
        return _statement(value, options)
    if isinstance(value, relax.Constant):
        return _constant(value, options)
    if isinstance(value, (relax.PrimValue, relax.ShapeExpr, relax.StringImm, relax.DataTypeImm)):
        return native.expression_text(value)
    if isinstance(value, relax.Expr):
        return _expression(value, options)
    if isinstance(value, relax.Binding):
        return f"{value.var.name} = {_expression(value.value, options)}"
    if isinstance(value, relax.BindingBlock):
        return "\n".join(script(binding, **options) for binding in value.bindings)
    return _fields(value)


def _part(value):
    """The text of what only stands in statements."""
    from . import tir

    if isinstance(value, tir.Range):
        return f"I.Range({value.min}, {tir.convert(value.min + value.extent)})"
    if isinstance(value, tir.BufferRegion):
        places = [str(dom.min) if isinstance(dom.extent, tir.IntImm) and dom.extent.value == 1 else f"{dom.min}:{dom.min + dom.extent}"
                  for dom in value.region]
        return f"{value.buffer.name}[{', '.join(places) or '()'}]"
    if isinstance(value, tir.MatchBufferRegion):
        buffer = value.buffer
        dims = ", ".join(str(dim) for dim in buffer.shape) + ("," if len(buffer.shape) == 1 else "")
        dtype = "" if buffer.dtype == "float32" else f', "{buffer.dtype}"'
        return f"{buffer.name} = T.match_buffer({_part(value.source)}, ({dims}){dtype})"
    if isinstance(value, tir.CommReducer):
        params = ", ".join(str(var) for var in (*value.lhs, *value.rhs))
        results = [str(item) for item in value.result]
        result = results[0] if len(results) == 1 else f"({', '.join(results)})"
        return f"T.comm_reducer(lambda {params}: {result}, [{', '.join(str(item) for item in value.identity_element)}])"
    kinds = ("DataPar", "ThreadIndex", "CommReduce", "Ordered", "Opaque", "Unrolled", "Vectorized", "Parallelized", "Tensorized")
    dom = None if value.dom is None else _part(value.dom).replace("I.", "T.", 1)
    return f"T.iter_var({value.var}, {dom}, {json.dumps(kinds[int(value.iter_type)])}, {json.dumps(value.thread_tag)})"


def declared(value, text):
    """The text of a node after the declarations of its variables and buffers."""
    from . import tir

    def access(buffer):
        return tir.BufferLoad(buffer, [0] * len(buffer.shape))

    used = []
    if isinstance(value, tir.PrimExpr):
        used = [value]
    elif isinstance(value, tir.Buffer):
        used = [access(value)]
    elif isinstance(value, tir.IterVar):
        used = [value.var]
    elif isinstance(value, (tir.BufferRegion, tir.MatchBufferRegion)):
        region = value.source if isinstance(value, tir.MatchBufferRegion) else value
        used = [access(region.buffer), *(end for dom in region.region for end in (dom.min, dom.extent))]
    if not used:
        return text
    lines = _statement(tir.stmt_seq(*used), {}).split("\n")
    # The last lines are the statements.
    return "\n".join(lines[: -len(used)] + [text])


def _constant(value, options):
    """The text of a constant; without metadata, that of a big one has "..." for its elements."""
    most_shown = 16
    shape = value.data.shape
    if options.get("show_meta", True) or math.prod(shape) <= most_shown:
        return native.expression_text(value)
    return f"R.const(..., R.Tensor({tuple(shape)}, dtype={json.dumps(value.data.dtype)}))"


def _function(func, options):
    from . import ir

    symbol = func.attrs.get("global_symbol") if func.attrs is not None else None
    module = ir.IRModule({symbol or "main": func})
    module._module.name = ""
    return module.script(**options).rstrip("\n")


def _statement(stmt, options):
    from . import tir

    text = _function(tir.PrimFunc([], stmt), options)
    lines = text.split("\n")
    start = next((index for index, line in enumerate(lines) if line.startswith("def ")), -1) + 1
    body = lines[start:]
    indent = min((len(line) - len(line.lstrip()) for line in body if line.strip()), default=0)
    return "\n".join(line[indent:] for line in body)


def _expression(expr, options):
    from . import ir, relax

    if isinstance(expr, relax.Call):
        args = [_expression(arg, options) for arg in expr.args]
        if isinstance(expr.attrs, ir.Attrs):
            args += [f"{name}={value!r}" for name, value in zip(expr.attrs.names, expr.attrs.values)]
        callee = _expression(expr.op, options)
        return f"{callee}({', '.join(args)})"
    if isinstance(expr, relax.Tuple):
        fields = ", ".join(_expression(field, options) for field in expr.fields)
        return f"({fields},)" if len(expr.fields) == 1 else f"({fields})"
    if isinstance(expr, relax.TupleGetItem):
        return f"{_expression(expr.tuple, options)}[{expr.index}]"
    if isinstance(expr, relax.Var):
        return expr.name
    if isinstance(expr, ir.Op):
        return "R." + expr.name[6:] if expr.name.startswith("relax.") else expr.name
    if isinstance(expr, ir.GlobalVar):
        return expr.name
    if isinstance(expr, relax.ExternFunc):
        return f'R.ExternFunc("{expr.global_symbol}")'
    if isinstance(expr, Node) and type(expr).__name__ in ("Function", "PrimFunc"):
        return _function(expr, options)
    if isinstance(expr, (relax.If, relax.SeqExpr)):
        return _fields(expr)
    return script(expr, **options)


def _fields(value):
    cls = type(value)
    parts = []
    for name in cls._fields_:
        field = getattr(value, name)
        if field is not None and name != "type":
            parts.append(f"{name}={field!r}")
    return f"{cls.__name__}({', '.join(parts)})"


def captured(value):
    """The text of a node in a script that captures it."""
    from . import _script, ir, relax, tir

    if isinstance(value, tir.IntImm):
        return repr(value.value) if value.dtype == "int32" else f"T.{value.dtype}({value.value})"
    if isinstance(value, tir.FloatImm):
        return f"T.{value.dtype}({value.value!r})"
    if isinstance(value, (relax.Constant, relax.PrimValue, relax.ShapeExpr, relax.DataTypeImm)):
        return native.expression_text(value)
    if isinstance(value, relax.ExternFunc):
        return f'R.ExternFunc("{value.global_symbol}")'
    if isinstance(value, ir.GlobalVar):
        return value.name
    if isinstance(value, ir.StructInfo):
        return native.type_text(value)
    if isinstance(value, (tir.PrimExpr, ir.AttrBase)):
        return value.script()
    raise _script.Unprintable(value)


# ---- Colours

_TOKENS = re.compile(r"(?P<comment>#[^\n]*)|(?P<string>\"(?:[^\"\\\n]|\\.)*\")|(?P<decorator>@[\w.]+)|"
                     r"(?P<number>\b\d[\w.]*)|(?P<word>[A-Za-z_]\w*)")
_COLOURS = {"comment": "36;2", "string": "32", "decorator": "35", "number": "33", "keyword": "34;1"}
_STYLES = {"comment": "color:#6a737d", "string": "color:#22863a", "decorator": "color:#6f42c1", "number": "color:#b08800",
           "keyword": "color:#005cc5;font-weight:600"}


def _coloured(text, paint):
    pieces, end = [], 0
    for match in _TOKENS.finditer(text):
        kind = match.lastgroup
        if kind == "word":
            if not keyword.iskeyword(match.group()):
                continue
            kind = "keyword"
        pieces += [paint(None, text[end : match.start()]), paint(kind, match.group())]
        end = match.end()
    pieces.append(paint(None, text[end:]))
    return "".join(pieces)


def show(text, file=None):
    """Prints a text, with colours on a terminal."""
    file = file or sys.stdout
    if file.isatty():
        text = _coloured(text, lambda kind, part: f"\x1b[{_COLOURS[kind]}m{part}\x1b[0m" if kind else part)
    print(text, file=file)


def html(text):
    """A text in colours for a notebook."""

    def paint(kind, part):
        part = _html.escape(part)
        return f'<span style="{_STYLES[kind]}">{part}</span>' if kind else part

    return f'<pre style="line-height:1.3">{_coloured(text, paint)}</pre>'

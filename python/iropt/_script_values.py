"""Captured values of Python as the text of scripts."""
from . import _core
from ._core import native


class Unprintable(Exception):
    """A value that a script has no text for."""


def text_of(value, variables=None):
    """The text of a captured value in a script. Its variables, which the script must declare, are added to a dictionary."""
    if variables is not None:
        text = _text_with_variables(value, variables)
        if text is not None:
            return text
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        return repr(float(value)) if value == value and abs(value) != float("inf") else f'float("{value}")'
    if isinstance(value, (list, tuple)):
        items = ", ".join(text_of(item, variables) for item in value)
        if isinstance(value, list) or isinstance(value, _core.Array):
            return f"[{items}]"
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{text_of(key)}: {text_of(item, variables)}" for key, item in value.items()) + "}"
    script = getattr(value, "_script_", None)
    if script is not None:
        return script()
    name = type(value).__name__
    if type(value).__module__ == "numpy":
        if name == "ndarray":
            raise Unprintable(value)
        if hasattr(value, "item") and not name.startswith("dtype"):
            return text_of(value.item())
        return repr(str(value))
    if isinstance(value, type) and value.__module__ == "numpy":
        return repr(value.__name__)
    raise Unprintable(value)


def _text_with_variables(value, variables):
    from . import tir

    if hasattr(value, "_node_") and not isinstance(value, _core.Node):
        value = value._node_()
    if isinstance(value, tir.IterVar):
        declare(value.var, value, variables)
        dom = "None" if value.dom is None else f"T.Range({value.dom.min}, {value.dom.min + value.dom.extent})"
        kind = {0: "DataPar", 1: "ThreadIndex", 2: "CommReduce"}[value.iter_type]
        return f'T.iter_var({value.var.name}, {dom}, "{kind}", "{value.thread_tag}")'
    if not isinstance(value, tir.PrimExpr) or isinstance(value, (tir.IntImm, tir.FloatImm, tir.StringImm)):
        return None
    if any(isinstance(part, (tir.Let, tir.Buffer)) for part in native.post_order(value)):
        raise Unprintable(value)
    for var in native.free_vars(value):
        declare(var, value, variables)
    return value.script()


def declare(var, value, variables):
    """Notes that the script must declare a variable; two of the same name are not printable."""
    if not var.name.isidentifier() or not variables.setdefault(var.name, var).same_as(var):
        raise Unprintable(value)

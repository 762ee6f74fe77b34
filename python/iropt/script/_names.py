"""The names of scripts outside of scripts: what stands in annotations and in captured expressions."""
import functools

from .. import _script
from .._core import native


class Name:
    """A name of a script that has no value in Python, such as T.Buffer: it can be called, and is a text."""

    _text_of_script_ = True

    def __init__(self, text):
        self._text = text

    @property
    def _script_name_(self):
        return self._text if "(" not in self._text and "[" not in self._text else None

    def _script_(self):
        return self._text

    def __call__(self, *args, **kwargs):
        return Name(f"{self._text}({arguments(args, kwargs)})")

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        return Name(f"{self._text}[{arguments(index, {})}]")

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return Name(f"{self._text}.{name}")

    def __repr__(self):
        return self._text

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def __iter__(self):
        raise TypeError(f"{self._text} can be used in a script only")

    def _compare(self, other):
        if other is self:
            return True
        if self._script_name_ is not None:
            # As a class, such as that of an annotation.
            return isinstance(other, Name) and other._text == self._text
        raise TypeError(f"{self._text} has no value to compare while Python runs: it can be used in a script only")

    def __eq__(self, other):
        return self._compare(other)

    def __ne__(self, other):
        return not self._compare(other)

    def __bool__(self):
        raise TypeError(f"{self._text} has no truth value while Python runs: it can be used in a script only")

    def __hash__(self):
        return hash(self._text)


class Expression(Name):
    """An expression of a script of which only the text is known: functions of Python that it is given to compute texts."""

    _script_name_ = None
    __hash__ = Name.__hash__


def operation(symbol, a, b):
    """The text of an operation on two values, at least one of which is a text."""
    return Expression(f"({_text(a)} {symbol} {_text(b)})")


def _operation(symbol, swap=False):
    def operate(self, other):
        return operation(symbol, other, self) if swap else operation(symbol, self, other)

    return operate


for _name, _symbol in {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "and": "&",
                       "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>"}.items():
    setattr(Name, f"__{_name}__", _operation(_symbol))
    setattr(Name, f"__r{_name}__", _operation(_symbol, True))
for _name, _symbol in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
    setattr(Name if _name in ("lt", "le", "gt", "ge") else Expression, f"__{_name}__", _operation(_symbol))
setattr(Name, "__neg__", lambda self: Expression(f"(-{_text(self)})"))


# Names that the vocabulary of the reader lacks: it shows another name for the same, or TVM has them for builders only.
_MORE = {
    "T": ("CallEffectKind", "CommReducer", "ComposeLayout", "Ptr", "SwizzleLayout", "TensorMap", "TileLayout", "arg", "buffer_var",
          "call_cpacked_lowered", "call_kernel", "call_packed_lowered", "func_name", "func_ret", "void"),
    "R": ("Else", "If", "SeqExpr", "ShapeExpr", "Then", "TupleGetItem", "arg", "emit", "emit_match_cast", "emit_te",
          "emit_var_binding", "emit_with_sinfo", "emit_with_ty", "emit_with_type", "ext_dev", "func_name", "func_ret_struct_info",
          "func_ret_value", "gpu", "hexagon", "linear", "stop_lift_params", "vpi"),
}


@functools.lru_cache(maxsize=None)
def _of_scripts():
    """The names after prefixes that scripts may have, and the first words of those that have several."""
    names = native.script_names() + [f"{prefix}.{name}" for prefix, names in _MORE.items() for name in names]
    return {".".join(words[:count]) for words in map(lambda name: name.split("."), names) for count in range(2, len(words) + 1)}


def named(prefix, name):
    """The name after a prefix, which scripts must know."""
    text = f"{prefix}.{name}"
    if text not in _of_scripts():
        raise AttributeError(f"scripts have no {text}")
    return Name(text)


def has_text(values):
    """Returns whether one of the values, or of a list among them, is a text of a script."""
    return any(isinstance(value, Name) or (isinstance(value, (list, tuple)) and has_text(value)) for value in values)


def text_of_node(cls, fields):
    """The text of the node of a class with these fields."""
    if cls.__name__ == "Call":
        return Expression(f"T.{fields['op'].name.removeprefix('tir.')}({arguments(fields['args'], {})})")
    return Expression(f"T.{cls.__name__}({arguments(fields.values(), {})})")


def arguments(args, kwargs):
    """The text of the arguments of a call."""
    parts = [_text(arg) for arg in args] + [f"{name}={_text(value)}" for name, value in kwargs.items()]
    return ", ".join(parts)


def _text(value):
    try:
        return _script.text_of(value)
    except _script.Unprintable:
        return getattr(value, "name", None) or repr(value)

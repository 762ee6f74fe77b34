"""The names of scripts outside of scripts: what stands in annotations and in captured expressions."""
from .. import _script


class Name:
    """A name of a script that has no value in Python, such as T.Buffer: it can be called, and is a text."""

    def __init__(self, text):
        self._text = text

    @property
    def _script_name_(self):
        return self._text if "(" not in self._text and "[" not in self._text else None

    def _script_(self):
        return self._text

    def __call__(self, *args, **kwargs):
        return Name(f"{self._text}({_arguments(args, kwargs)})")

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        return Name(f"{self._text}[{_arguments(index, {})}]")

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


def _arguments(args, kwargs):
    parts = [_text(arg) for arg in args] + [f"{name}={_text(value)}" for name, value in kwargs.items()]
    return ", ".join(parts)


def _text(value):
    try:
        return _script.text_of(value)
    except _script.Unprintable:
        return repr(value)

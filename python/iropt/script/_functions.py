"""The decorators of functions."""
import inspect

from .. import _script
from ..ir import IRModule


def read_function(function, frame, verify=True):
    """The function of a module that the source of a function of Python describes."""
    source, path, line = _script.source_of_function(function)
    env = _script.environment(frame, function)
    env.pop(function.__name__, None)
    module = _script.read(source, env, path, line, verify=verify)
    return module.items()[0][1]


def decorator(name):
    """A decorator whose functions are scripts."""

    def decorate(func=None, *, check_well_formed=True, **_):
        frame = _script.caller()

        def apply(function):
            if not inspect.isfunction(function):
                raise TypeError(f"expected a function, not {function!r}")
            if _script.in_module_class(frame):
                return function
            return read_function(function, frame, check_well_formed)

        return apply(func) if func is not None else apply

    decorate.__name__ = name
    return decorate


class Macro:
    """A macro of a script: its text goes where scripts call it."""

    def __init__(self, function, prefix, hygienic, frame):
        self._function, self._prefix, self._hygienic = function, prefix, hygienic
        # A hygienic macro means what its names meant where it was defined.
        self._env = _script.environment(frame, function) if hygienic else None
        self.__name__ = function.__name__

    @property
    def _script_name_(self):
        return self.__name__

    def _script_macro_(self, env, bound, host):
        """The text of the macro for a script that sees the names `env` and binds some itself, and its places."""
        source, path, line = _script.source_of_function(self._function)
        places = _script.Places(path, line, source)
        if self._hygienic:
            env, bound = self._env, ()
        return _script.resolve(source, env, host, bound=bound, file=path, places=places), places

    def __call__(self, *_args, **_kwargs):
        raise TypeError(f"the macro {self.__name__} can be used in a script only")


def macro(prefix):
    """The decorator of macros."""

    def decorate(func=None, *, hygienic=True):
        if func is not None and not callable(func):
            raise ValueError(f"the decorator of a macro has keywords only, not {func!r}")
        frame = _script.caller()

        def apply(function):
            return function if _script.in_module_class(frame) else Macro(function, prefix, hygienic, frame)

        return apply(func) if func is not None else apply

    return decorate

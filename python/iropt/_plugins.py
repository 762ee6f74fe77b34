"""Plugins that are written in Python: files with a function `register(registry)`."""
import importlib.util
import inspect
import os

from ._core import Error, native


class Registry:
    """The registry that a plugin adds its passes to."""

    def add(self, function=None, *, name=None, kind="module", opt_level=0, required=None, summary=""):
        """Adds a pass whose work a function does: of (mod, ctx) for module passes, else of (part, mod, ctx).

        kind: "module", "function", "prim_func" or "dataflow_block". Parameters of the function that can only be given by name
        are the options of the pass, with their defaults.
        """

        def apply(func):
            self._add(func, name or func.__name__, kind, opt_level, list(required or []), summary)
            return func

        return apply(function) if function is not None else apply

    @staticmethod
    def _add(func, name, kind, opt_level, required, summary):
        from .ir import transform

        options = []
        for parameter in inspect.signature(func).parameters.values():
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                if parameter.default is inspect.Parameter.empty:
                    raise Error(f"the option '{parameter.name}' of the pass '{name}' has no default")
                options.append({"name": parameter.name, "default": transform.to_option(parameter.default), "summary": ""})

        def make(**values):
            def run(*args):
                return func(*args, **values)

            return transform.python_pass(kind, run, name, opt_level, required)._handle

        info = native.PassInfo(name, opt_level, required, False)
        native.register_pass(info, kind, summary or (inspect.getdoc(func) or "a pass of Python").split("\n")[0], options, make)


def load(path):
    """Loads a shared object or a file of Python."""
    from .ir import transform

    native.load_plugin(os.fspath(path))
    transform.forget_table()


def read(path):
    """Lets a file of Python add its passes to the registry that is being filled."""
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(f"iropt_plugin_{name}", path)
    if spec is None or not os.path.exists(path):
        raise Error(f"cannot load the plugin '{path}'")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, "register"):
        raise Error(f"the plugin '{path}' has no function register(registry)")
    module.register(Registry())

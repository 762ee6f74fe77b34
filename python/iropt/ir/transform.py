"""Passes, and the context that they run in."""
import contextlib
import functools
import itertools
import threading

from .._core import Error, Node, native

PassInfo = native.PassInfo

_state = threading.local()
_table = None


def table():
    """The rows of the table of passes."""
    global _table  # pylint: disable=global-statement
    if _table is None:
        _table = native.pass_table()
    return _table


def forget_table():
    """Reads the table again, which a plugin has added to."""
    global _table  # pylint: disable=global-statement
    _table = None
    _rows.cache_clear()
    _constructor_of.cache_clear()


@functools.lru_cache(maxsize=None)
def _rows():
    """The rows by the names of passes, and by those that other versions of TVM have for them."""
    rows = {other: row for row in table() for other in row["other_names"]}
    return {**rows, **{row["name"]: row for row in table()}}


# ---- Contexts


class PassContext:
    """The settings under which passes run; a context manager.

    opt_level: passes of a higher level are skipped by Sequential.
    required_pass, disabled_pass: names of passes that run, or do not, whatever their level is.
    instruments: what watches the passes.
    config: options by their keys; config_table() lists them.
    trace: a function of (module, info, is_before) that is called before and after each pass.
    """

    def __init__(self, opt_level=2, required_pass=None, disabled_pass=None, instruments=None, config=None, trace=None,
                 trace_stack=None, make_traceable=None, num_evals=0, tuning_api_database=None, threads=1):
        # Tuning of passes does not exist; programs hand on what a context has.
        self.trace_stack, self.make_traceable, self.num_evals = list(trace_stack or []), make_traceable, num_evals
        self._tuning_api_database = tuning_api_database
        self._context = native.Context()
        self._context.opt_level = opt_level
        self._context.threads = threads
        self._context.required_pass = _names(required_pass, "required_pass")
        self._context.disabled_pass = _names(disabled_pass, "disabled_pass")
        self._config = {}
        for key, value in (config or {}).items():
            self._config[key] = value
            self._context.set_config(key, to_option(value))
        self._entered = False
        self._instruments = list(instruments or [])
        if callable(trace):
            from .instrument import Trace

            self._instruments.append(Trace(trace))
        self._context.set_instruments([_instrument(item) for item in self._instruments])

    opt_level = property(lambda self: self._context.opt_level)
    required_pass = property(lambda self: self._context.required_pass)
    disabled_pass = property(lambda self: self._context.disabled_pass)

    @property
    def config(self):
        return {**self._context.config(), **self._config}

    @property
    def instruments(self):
        # A failure to enter or to leave has removed all of them.
        return self._instruments if self._context.has_given_instruments() else []

    def __enter__(self):
        self._context.enter()
        _stack().append(self)
        return self

    def __exit__(self, kind, value, trace):
        _stack().pop()
        self._context.exit()

    def __repr__(self):
        parts = [f"opt_level={self.opt_level}"]
        for name in ("required_pass", "disabled_pass", "instruments", "config"):
            value = getattr(self, name)
            if value:
                parts.append(f"{name}={value!r}")
        return f"PassContext({', '.join(parts)})"

    def override_instruments(self, instruments):
        """Replaces the instruments: the old ones leave the context, the new ones enter it."""
        new = list(instruments or [])
        if self is getattr(_state, "default", None) and not self._entered:
            # The default context of a thread becomes its current one when it gets instruments.
            self._context.enter()
            self._entered = True
        self._context.override_instruments([_instrument(item) for item in new])
        self._instruments = new

    @contextlib.contextmanager
    def _watched_by(self, instruments):
        """Lets the instruments of another context, which do not enter this one, watch its passes."""
        self._context.set_instruments([_instrument(item) for item in instruments])
        try:
            yield
        finally:
            self._context.set_instruments([])

    def get_tuning_api_database(self):
        """The database that the context was given; nothing uses it."""
        return self._tuning_api_database

    def pass_enabled(self, info):
        """Returns whether Sequential runs a pass of this description."""
        return self._context.enabled(info)

    @staticmethod
    def current():
        """The innermost context of the thread, or its default one."""
        stack = _stack()
        if stack:
            return stack[-1]
        if not hasattr(_state, "default"):
            _state.default = PassContext()
        return _state.default

    @staticmethod
    def list_configs():
        """The keys of the configuration with their types."""
        return {row["name"]: {"type": row["type"]} for row in native.config_table()}


def _stack():
    if not hasattr(_state, "stack"):
        _state.stack = []
    return _state.stack


def _names(names, what):
    names = list(names or [])
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"{what} must be a list of texts")
    return names


def _instrument(instrument):
    if hasattr(instrument, "_instrument_"):
        return instrument._instrument_()
    if isinstance(instrument, native.PassInstrument):
        return instrument
    raise TypeError(f"expected an instrument, not {type(instrument).__name__}")


def config_table():
    """The options of the configuration, each with name, type, default and summary."""
    return native.config_table()


def to_option(value):
    """A value of Python as JSON has it: the form in which passes take their options."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {_key(key): to_option(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [to_option(item) for item in value]
    if hasattr(value, "_option_"):
        return value._option_()
    if hasattr(value, "items") and not isinstance(value, type):
        return {_key(key): to_option(item) for key, item in value.items()}
    if isinstance(value, Node):
        from .. import relax, tir

        if isinstance(value, (tir.IntImm, tir.FloatImm, tir.StringImm)):
            return value.value
        if isinstance(value, relax.Constant):
            return to_option(value.data)
        if hasattr(value, "name_hint"):
            return value.name_hint
        return value._script_()
    if isinstance(value, native.NDArray) or hasattr(value, "__array_interface__"):
        import numpy

        array = numpy.asarray(value)
        dtype = value.dtype if isinstance(value, native.NDArray) else str(array.dtype)
        if array.ndim == 0 and isinstance(value, numpy.generic):
            return value.item()
        return {"dtype": dtype, "shape": list(array.shape), "data": array.reshape(-1).tolist()}
    if hasattr(value, "numpy"):
        return to_option(value.numpy())
    return value


def _key(key):
    if isinstance(key, str):
        return key
    return getattr(key, "name", None) or str(key)


# ---- Passes


class Pass:
    """A pass: a function of a module to a module."""

    def __init__(self, handle, target=None):
        self._handle = handle
        self._target = target
        self._registered = None

    @property
    def info(self):
        """The description: name, opt_level, required, traceable."""
        return self._handle.info

    @property
    def num_passes(self):
        """The number of passes that it consists of, as far as the context enables all of them."""
        return self._handle.num_passes()

    def __call__(self, mod):
        """Runs the pass under the current context."""
        from .. import ir, target

        if not isinstance(mod, ir.IRModule):
            raise TypeError(f"a pass takes a module, not {type(mod).__name__}")
        chosen = self._target or target.Target.current(allow_none=True)
        return ir.IRModule(_module=native.run_pass(self._get(), mod._module, _target_option(chosen)))

    def _get(self):
        return self._handle

    def _option_(self):
        """The name by which an option, such as tir.add_lower_pass, has this pass."""
        if self._registered is None:
            info, name = self.info, f"python.{self.info.name}.{next(_numbers)}"
            made = python_pass("module", lambda mod, _: self(mod), name, info.opt_level, list(info.required))
            native.register_pass(made.info, "module", f"{info.name}, as an option has it", [], made._get)
            self._registered = name
        return self._registered

    def __repr__(self):
        return f"<{type(self).__name__} {self.info.name}>"


_numbers = itertools.count()


def _target_option(target):
    return None if target is None else to_option(target)


class ModulePass(Pass):
    """A pass over modules."""


class FunctionPass(Pass):
    """A pass over Relax functions."""


class DataflowBlockPass(Pass):
    """A pass over dataflow blocks."""


class PrimFuncPass(Pass):
    """A pass over PrimFuncs."""


_CLASSES = {"Module": ModulePass, "Function": FunctionPass, "DataflowBlock": DataflowBlockPass, "PrimFunc": PrimFuncPass}


class Sequential(Pass):
    """Passes one after another, as far as the context enables them, each after the passes that it requires."""

    def __init__(self, passes=None, opt_level=0, name="sequential", required=None, traceable=False):
        del traceable
        self.passes = list(passes or [])
        for item in self.passes:
            if not isinstance(item, Pass):
                raise TypeError(f"Sequential takes passes, not {type(item).__name__}")
        handles = [item._get() for item in self.passes]
        super().__init__(native.sequential_pass(handles, name, opt_level, _names(required, "required")))


class Pipeline(Pass):
    """A pipeline in the text of the command line: Pipeline("default<O3>")."""

    def __init__(self, text):
        self.text = text
        super().__init__(native.pipeline_pass(text))


def make(name, options=None, target=None):
    """A pass of the table by its name, with its options."""
    row = _rows().get(name)
    handle = native.named_pass(name, {key: to_option(value) for key, value in (options or {}).items()})
    return _CLASSES.get(row["kind"] if row else "Module", ModulePass)(handle, target)


# Options that TVM has under other names, by pass: the name of TVM to ours.
_OPTION_NAMES = {}


def constructor(name, candidates):
    """The function that makes a pass, for an attribute of a module of passes."""
    if name.startswith("_"):
        raise AttributeError(name)
    rows = _rows()
    found = next((candidate for candidate in candidates if candidate in rows), None)
    if found is None:
        raise AttributeError(f"there is no pass '{name}'")
    return _constructor_of(found)


@functools.lru_cache(maxsize=None)
def _constructor_of(name):
    import inspect

    row = _rows()[name]
    names = [option["name"] for option in row["options"]]

    def construct(*args, **kwargs):
        if len(args) > len(names):
            raise TypeError(f"{name}() takes {len(names)} options, not {len(args)}")
        options = dict(zip(names, args))
        for key, value in kwargs.items():
            if key not in names:
                raise TypeError(f"{name}() has no option '{key}'")
            if key in options:
                raise TypeError(f"{name}() got option '{key}' twice")
            options[key] = value
        defaults = {option["name"]: option["default"] for option in row["options"]}
        options = {key: value for key, value in options.items() if value is not None or defaults[key] is None}
        return make(name, options)

    parameters = [inspect.Parameter(option["name"], inspect.Parameter.POSITIONAL_OR_KEYWORD, default=option["default"])
                  for option in row["options"] if option["name"].isidentifier()]
    construct.__signature__ = inspect.Signature(parameters, return_annotation=Pass)
    construct.__name__ = construct.__qualname__ = name.rsplit(".", 1)[-1]
    lines = [row["summary"][:1].upper() + row["summary"][1:] + "."]
    lines += [f"{option['name']}: {option['summary']}" for option in row["options"]]
    construct.__doc__ = "\n\n".join(lines)
    return construct


# ---- Passes of Python


def _python_pass(kind, cls, function, name, opt_level, required, traceable):
    from . import IRModule

    if kind == "module":

        def run(module):
            result = function(IRModule(_module=module), PassContext.current())
            if not isinstance(result, IRModule):
                raise TypeError(f"the pass '{name}' returned {type(result).__name__} instead of a module")
            return result._module

    else:

        def run(part, module):
            return function(part, IRModule(_module=module), PassContext.current())

    handle = native.python_pass(kind, run, name, opt_level, required, traceable)
    result = cls.__new__(cls)
    Pass.__init__(result, handle)
    return result


def python_pass(kind, function, name, opt_level=0, required=None):
    """A pass of a kind whose work a function does, with the context as its last argument."""
    cls = {"function": FunctionPass, "prim_func": PrimFuncPass, "dataflow_block": DataflowBlockPass}.get(kind, ModulePass)
    return _python_pass(kind, cls, function, name, opt_level, _names(required, "required"), False)


def _decorator(kind, cls, method):
    def decorate(pass_func=None, opt_level=None, name=None, required=None, traceable=False):
        if opt_level is None:
            raise ValueError("please provide opt_level for the pass")
        required = _names(required, "required")

        def create(function):
            fname = name or function.__name__
            if isinstance(function, type):
                return _pass_class(kind, cls, method, function, fname, opt_level, required, traceable)
            if not callable(function):
                raise TypeError("pass_func must be a callable")
            return _python_pass(kind, cls, function, fname, opt_level, required, traceable)

        return create(pass_func) if pass_func is not None else create

    decorate.__name__ = f"{kind}_pass"
    decorate.__doc__ = f"""Makes a {kind.replace("_", " ")} pass of a function, or of a class with the method {method}.

    It is called directly, or as a decorator: @{kind}_pass(opt_level=1, name=..., required=[...])."""
    return decorate


def _pass_class(kind, base, method, cls, name, opt_level, required, traceable):
    class PyPass(base):  # pylint: disable=missing-class-docstring
        def __init__(self, *args, **kwargs):
            instance = cls(*args, **kwargs)
            self._instance = instance

            def call(part, *rest):
                return getattr(instance, method)(part, *rest)

            Pass.__init__(self, _python_pass(kind, base, call, name, opt_level, required, traceable)._handle)

        def __getattr__(self, attribute):
            if attribute in ("_instance", "_handle"):
                raise AttributeError(attribute)
            return getattr(self._instance, attribute)

    functools.update_wrapper(PyPass.__init__, cls.__init__)
    PyPass.__name__, PyPass.__doc__, PyPass.__module__ = cls.__name__, cls.__doc__, cls.__module__
    return PyPass


module_pass = _decorator("module", ModulePass, "transform_module")
function_pass = _decorator("function", FunctionPass, "transform_function")
dataflowblock_pass = _decorator("dataflow_block", DataflowBlockPass, "transform_dataflowblock")
prim_func_pass = _decorator("prim_func", PrimFuncPass, "transform_function")


def PrintIR(header="", show_meta_data=False):
    """A pass that prints the module to the standard error output."""
    del show_meta_data
    return make("PrintIR", {"header": header})


def ApplyPassToFunction(transform, func_name_regex, error_if_no_function_matches_regex=False):
    """A pass that applies another one to the functions whose names match. It sees the others as external functions, and those
    that match as functions that others may call: private ones are not removed."""
    import re

    def run(mod, ctx):
        from .. import relax
        from . import IRModule

        del ctx
        pattern = re.compile(func_name_regex)
        matching = [name for name in mod.keys() if pattern.search(name.name)]
        if not matching and error_if_no_function_matches_regex:
            raise Error(f"no function matches '{func_name_regex}'")
        private = {name for name in matching if not (mod[name].attrs and "global_symbol" in mod[name].attrs)}

        def shown(name, func):
            if name not in matching:
                return relax.ExternFunc(name.name, func.struct_info)
            return func.with_attr("global_symbol", name.name) if name in private else func

        part = IRModule({name: shown(name, func) for name, func in mod.items()}, attrs=mod.attrs, global_infos=mod.global_infos)
        done = transform(part)
        result = mod.copy()
        for name in matching:
            if name not in done:
                del result[name]
        for name, func in done.items():
            if name in matching or name not in mod:
                result[name] = func.without_attr("global_symbol") if name in private else func
        return result

    return module_pass(run, opt_level=0, name="ApplyPassToFunction")


def __getattr__(name):
    return constructor(name, (name,))


__all__ = ["ApplyPassToFunction", "DataflowBlockPass", "FunctionPass", "ModulePass", "Pass", "PassContext", "PassInfo",
           "Pipeline", "PrimFuncPass", "PrintIR", "Sequential", "config_table", "dataflowblock_pass", "function_pass",
           "make", "module_pass", "prim_func_pass", "table"]

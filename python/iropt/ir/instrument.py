"""Instruments, which watch the passes of a context."""
import functools
import html
import sys

from .._core import native

_HOOKS = ("enter_pass_ctx", "exit_pass_ctx", "should_run", "run_before_pass", "run_after_pass")


class PassInstrument:
    """The base of instruments; hooks that are not overridden do nothing."""

    def enter_pass_ctx(self):
        """The context is entered."""

    def exit_pass_ctx(self):
        """The context is left."""

    def should_run(self, mod, info):
        """Returns whether a pass may run."""
        return True

    def run_before_pass(self, mod, info):
        """A pass is about to run."""

    def run_after_pass(self, mod, info):
        """A pass has run."""

    def _instrument_(self):
        made = self.__dict__.get("_made_")
        if made is None:
            made = native.PythonInstrument(type(self).__name__, _Hooks(self))
            self.__dict__["_made_"] = made
        return made


class _Hooks:
    """The instrument that the library calls, which passes modules and names of Python to the hooks that are defined."""

    def __init__(self, instrument):
        base = PassInstrument
        cls = type(instrument)

        def has(hook):
            return getattr(cls, hook, None) is not getattr(base, hook) and hasattr(instrument, hook)

        for hook in _HOOKS[:2]:
            if has(hook):
                setattr(self, hook, getattr(instrument, hook))
        for hook in _HOOKS[2:]:
            if has(hook):
                setattr(self, hook, _with_module(getattr(instrument, hook)))


def _with_module(hook):
    from . import IRModule

    def call(module, info):
        return hook(IRModule(_module=module), info)

    return call


def pass_instrument(pi_cls=None):
    """Makes an instrument of a class with some of the hooks."""

    def wrap(cls):
        if not isinstance(cls, type):
            raise TypeError("pi_cls must be a class")

        class Instrument(PassInstrument):  # pylint: disable=missing-class-docstring
            def __init__(self, *args, **kwargs):
                self._inst = cls(*args, **kwargs)
                for hook in _HOOKS:
                    if hasattr(cls, hook):
                        self.__dict__["_has_" + hook] = True

            def __getattr__(self, name):
                if name in ("_inst", "__dict__"):
                    raise AttributeError(name)
                return getattr(self._inst, name)

            def _instrument_(self):
                made = self.__dict__.get("_made_")
                if made is None:
                    made = native.PythonInstrument(cls.__name__, _InstanceHooks(self._inst))
                    self.__dict__["_made_"] = made
                return made

        for hook in _HOOKS:
            if hasattr(cls, hook):
                setattr(Instrument, hook, _forward(hook))
        functools.update_wrapper(Instrument.__init__, cls.__init__)
        Instrument.__name__ = cls.__name__
        Instrument.__doc__ = cls.__doc__
        Instrument.__module__ = cls.__module__
        return Instrument

    return wrap(pi_cls) if pi_cls is not None else wrap


def _forward(hook):
    def call(self, *args):
        return getattr(self._inst, hook)(*args)

    call.__name__ = hook
    return call


class _InstanceHooks:
    """The hooks of an object that need not derive from PassInstrument."""

    def __init__(self, instance):
        for hook in _HOOKS[:2]:
            if hasattr(instance, hook):
                setattr(self, hook, getattr(instance, hook))
        for hook in _HOOKS[2:]:
            if hasattr(instance, hook):
                setattr(self, hook, _with_module(getattr(instance, hook)))


class PassTimingInstrument(PassInstrument):
    """Measures passes; render() gives the table."""

    def __init__(self):
        self._timing = native.TimingInstrument()

    def _instrument_(self):
        return self._timing

    def render(self=None):
        """The table of times; called on the class, that of the current context."""
        if self is None:
            from .transform import PassContext

            for instrument in PassContext.current().instruments:
                if isinstance(instrument, PassTimingInstrument):
                    return instrument.render()
            return ""
        return self._timing.render()


class Report(PassInstrument):
    """Records the passes: a page with the time, the effect and the difference of each, which a notebook shows."""

    def __init__(self):
        self._report = native.Report()

    def _instrument_(self):
        return self._report

    def html(self):
        """The page that `ir-opt -report=FILE.html` writes."""
        return self._report.html()

    def write(self, path):
        """Writes the page to a file."""
        with open(path, "w", encoding="utf8") as file:
            file.write(self.html())

    def _repr_html_(self):
        # The page has a style and a program of its own.
        return ('<iframe sandbox="allow-scripts" style="width: 100%; height: 40em; border: 0" '
                f'srcdoc="{html.escape(self.html())}"></iframe>')


class _Printer(PassInstrument):
    def _print(self, when, mod, info):
        required = ", ".join(info.required)
        print(f"{when} Running Pass: The meta data of the pass - pass name: {info.name}, opt_level: {info.opt_level}, "
              f"required passes: [{required}]")
        print(mod)


class PrintBeforeAll(_Printer):
    """Prints the module before every pass."""

    def run_before_pass(self, mod, info):
        self._print("Before", mod, info)


class PrintAfterAll(_Printer):
    """Prints the module after every pass."""

    def run_after_pass(self, mod, info):
        self._print("After", mod, info)


class ProgressBar(PassInstrument):
    """Shows on a terminal how many passes have run, and which one runs: ProgressBar(pipeline.num_passes).

    Without a total, it shows their number. `file` is where it is written, by default the standard error output if that is a
    terminal.
    """

    def __init__(self, total=None, width=30, file=None):
        self.total, self.width, self.count = total, width, 0
        self._file = file if file is not None else sys.stderr if sys.stderr.isatty() else None
        self._shown = 0

    def run_before_pass(self, mod, info):
        if not info.is_composite:
            self._show(info.name)

    def run_after_pass(self, mod, info):
        if not info.is_composite:
            self.count += 1

    def exit_pass_ctx(self):
        self._show("")
        if self._file is not None:
            self._file.write("\n")

    def _show(self, name):
        if self._file is None:
            return
        if self.total:
            done = min(self.count, self.total)
            full = self.width * done // self.total
            text = f"[{'#' * full}{'.' * (self.width - full)}] {done}/{self.total} {name}"
        else:
            text = f"{self.count} passes {name}"
        self._file.write(f"\r{text.rstrip():{self._shown}}")
        self._file.flush()
        self._shown = len(text)


class Trace(PassInstrument):
    """Calls a function of (module, info, is_before) before and after each pass."""

    def __init__(self, trace):
        self._trace = trace

    def run_before_pass(self, mod, info):
        self._trace(mod, info, True)

    def run_after_pass(self, mod, info):
        self._trace(mod, info, False)


class DumpIR(PassInstrument):
    """Writes the module after every pass into a folder."""

    def __init__(self, dump_dir, refresh=False):
        import pathlib
        import shutil

        self.dump_dir = pathlib.Path(dump_dir)
        self.counter = 0
        if refresh and self.dump_dir.is_dir():
            shutil.rmtree(self.dump_dir)

    def run_after_pass(self, mod, info):
        self.dump_dir.mkdir(parents=True, exist_ok=True)
        name = info.name.replace(".", "_").replace(" ", "_").replace("/", "_")
        (self.dump_dir / f"{self.counter:03d}_{name}.py").write_text(mod.script(), encoding="utf8")
        self.counter += 1


class PrintChanged(PassInstrument):
    """Prints the difference that each pass makes."""

    def __init__(self):
        self._before = []

    def run_before_pass(self, mod, info):
        self._before.append(mod.script())

    def run_after_pass(self, mod, info):
        import difflib

        lines = (text.splitlines() for text in (self._before.pop(), mod.script()))
        difference = list(difflib.unified_diff(*lines, "before", "after", lineterm=""))
        if difference:
            print(f"# After {info.name}")
            print("\n".join(difference))


class VerifyEach(PassInstrument):
    """Fails where a pass makes a module that is not well-formed."""

    def run_after_pass(self, mod, info):
        problems = mod._module.verify()
        if problems:
            raise native.Error(f"the module is not well-formed after pass '{info.name}'\n{problems}")


class WellFormedInstrument(PassInstrument):
    """Fails where a module is not well-formed before or after a pass.

    check_struct_info: check types, too
    validate_before_transform: also check what passes are given
    """

    def __init__(self, check_struct_info=True, validate_before_transform=True):
        self.skip_pass_name = ["Normalize", "NormalizeGlobalVar", "ResolveGlobals"]
        self.check_struct_info, self.validate_before_transform = check_struct_info, validate_before_transform

    def run_before_pass(self, mod, info):
        if self.validate_before_transform:
            self._check(mod, info, "before")

    def run_after_pass(self, mod, info):
        self._check(mod, info, "after")

    def _check(self, mod, info, when):
        problems = mod._module.verify() if info.name not in self.skip_pass_name else ""
        if problems:
            raise AssertionError(f"the module is not well-formed {when} pass '{info.name}'\n{problems}")


class CheckSemantics(PassInstrument):
    """Fails where a pass changes what a public function computes."""

    def __init__(self, **options):
        self._options = options
        self._before = []

    def run_before_pass(self, mod, info):
        self._before.append(mod.copy())

    def run_after_pass(self, mod, info):
        from ..running import check_semantics

        check_semantics(self._before.pop(), mod, **self._options)


class OptBisect(PassInstrument):
    """Numbers the passes, and skips those after a limit; a negative limit skips none."""

    def __init__(self, limit=-1):
        self.limit, self.count = limit, 0

    def should_run(self, mod, info):
        self.count += 1
        runs = self.limit < 0 or self.count <= self.limit
        print(f"BISECT: {'' if runs else 'NOT '}running pass ({self.count}) {info.name}", file=sys.stderr)
        return runs


_BUILT_IN = {"check-semantics": CheckSemantics, "opt-bisect": OptBisect, "print-after": PrintAfterAll,
             "print-before": PrintBeforeAll, "print-changed": PrintChanged, "progress": ProgressBar,
             "report-page": Report, "timing": PassTimingInstrument, "verify-each": VerifyEach}


def make(name, **options):
    """An instrument by its name on the command line, or one of a plugin."""
    return _BUILT_IN[name](**options) if name in _BUILT_IN else _Named(name, options)


class _Named(PassInstrument):
    def __init__(self, name, options):
        self._made = native.make_instrument(name, options)

    def _instrument_(self):
        return self._made

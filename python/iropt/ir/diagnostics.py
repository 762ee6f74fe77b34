"""Errors of scripts as data: a function of the program may get them."""
import enum
import re

from .base import SourceName, Span


class DiagnosticLevel(enum.IntEnum):
    """How bad it is."""

    BUG = 10
    ERROR = 20
    WARNING = 30
    NOTE = 40
    HELP = 50


class Diagnostic:
    """A message about a place in a source."""

    def __init__(self, level, span, message):
        self.level, self.span, self.message = level, span, message


class DiagnosticRenderer:
    """Shows the diagnostics of a context with a function."""

    def __init__(self, render_func):
        self._render = render_func

    def render(self, ctx):
        """Shows the diagnostics."""
        self._render(ctx)


class DiagnosticContext:
    """Diagnostics that are collected, and shown together."""

    def __init__(self, ir_mod, renderer):
        self.module, self.renderer, self.diagnostics = ir_mod, renderer, []

    def emit(self, diagnostic):
        """Adds a diagnostic."""
        self.diagnostics.append(diagnostic)

    def render(self):
        """Shows the diagnostics; raises DiagnosticError if one is an error."""
        from .base import DiagnosticError

        if self.renderer is not None:
            self.renderer.render(self)
        errors = [item for item in self.diagnostics if item.level <= DiagnosticLevel.ERROR]
        if errors:
            raise DiagnosticError(errors[0].message)


_renderer = None


def override_renderer(render_func):
    """Lets a function get the contexts of errors in scripts from now on; with None they are only raised."""
    global _renderer  # pylint: disable=global-statement
    _renderer = None if render_func is None else DiagnosticRenderer(render_func)


def get_renderer():
    """What shows diagnostics, or None."""
    return _renderer


def report(error):
    """Shows an error of the reader of scripts, which names its place."""
    if _renderer is None:
        return
    context = DiagnosticContext(None, _renderer)
    found = re.search(r"(?m)^(.*):(\d+):(\d+): error: (.*)$", str(error))
    if found:
        line, column = int(found[2]), int(found[3])
        context.emit(Diagnostic(DiagnosticLevel.ERROR, Span(SourceName(found[1]), line, line, column, column), found[4]))
    else:
        context.emit(Diagnostic(DiagnosticLevel.ERROR, Span(SourceName("")), str(error)))
    _renderer.render(context)

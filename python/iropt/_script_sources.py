"""The source of decorated functions and classes, and the names that it sees."""
import inspect
import linecache
import sys
import textwrap


def _block(lines, start):
    """The lines of the definition that begins, with its decorators, at an index."""
    return inspect.getblock(lines[start:])


def source_of_function(function):
    code = function.__code__
    lines = linecache.getlines(code.co_filename)
    start = code.co_firstlineno - 1
    if not lines:
        source, start = inspect.getsourcelines(function)
        return textwrap.dedent("".join(source)), code.co_filename, max(start, 1)
    return textwrap.dedent("".join(_block(lines, start))), code.co_filename, start + 1


def source_of_class(cls, frame):
    """The source of a class that is decorated in the frame."""
    lines = linecache.getlines(frame.f_code.co_filename)
    start = frame.f_lineno - 1
    if lines:
        # The line is that of the decorator, or of the class, as versions of Python differ.
        while start > 0 and lines[start - 1].lstrip().startswith("@"):
            start -= 1
        block = _block(lines, start)
        if any(line.lstrip().startswith(f"class {cls.__name__}") for line in block):
            return textwrap.dedent("".join(block)), frame.f_code.co_filename, start + 1
    source, first = inspect.getsourcelines(cls)
    return textwrap.dedent("".join(source)), inspect.getsourcefile(cls), first


def in_module_class(frame):
    """Returns whether a frame is the body of a class that will be a module."""
    if "__module__" not in frame.f_locals or "__qualname__" not in frame.f_locals:
        return False
    lines = linecache.getlines(frame.f_code.co_filename)
    index = frame.f_code.co_firstlineno - 1
    while index > 0 and index < len(lines) and lines[index - 1].lstrip().startswith("@"):
        index -= 1
    while index < len(lines):
        line = lines[index].lstrip()
        if line.startswith("@") and ("ir_module" in line or "rewriter" in line):
            return True
        if line.startswith("class "):
            return False
        index += 1
    return False


def environment(frame, function=None):
    """The names that code in a frame sees."""
    env = dict(frame.f_globals)
    outer = []
    current = frame
    while current is not None and current.f_globals is frame.f_globals:
        outer.append(current.f_locals)
        current = current.f_back
    for names in reversed(outer):
        env.update(names)
    if function is not None:
        closure = inspect.getclosurevars(function)
        env.update(closure.globals)
        env.update(closure.nonlocals)
    return env


def caller(depth=1):
    return sys._getframe(depth + 1)  # pylint: disable=protected-access

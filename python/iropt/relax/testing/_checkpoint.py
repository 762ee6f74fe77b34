"""Marks of what the pass Gradient computes again instead of keeping it."""
from .. import op
from ..block_builder import BlockBuilder
from ..expr import Expr, Var


def _start(value, emit):
    if not isinstance(value, Var if emit else Expr):
        return value
    marked = op.grad.start_checkpoint(value)
    return BlockBuilder.current().emit(marked, value.name_hint + "_scp") if emit else marked


def _end(value, emit):
    if not isinstance(value, Expr):
        return value
    if not emit:
        return op.grad.end_checkpoint(value)
    bb = BlockBuilder.current()
    value = value if isinstance(value, Var) else bb.emit(value)
    return bb.emit(op.grad.end_checkpoint(value), value.name_hint + "_ecp")


def _between(func, args, kwargs, emit):
    result = func(*(_start(arg, emit) for arg in args), **{name: _start(arg, emit) for name, arg in kwargs.items()})
    if isinstance(result, (list, tuple)):
        return [_end(item, emit) for item in result]
    return _end(result, emit)


def checkpoint(func, *args, **kwargs):
    """The result of a function that is computed again for gradients, from arguments that are kept."""
    return _between(func, args, kwargs, False)


def emit_checkpoint(func, *args, **kwargs):
    """The result of a function as checkpoint gives it, with the marks bound in the current block builder."""
    return _between(func, args, kwargs, True)


def emit_checkpoint_sequential(functions, segments, input, checkpoint_last=False):
    """Applies functions one after another, in segments that are each computed again for gradients.

    segments: the number of segments, or where each begins
    """
    starts = segments if isinstance(segments, list) else list(range(0, len(functions), len(functions) // segments))
    ends = starts[1:] + [len(functions)]
    value = input
    for begin, end in zip(starts, ends):

        def run(current, begin=begin, end=end):
            for function in functions[begin:end]:
                current = function(current)
            return current

        is_last = end == len(functions)
        value = run(value) if is_last and not checkpoint_last else emit_checkpoint(run, value)
    return value if isinstance(value, Var) else BlockBuilder.current().emit(value)

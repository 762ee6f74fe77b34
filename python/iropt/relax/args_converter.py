"""Decorators that make expressions of the arguments of a function."""
import functools
import inspect
import typing

from .._core import native
from .expr import Expr


def _to_expr(value):
    """The expression of a value of Python; None stays."""
    if value is None or isinstance(value, Expr):
        return value
    return native.to_expr(tuple(value) if isinstance(value, list) else value)


def _to_list(value):
    """A list of expressions; None stays."""
    if value is None:
        return None
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"expected a list of expressions, not {type(value).__name__}")
    return [_to_expr(item) for item in value]


class _ArgsConverter:
    """Decorators by what arguments become: `to_expr("x")`, `to_list_expr("xs")`, or `auto` by the annotations."""

    @staticmethod
    def convert(args_to_expr, args_to_list_expr):
        """A decorator for functions whose parameters of these names become expressions, or lists of them."""
        conversions = {**dict.fromkeys(args_to_list_expr, _to_list), **dict.fromkeys(args_to_expr, _to_expr)}

        def decorate(func):
            signature = inspect.signature(func)

            @functools.wraps(func)
            def converted(*args, **kwargs):
                bound = signature.bind(*args, **kwargs)
                for name, value in bound.arguments.items():
                    if name in conversions:
                        bound.arguments[name] = _converted(signature.parameters[name], value, conversions[name])
                return func(*bound.args, **bound.kwargs)

            return converted

        return decorate

    @staticmethod
    def to_expr(*arg_names):
        return _ArgsConverter.convert(arg_names, [])

    @staticmethod
    def to_list_expr(*arg_names):
        return _ArgsConverter.convert([], arg_names)

    @staticmethod
    def auto(func):
        """Converts the parameters that are annotated with Expr or List[Expr], or an Optional of these."""
        exprs, lists = [], []
        for name, param in inspect.signature(func).parameters.items():
            if param.annotation in (Expr, typing.Optional[Expr]):
                exprs.append(name)
            elif param.annotation in (typing.List[Expr], typing.Optional[typing.List[Expr]]):
                lists.append(name)
        return _ArgsConverter.convert(exprs, lists)(func)


def _converted(param, value, convert):
    """A converted argument; of *args and **kwargs each one."""
    if param.kind is param.VAR_POSITIONAL:
        return tuple(convert(item) for item in value)
    if param.kind is param.VAR_KEYWORD:
        return {name: convert(item) for name, item in value.items()}
    return convert(value)


args_converter = _ArgsConverter()

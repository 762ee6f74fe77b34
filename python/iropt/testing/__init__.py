"""Tools for tests of passes."""
import functools
import inspect
import textwrap

from .. import arith as _arith
from .. import ir as _ir
from .. import tir as _tir
from ..ir import assert_structural_equal
from ..ir.transform import Pass


def main():
    """Runs the tests of the file that calls it."""
    import sys

    import pytest

    from .. import _script

    test_file = inspect.getsourcefile(_script.caller())
    sys.exit(pytest.main([test_file] + sys.argv[1:]))


def assert_allclose(actual, desired, rtol=1e-7, atol=1e-7, verbose=True):
    """Raises AssertionError unless two arrays are close to each other."""
    import numpy

    numpy.testing.assert_allclose(numpy.asarray(actual), numpy.asarray(desired), rtol=rtol, atol=atol, verbose=verbose)


def assert_prim_expr_equal(lhs, rhs):
    """Raises ValueError unless two expressions simplify to equal ones."""
    if not _ir.structural_equal(_arith.Analyzer().simplify(lhs), _arith.Analyzer().simplify(rhs)):
        raise ValueError(f"{lhs} and {rhs} are not equal")


# ---- Parameters of tests


def parameter(*values, ids=None, by_dict=None):
    """A fixture with several values."""
    import pytest

    if by_dict is not None:
        ids, values = list(by_dict.keys()), list(by_dict.values())

    @pytest.fixture(params=values, ids=ids)
    def as_fixture(*_self, request):
        return request.param

    return as_fixture


_groups = 0


def parameters(*value_sets, ids=None):
    """Several fixtures whose values belong together."""
    import pytest

    global _groups  # pylint: disable=global-statement
    group, _groups = _groups, _groups + 1
    result = []
    for position, values in enumerate(zip(*value_sets)):

        def fixture(*_self, request):
            return request.param

        fixture.parametrize_group = group
        fixture.parametrize_values = values
        fixture.parametrize_ids = ids
        fixture.parametrize_position = position
        made = pytest.fixture(fixture)
        made.parametrize_group = group
        made.parametrize_values = values
        made.parametrize_ids = ids
        result.append(made)
    return tuple(result)


def fixture(func=None, *, cache_return_value=False):
    """A fixture."""
    import pytest

    del cache_return_value
    return pytest.fixture(func) if func is not None else pytest.fixture


def _skip(what):
    def requires(*args, **_):
        import pytest

        mark = pytest.mark.skip(reason=f"{what} is not a part of iropt")
        return mark(args[0]) if args and callable(args[0]) else mark

    requires.marks = lambda: [requires()]
    return requires


def uses_gpu(*args):
    """Marks tests that use a device if there is one."""
    return args[0] if args else uses_gpu


def enabled_targets():
    """The targets that code is run for: none."""
    return []


def device_enabled(target):
    del target
    return False


def parametrize_targets(*targets):
    import pytest

    del targets
    mark = pytest.mark.skip(reason="code generators are not a part of iropt")
    return mark


class CompareBeforeAfter:
    """A test of a pass: `before`, `transform` and `expected`, which is a function, a module or an exception."""

    check_well_formed = True

    def __init_subclass__(cls):
        for name in ("before", "Before"):
            if hasattr(cls, name):
                cls.before = cls._normalize(getattr(cls, name))
                break
        for name in ("expected", "Expected"):
            if hasattr(cls, name):
                value = getattr(cls, name)
                exception = inspect.isclass(value) and issubclass(value, Exception)
                cls.expected = cls._constant(value) if exception else cls._normalize(value)
                break
        if hasattr(cls, "transform"):
            cls.transform = cls._normalize_transform(cls.transform)

    @staticmethod
    def _constant(value):
        import pytest

        def inner(self):
            del self
            return value

        return pytest.fixture(inner)

    @classmethod
    def _normalize(cls, func):
        import pytest

        if hasattr(func, "_pytestfixturefunction"):
            return func
        if isinstance(func, (_tir.PrimFunc, _ir.IRModule)):
            return cls._constant(func)
        if cls._is_method(func):
            return pytest.fixture(_renamed(func))
        if inspect.isclass(func):

            def inner(self):
                del self
                functions = {}
                for name, method in func.__dict__.items():
                    if name.startswith("_"):
                        continue
                    if not isinstance(method, _ir.BaseFunc):
                        method = _read(method)
                    functions[name] = method.with_attr("global_symbol", name)
                return _ir.IRModule(functions)

        else:

            def inner(self):
                del self
                return _read(func)

        return pytest.fixture(inner)

    @classmethod
    def _normalize_transform(cls, transform):
        import pytest

        def apply(module_transform):
            def run(obj):
                if isinstance(obj, _ir.IRModule):
                    return module_transform(obj)
                return module_transform(_ir.IRModule({"main": obj}))["main"]

            return run

        if hasattr(transform, "_pytestfixturefunction"):
            if not hasattr(cls, "_transform_orig"):
                cls._transform_orig = transform

            def of_fixture(self, _transform_orig):
                del self
                return apply(_transform_orig)

            return pytest.fixture(of_fixture)

        if isinstance(transform, Pass):

            def of_pass(self):
                del self
                return apply(transform)

            return pytest.fixture(of_pass)

        if cls._is_method(transform):

            def of_method(self):
                return apply(transform(self))

            return pytest.fixture(of_method)
        raise TypeError("Expected transform to be a pass, or a method that returns one")

    @staticmethod
    def _is_method(func):
        return callable(func) and "self" in inspect.signature(func).parameters

    def test_compare(self, before, expected, transform):
        """Compares the result of the pass."""
        import pytest

        if inspect.isclass(expected) and issubclass(expected, Exception):
            with pytest.raises(expected):
                transform(before)
            return
        after = transform(before)
        if isinstance(after, _tir.PrimFunc):
            after = after.with_attr("global_symbol", "main")
            expected = expected.with_attr("global_symbol", "main")
        assert_structural_equal(after, expected)


def _renamed(func):
    @functools.wraps(func)
    def inner(self):
        return func(self)

    return inner


def _read(function):
    from .. import script

    return script.from_source("@T.prim_func\n" + textwrap.dedent(inspect.getsource(function)))


def __getattr__(name):
    if name in ("check_bool_expr_is_true", "check_int_constraints_trans_consistency"):
        from . import constraints

        return getattr(constraints, name)
    if name.startswith("requires_"):
        return _skip(name[len("requires_"):])
    raise AttributeError(name)

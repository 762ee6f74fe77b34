"""Registered functions by their names."""
from .._core import require


class EnvFunc:
    """A registered function, which is found by its name when it is called."""

    def __init__(self, name):
        require(name=name)
        self.name = name

    @staticmethod
    def get(name):
        """The function of a name; ValueError if none is registered."""
        from ..packed import get_global_func

        get_global_func(name)
        return EnvFunc(name)

    @property
    def func(self):
        """The function."""
        from ..packed import get_global_func

        return get_global_func(self.name)

    def __call__(self, *args):
        return self.func(*args)

    def __eq__(self, other):
        return isinstance(other, EnvFunc) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

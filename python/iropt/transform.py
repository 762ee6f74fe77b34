"""Passes of any level, and the context that they run in."""
from .ir import transform as _transform
from .ir.transform import *  # noqa: F401,F403


def __getattr__(name):
    return _transform.constructor(name, (name, "tir." + name))

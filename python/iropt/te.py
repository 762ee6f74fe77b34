"""Variables as tensor expressions name them. Tensor expressions themselves do not exist here."""
from . import tir
from .tir import *  # noqa: F401,F403


def var(name="tindex", dtype="int32", span=None):
    del span
    return tir.Var(name, dtype)


def size_var(name="size", dtype="int32", span=None):
    del span
    return tir.SizeVar(name, dtype)


def thread_axis(dom=None, tag="", name="", span=None):
    """The axis of a thread."""
    del span
    if isinstance(dom, str):
        dom, tag = None, dom
    if not tag:
        raise ValueError("tag must be given as Positional or keyword argument")
    name = name or tag
    if isinstance(dom, (int, tir.PrimExpr)):
        dom = (0, dom)
    return tir.IterVar(tuple(dom) if isinstance(dom, list) else dom, tir.Var(name, "int32"), tir.IterVar.ThreadIndex, tag)


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    return getattr(tir, name)

"""The passes of the loop level, made from the table of passes: `tir.transform.Simplify()`."""
import enum

from ..ir import transform as _transform

prim_func_pass = _transform.prim_func_pass
PrimFuncPass = _transform.PrimFuncPass


def Apply(ftransform):
    """A pass that applies a function to every PrimFunc."""

    def run(func, mod, ctx):
        del mod, ctx
        return ftransform(func)

    return prim_func_pass(run, opt_level=0, name="Apply")


def Filter(fcond):
    """A pass that removes the PrimFuncs for which a condition is false."""

    def run(mod, ctx):
        del ctx
        from . import PrimFunc

        result = mod.copy()
        for name, func in mod.items():
            if isinstance(func, PrimFunc) and not fcond(func):
                del result[name]
        return result

    return _transform.module_pass(run, opt_level=0, name="Filter")


def BindTarget(target):
    """A pass that gives every PrimFunc a target."""
    return _transform.make("tir.BindTarget", {"target": target}, target=target)


def LowerDeviceStorageAccessInfo(memory_info=None):
    """The pass that replaces allocations in special memory.

    memory_info: by scopes, dictionaries; what functions registered as tvm.info.mem.SCOPE return is known without it.
    """
    from .. import packed

    prefix = "tvm.info.mem."
    known = {name[len(prefix):]: packed.get_global_func(name)() for name in packed.list_global_func_names()
             if name.startswith(prefix)}
    return _transform.make("tir.LowerDeviceStorageAccessInfo", {"memory_info": {**known, **(memory_info or {})}})


class HoistedConditionals(enum.IntFlag):
    """The conditionals that tir.HoistExpression hoists; they can be added up."""

    Never, IfElseStmt, IfElseExpr, BooleanExpression, UsingBlockVar, All = 0, 1, 2, 4, 8, 15


class HoistedLetBindings(enum.IntFlag):
    """The bindings that tir.HoistExpression hoists; they can be added up."""

    Never, RequiredByCondition, LetStmt, LetExpr, All = 0, 1, 2, 4, 7


def __getattr__(name):
    return _transform.constructor(name, ("tir." + name, "s_tir." + name, name))


def __dir__():
    return sorted(set(globals()) | {row["name"][4:] for row in _transform.table() if row["name"].startswith("tir.")})

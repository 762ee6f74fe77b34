"""The loop level: scalar expressions, statements, and PrimFuncs."""
from .._core import native
from .buffer import *  # noqa: F401,F403
from .expr import *  # noqa: F401,F403
from .expr import Call, convert, of_texts
from .function import IndexMap, PrimFunc  # noqa: F401
from .op import *  # noqa: F401,F403
from .reducers import *  # noqa: F401,F403
from .stmt import *  # noqa: F401,F403

_script_prefix_ = "T"
# Names of the module schedule, which is imported when it is used.
_SCHEDULES = ("BlockDependenceInfo", "BlockRV", "BlockScope", "ExprRV", "LoopRV", "Schedule", "ScheduleError", "ScheduleState", "StmtSRef", "TensorIntrin", "Trace")


def _ir():
    from .. import ir

    return ir


def __getattr__(name):
    """Intrinsics of the table by their names: `tir.exp(x)`."""
    if name in _SCHEDULES or name == "schedule":
        import importlib

        module = importlib.import_module(".schedule", __name__)
        return module if name == "schedule" else getattr(module, name)
    if name == "build":
        from .. import executable

        return executable.build
    if not name.startswith("_"):
        try:
            op = _ir().Op.get("tir." + name)
        except AttributeError:
            raise AttributeError(f"iropt.tir has no '{name}'") from None

        def intrinsic(*args, dtype=None, span=None):
            del span
            args = [convert(arg) for arg in args]
            dtype = dtype or native.intrinsic_dtype(op.name, args) or (args[0].dtype if args else "int32")
            return Call(dtype, op, args)

        intrinsic.__name__ = name
        return of_texts(intrinsic)
    raise AttributeError(name)


def is_operator(name):
    """Returns whether the table has an operator tir.NAME."""
    try:
        _ir().Op.get("tir." + name)
    except AttributeError:
        return False
    return True


def __dir__():
    operators = {row["name"][4:] for row in native.op_table() if row["name"].startswith("tir.")}
    return sorted(set(globals()) | set(_SCHEDULES) | operators)


from . import analysis, functor, generic, ir_builder, stmt_functor, transform  # noqa: E402,F401
from .data_layout import BijectiveLayout, Layout, bijective_layout, layout  # noqa: E402,F401
from .functor import PyStmtExprMutator, PyStmtExprVisitor  # noqa: E402,F401
from .stmt_functor import renew_defs  # noqa: E402,F401

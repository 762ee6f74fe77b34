"""The passes of the graph level, made from the table of passes: `relax.transform.FoldConstant()`."""
from ..ir import transform as _transform
from ..ir.transform import (DataflowBlockPass, FunctionPass, ModulePass, Pass, PassContext,  # noqa: F401
                            dataflowblock_pass, function_pass, module_pass)


def __getattr__(name):
    return _transform.constructor(name, (name,))


def __dir__():
    return sorted(set(globals()) | {row["name"] for row in _transform.table() if "." not in row["name"]})

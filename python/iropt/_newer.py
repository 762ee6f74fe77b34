"""Names that newer versions of TVM have for what older ones named otherwise. Those of passes are in the table of the library."""
import functools
import sys

# By module of this package: the newer name and the older one.
NAMES = {
    "relax.expr": {
        "Type": "StructInfo", "AnyType": "ObjectStructInfo", "ObjectType": "ObjectStructInfo", "ShapeType": "ShapeStructInfo",
        "TensorType": "TensorStructInfo", "TupleType": "TupleStructInfo", "FuncType": "FuncStructInfo",
        "PrimType": "PrimStructInfo", "DTensorType": "DTensorStructInfo", "prim_value": "PrimValue",
        "_update_type": "_update_struct_info",
    },
    "relax.analysis": {
        "type_base_check": "struct_info_base_check",
        "type_lca": "struct_info_lca",
        "derive_call_ret_type": "derive_call_ret_struct_info",
        "definable_tir_vars_in_type": "definable_tir_vars_in_struct_info",
        "tir_vars_in_type": "tir_vars_in_struct_info",
    },
    "tir.analysis": {
        "get_sblock_access_region": "get_block_access_region", "get_sblock_read_write_region": "get_block_read_write_region",
    },
    "tir.stmt": {"SBlock": "Block", "SBlockRealize": "BlockRealize"},
    "tir.schedule.state": {"SBlockScope": "BlockScope", "SBlockDependenceInfo": "BlockDependenceInfo"},
    "tir.schedule": {"SBlockRV": "BlockRV", "SBlockScope": "BlockScope", "SBlockDependenceInfo": "BlockDependenceInfo"},
}

# Arguments and fields.
KEYWORDS = {"out_ty": "out_sinfo", "ty_args": "sinfo_args", "ret_ty": "ret_struct_info", "ty": "struct_info"}


def version():
    """The version of TVM that the program was written for, as numbers: the oldest one without `tvm`."""
    as_tvm = sys.modules.get("iropt.as_tvm")
    return (0, 18) if as_tvm is None else as_tvm.version()


def add_names(module, names):
    """Adds the newer names of a module to its namespace."""
    for newer, older in NAMES[module].items():
        if older in names and newer not in names:
            names[newer] = names[older]


def keywords(function):
    """A function that takes the newer names of its arguments, too."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(*args, **older(kwargs)) if kwargs else function(*args)

    return call


def older(kwargs):
    """The arguments under their older names."""
    if KEYWORDS.keys().isdisjoint(kwargs):
        return kwargs
    return {KEYWORDS.get(key, key): value for key, value in kwargs.items()}

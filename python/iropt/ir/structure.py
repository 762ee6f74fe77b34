"""Comparison of modules and nodes by structure."""
import copy
import re

from .. import tir
from .._core import Node, native
from .._object_path import ObjectPath
from .base import PrimType
from .module import IRModule


def structural_equal(lhs, rhs, map_free_vars=False):
    """Returns whether two modules, nodes or values are equal but for names of variables and places in the source."""
    return difference(lhs, rhs, map_free_vars) is None


def difference(lhs, rhs, map_free_vars=False):
    """The path to the first difference and both sides of it; None if there is none."""
    lhs, rhs = (side.asobject() if isinstance(side, tir.expr.EqualOp) else side for side in (lhs, rhs))
    if (type(lhs) is PrimType) != (type(rhs) is PrimType):
        lhs, rhs = (side._node_() if type(side) is PrimType else side for side in (lhs, rhs))
    if isinstance(lhs, IRModule) and isinstance(rhs, IRModule):
        found = lhs._module.difference(rhs._module, map_free_vars)
        if found is None or map_free_vars or not _same_free_names(lhs.values(), rhs.values()):
            return found
        return lhs._module.difference(rhs._module, True)
    if isinstance(lhs, Node) and isinstance(rhs, Node):
        if native.structural_equal(lhs, rhs, map_free_vars):
            return None
        # The parameters of the type of a function define its symbolic variables.
        if all(type(side).__name__ == "FuncStructInfo" for side in (lhs, rhs)) and native.func_types_equal(lhs, rhs):
            return None
        found = native.difference(lhs, rhs, map_free_vars) or "the nodes differ"
        if map_free_vars or not _same_free_names([lhs], [rhs]):
            return found
        return native.difference(lhs, rhs, True)
    if isinstance(lhs, (list, tuple)) and isinstance(rhs, (list, tuple)):
        if len(lhs) != len(rhs):
            return f"lists of {len(lhs)} and {len(rhs)} items"
        for index, (a, b) in enumerate(zip(lhs, rhs)):
            found = difference(a, b, map_free_vars)
            if found is not None:
                return f"[{index}].{found}"
        return None
    if isinstance(lhs, dict) and isinstance(rhs, dict):
        if set(lhs) != set(rhs):
            return f"dictionaries with the keys {', '.join(map(str, lhs))} and {', '.join(map(str, rhs))}"
        return difference([lhs[key] for key in lhs], [rhs[key] for key in lhs], map_free_vars)
    if isinstance(lhs, native.NDArray) and isinstance(rhs, native.NDArray):
        same = lhs.dtype == rhs.dtype and tuple(lhs.shape) == tuple(rhs.shape) and lhs.numpy().tobytes() == rhs.numpy().tobytes()
        return None if same else "the tensors differ"
    if isinstance(lhs, Node) or isinstance(rhs, Node):
        if isinstance(lhs, (int, float, tir.PrimExpr)) and isinstance(rhs, (int, float, tir.PrimExpr)):
            return difference(tir.convert(lhs), tir.convert(rhs), map_free_vars)
    fields = getattr(type(lhs), "_structure_", ())
    if fields and type(lhs) is type(rhs):
        return difference([getattr(lhs, name) for name in fields], [getattr(rhs, name) for name in fields], map_free_vars)
    return None if type(lhs) is type(rhs) and lhs == rhs else f"{lhs!r}, {rhs!r}"


def get_first_structural_mismatch(lhs, rhs, map_free_vars=False, skip_ndarray_content=False):
    """The paths of the first difference in both; None if there is none.

    Where one has more items, the path in the other is that of a missing one.
    """
    del skip_ndarray_content
    found = difference(lhs, rhs, map_free_vars)
    if found is None:
        return None
    match = re.match(r"([\w.\[\]]+): (.*)", found, re.DOTALL)
    place, what = match.groups() if match else ("", found)
    path, sides = ObjectPath.root(), [lhs, rhs]
    for name, index in re.findall(r"\.?([A-Za-z_]\w*)|\[(\d+)\]", place):
        path, sides = _step(path, sides, name or int(index))
    lengths = re.fullmatch(r"(\d+) items, (\d+) items", what)
    if lengths is None:
        return path, path
    counts = [int(count) for count in lengths.groups()]
    for index in range(min(counts)):
        inner = None if isinstance(sides[0], dict) else get_first_structural_mismatch(
            sides[0][index], sides[1][index], map_free_vars)
        # Whether variables are the same depends on what is around.
        if inner is not None and "variable" not in difference(sides[0][index], sides[1][index], map_free_vars):
            return tuple(_joined(path.array_index(index), part) for part in inner)
    longer = sides[counts[1] > counts[0]]
    if isinstance(longer, dict):
        there, missing = path.map_value(list(longer)[min(counts)]), path.missing_map_entry()
    else:
        there, missing = path.array_index(min(counts)), path.missing_array_element(min(counts))
    return (there, missing) if counts[0] > counts[1] else (missing, there)


def _step(path, sides, step):
    """The path and both values after one more step of the path of a difference."""
    if isinstance(step, int):
        if isinstance(sides[0], dict):
            key = list(sides[0])[step]
            return path.map_value(key), [list(side.values())[step] for side in sides]
        return path.array_index(step), [side[step] for side in sides]
    if isinstance(sides[0], IRModule) and step == "functions":
        return path.attr(step), [dict(side.items()) for side in sides]
    if isinstance(sides[0], dict):
        key = next(key for key in sides[0] if getattr(key, "name_hint", key) == step)
        return path.map_value(key), [next(value for name, value in side.items() if getattr(name, "name_hint", name) == step)
                                     for side in sides]
    if step == "param_buffers":
        return path.attr("buffer_map"), [side.buffer_map for side in sides]
    return path.attr(step), [getattr(side, step, None) for side in sides]


def _joined(path, inner):
    """The path of a part of what a path leads to."""
    if inner.parent is None:
        return path
    step = copy.copy(inner)
    step.parent = _joined(path, inner.parent)
    return step


def _same_free_names(lhs, rhs):
    """Returns whether PrimFuncs use the same names without defining them: variables that several scripts captured."""

    def names(functions):
        return [list(dict.fromkeys(var.name for var in native.free_vars(func))) for func in functions
                if isinstance(func, tir.PrimFunc)]

    found = names(lhs)
    return any(found) and found == names(rhs)


def assert_structural_equal(lhs, rhs, map_free_vars=False):
    """Raises ValueError, with the first difference and both texts, unless both are equal."""
    found = difference(lhs, rhs, map_free_vars)
    if found is not None:
        raise ValueError(f"not structurally equal at {_path_text(lhs, rhs, map_free_vars)}{found}\n\nleft:\n{lhs}\n\nright:\n{rhs}")


def _path_text(lhs, rhs, map_free_vars):
    """The path to the first difference as TVM shows it, or nothing where it leads through what Python does not have."""
    try:
        return f"{get_first_structural_mismatch(lhs, rhs, map_free_vars)[0]}: "
    except (AttributeError, IndexError, KeyError, StopIteration, TypeError):
        return ""


def structural_hash(value, map_free_vars=False):
    """A number that is the same for values that are equal by structure."""
    if isinstance(value, IRModule):
        return value._module.hash()
    if isinstance(value, Node):
        return native.structural_hash(value, map_free_vars or type(value).__name__ == "FuncStructInfo")
    if isinstance(value, native.NDArray):
        return hash((str(value.dtype), tuple(value.shape), value.numpy().tobytes()))
    if isinstance(value, dict):
        return hash(frozenset((key, structural_hash(item, map_free_vars)) for key, item in value.items()))
    if isinstance(value, (list, tuple)):
        return hash(tuple(structural_hash(item, map_free_vars) for item in value))
    return hash(value)

"""Analyses of the loop level."""
import dataclasses

from .. import _newer
from .._core import native
from ..ir import base as ir_base
from .out_of_bounds import OOBChecker  # noqa: F401


def verify_well_formed(obj, assert_mode=True):
    """Returns whether a PrimFunc or a module is well-formed."""
    from .. import ir

    module = obj if isinstance(obj, ir.IRModule) else ir.IRModule({"main": obj})
    text = module._module.verify()
    if text and assert_mode:
        raise ValueError(text)
    return not text


def get_block_access_region(block, buffer_var_map):
    """The regions that the body of a block reads, those that it writes, and those of which it is unknown.

    Args:
        block: the block.
        buffer_var_map: the buffers that count, by their data variables.
    """
    return ir_base.Array(native.block_access(block, list(dict(buffer_var_map).values()), False))


def get_block_read_write_region(block, buffer_var_map):
    """The regions that the body of a block may read, and those that it may write."""
    return ir_base.Array(native.block_access(block, list(dict(buffer_var_map).values()), True)[:2])


def detect_buffer_access_lca(func):
    """The innermost loop or block around all accesses to each buffer, None if it is the function, by buffer."""
    return dict(native.scopes_of_buffers(func))


@dataclasses.dataclass(frozen=True)
class RaceFinding:
    """What `verify_races` finds.

    Attributes:
        kind: "race", "divergent barrier" (some threads of a block reach it and others do not), or "not decided".
        message: the accesses with their threads, or why nothing is decided.
        at: the access that changes the element, or what the message is about.
        other: the other access, or None.
        other_message: what the other access does.
    """

    kind: str
    message: str
    at: object
    other: object = None
    other_message: str = ""


def verify_races(func, max_values=1 << 20, solver_limit=2_000_000):
    """The races of a kernel and of parallel and vectorized loops, and what is not decided, as a list of `RaceFinding`.

    Args:
        func: the PrimFunc. If it has blocks, barriers are yet to come: they count as if they were between all statements.
        max_values: how many values of variables are tried.
        solver_limit: the work of Z3 for a question, in its units; 0: it is not asked.
    """
    from .function import PrimFunc

    if not isinstance(func, PrimFunc):
        raise TypeError(f"expected a PrimFunc, not {type(func).__name__}")
    return [RaceFinding(*finding) for finding in native.races(func, max_values, solver_limit)]


def expr_deep_equal(lhs, rhs):
    """Returns whether two expressions are equal, with the same variables."""
    return native.structural_equal(lhs, rhs, False)


def undefined_vars(node, defs=None):
    """The variables that are used and not defined."""
    from .. import ir

    known = {native.node_id(var) for var in defs or []}
    return ir.Array(var for var in native.free_vars(node) if native.node_id(var) not in known)


def is_pure_function(func):
    """Returns whether calling a PrimFunc has no effect but its result."""
    return func.type.purity


def assert_pure_function(func):
    """Raises AssertionError unless calling a PrimFunc has no effect but its result; returns True."""
    if not is_pure_function(func):
        raise AssertionError("the function writes buffers of its caller, or calls functions that have effects")
    return True


def verify_ssa(func):
    """Returns whether each variable of a PrimFunc is defined once; expressions may define it again with the same value."""
    from .. import tir

    values = {native.node_id(param): None for param in func.params}
    is_ssa = True

    def visit(node):
        nonlocal is_ssa
        field = _DEFINES.get(type(node).__name__)
        if field is None:
            return
        var = native.node_id(getattr(node, field))
        value = node.value if isinstance(node, tir.Let) else None
        if var in values and (value is None or values[var] is None or not native.structural_equal(value, values[var], False)):
            is_ssa = False
        values[var] = value

    tir.stmt_functor.post_order_visit(func.body, visit)
    return is_ssa


_DEFINES = {"LetStmt": "var", "Let": "var", "For": "loop_var", "Allocate": "buffer_var", "AllocateConst": "buffer_var"}


def _allocated_bytes(node):
    """The size of an allocation; 0 if it is not constant."""
    from .._dtype import DataType
    from .expr import IntImm

    count = 1
    for extent in node.extents:
        count *= extent.value if isinstance(extent, IntImm) else 0
    return count * DataType(node.dtype).itemsize()


def _peak(node, kinds, alignment, peaks, current=0):
    """Adds to `peaks` the most bytes that allocations of some kinds use at a time, by scope."""
    kind = type(node).__name__
    if kind in kinds:
        scope = (node.buffer_var.pointer[1] if node.buffer_var.pointer else "") or "global"
        size = -(-_allocated_bytes(node) // alignment) * alignment
        current = {**(current or {}), scope: (current or {}).get(scope, 0) + size}
        peaks[scope] = max(peaks.get(scope, 0), current[scope])
    for child in native.children(node):
        _peak(child, kinds, alignment, peaks, current)
    return peaks


def calculate_workspace_bytes(func, workspace_byte_alignment):
    """The most bytes that the allocations of a PrimFunc use at a time, each a multiple of the alignment."""
    return sum(_peak(func.body, ("Allocate",), int(workspace_byte_alignment), {}).values())


def calculate_constant_bytes(func, constant_byte_alignment):
    """The most bytes that the constants of a PrimFunc use at a time, each a multiple of the alignment."""
    return sum(_peak(func.body, ("AllocateConst",), int(constant_byte_alignment), {}).values())


def calculate_allocated_bytes(func_or_mod):
    """The most bytes that allocations use at a time by scope, for each function of a module (of a PrimFunc: "main")."""
    from .. import ir
    from .function import PrimFunc

    functions = {name.name_hint: func for name, func in func_or_mod.items()} if isinstance(func_or_mod, ir.IRModule) else \
        {"main": func_or_mod}
    return {name: _peak(func.body, ("Allocate",), 1, {}) for name, func in functions.items() if isinstance(func, PrimFunc)}


_ARITHMETIC = frozenset(("Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max"))
_COMPARISONS = frozenset(("EQ", "NE", "LT", "LE", "GT", "GE", "BufferLoad"))


class _Flops:
    """Counts arithmetic operations by dtype."""

    def __init__(self):
        from ..arith import Analyzer

        self._analyzer = Analyzer()

    def count(self, node):
        """The number of operations of each dtype below a node."""
        from collections import Counter

        kind = type(node).__name__
        if kind in _COMPARISONS:
            return Counter()
        if kind == "BufferStore":
            return self.count(node.value)
        if kind == "BlockRealize":
            return self.count(node.block)
        if kind == "Block":
            return self._sum([*([node.init] if node.init is not None else []), node.body])
        if kind == "For":
            from .buffer import Range

            self._analyzer.bind(node.loop_var, Range.from_min_extent(node.min, node.extent))
            bound = self._analyzer.const_int_bound(node.extent)
            times = 1 if bound.max_value == bound.POS_INF else bound.max_value
            return Counter({dtype: number * times for dtype, number in self.count(node.body).items()})
        if kind == "IfThenElse":
            return self.count(node.condition) + self._most(node.then_case, node.else_case)
        if kind == "Select":
            return self.count(node.condition) + self._most(node.true_value, node.false_value)
        result = self._sum(child for child in native.children(node)
                           if type(child).__name__ not in ("Buffer", "Op", "GlobalVar"))
        if kind in _ARITHMETIC:
            result[node.dtype] += 1
        return result

    def _sum(self, nodes):
        from collections import Counter

        return sum((self.count(node) for node in nodes), Counter())

    def _most(self, a, b):
        return self.count(a) | self.count(b) if b is not None else self.count(a)


def estimate_tir_flops(stmt_or_mod):
    """The number of arithmetic operations of a statement, or of the PrimFuncs of a module.

    The attribute "estimated_flops" of a function stands for its number. Loops whose extent is not bounded count once.
    """
    from .. import ir
    from .function import PrimFunc

    if not isinstance(stmt_or_mod, ir.IRModule):
        return float(sum(_Flops().count(stmt_or_mod).values()))
    total = 0
    for func in stmt_or_mod.values():
        if isinstance(func, PrimFunc):
            known = func.attrs.get("estimated_flops") if func.attrs is not None else None
            total += sum(_Flops().count(func.body).values()) if known is None else int(known)
    return float(total)


def find_anchor_block(mod):
    """The block of a PrimFunc, or of the only one of a module, that has the most arithmetic; None without reductions."""
    from .. import ir, tir

    func = next(f for f in mod.values() if isinstance(f, tir.PrimFunc)) if isinstance(mod, ir.IRModule) else mod
    blocks = []

    def visit(node):
        if type(node).__name__ == "Block" and node.init is not None:
            blocks.append(node)

    tir.stmt_functor.post_order_visit(func.body, visit)

    def work(block):
        extent = 1
        for axis in block.iter_vars:
            extent *= axis.dom.extent.value if isinstance(axis.dom.extent, tir.IntImm) else 1
        return extent * sum(_Flops().count(block.body).values())

    return max(blocks, key=work, default=None)


_newer.add_names("tir.analysis", globals())

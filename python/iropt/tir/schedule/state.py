"""References to blocks and loops, and what is known about them."""
import collections
import enum

from ... import _newer, ir
from ..._core import native, require
from ..function import PrimFunc
from ..stmt import Block

CachedFlags = collections.namedtuple("CachedFlags", ("affine_binding", "region_cover", "stage_pipeline"))
CachedFlags.__doc__ = """Flags of a block: its bindings are affine, what it reads has been written, its blocks are stages."""


class StmtSRef:
    """A reference to a block or loop, which stays valid while primitives replace other statements."""

    __slots__ = ("_schedule", "_ref")

    def __init__(self, schedule, ref):
        self._schedule, self._ref = schedule, ref

    @property
    def stmt(self):
        """The block or loop; None if it was removed."""
        return self._schedule.stmt_of(self._ref)

    @property
    def parent(self):
        """The reference to the block or loop around it."""
        parent = self._ref.parent
        return None if parent is None else StmtSRef(self._schedule, parent)

    def same_as(self, other):
        return self == other

    def __eq__(self, other):
        return isinstance(other, StmtSRef) and self._ref == other._ref

    def __hash__(self):
        return hash(self._ref)


class DepKind(enum.IntEnum):
    """The kinds of dependences."""

    RAW, WAW, WAR, OPAQUE = range(4)


class Dependency:
    """A dependence between two blocks."""

    def __init__(self, src, dst, kind):
        self.src, self.dst, self.kind = src, dst, kind


class BlockScope:
    """The dependences between the blocks of a block."""

    def __init__(self, dependences):
        self._dependences = dependences

    def get_deps_by_src(self, block):
        return [item for item in self._dependences if item.src == block]

    def get_deps_by_dst(self, block):
        return [item for item in self._dependences if item.dst == block]


class ScheduleState:
    """The state of a schedule."""

    def __init__(self, mod, *, debug_mask="none", enable_check=True):
        del debug_mask, enable_check
        require(mod=mod)
        self._schedule = native.Schedule((ir.IRModule({"main": mod}) if isinstance(mod, PrimFunc) else mod)._module,
                                         lambda name: None)

    @staticmethod
    def _of(schedule):
        state = ScheduleState.__new__(ScheduleState)
        state._schedule = schedule
        return state

    @property
    def mod(self):
        """The module as it is now."""
        return ir.IRModule(_module=self._schedule.module())

    def get_sref(self, name_or_stmt):
        """The reference to a block or loop."""
        return StmtSRef(self._schedule, self._schedule.ref_of(name_or_stmt))

    def get_block_scope(self, block_sref):
        """The dependences between the blocks of a block."""
        return BlockScope([Dependency(StmtSRef(self._schedule, src), StmtSRef(self._schedule, dst), DepKind(kind))
                           for src, dst, kind in self._schedule.dependences_of(block_sref._ref)])

    def _get_cached_flags(self, block_sref):
        return CachedFlags(*self._schedule.flags_of(block_sref._ref))


class _BlockSRef(StmtSRef):
    """A reference to a block, to which loops are nothing."""

    __slots__ = ()

    @property
    def parent(self):
        """The reference to the block around it."""
        found = self._ref.parent
        while found is not None and not isinstance(self._schedule.stmt_of(found), Block):
            found = found.parent
        return None if found is None else _BlockSRef(self._schedule, found)


class BlockDependenceInfo:
    """The dependences between the blocks of a module."""

    def __init__(self, mod):
        if not isinstance(mod, (PrimFunc, ir.IRModule)):
            raise TypeError(f"Expected `mod` to be PrimFunc or IRModule, but gets: {mod}")
        self._state = ScheduleState(mod)

    def get_sref(self, block):
        """The reference to a block."""
        found = self._state.get_sref(block)
        return _BlockSRef(found._schedule, found._ref)

    def get_block_scope(self, block_sref):
        """The dependences between the blocks of a block."""
        return self._state.get_block_scope(block_sref)


_newer.add_names("tir.schedule.state", globals())

"""Tensors that are distributed over meshes of devices, and the passes for them."""
import enum
import re

from ..ir import DeviceMesh, transform as _transform
from .expr import DTensorStructInfo


class PlacementSpecKind(enum.IntEnum):
    """How a tensor lies along a dimension of a mesh."""

    kSharding = 0
    kReplica = 1


class PlacementSpec:
    """How a tensor lies along one dimension of a mesh: cut along an axis, or whole on each device."""

    def __init__(self, axis, kind):
        self.axis, self.kind = axis, kind

    @staticmethod
    def sharding(axis):
        """Cut along an axis."""
        return PlacementSpec(axis, PlacementSpecKind.kSharding)

    @staticmethod
    def replica():
        """Whole on each device."""
        return PlacementSpec(-1, PlacementSpecKind.kReplica)

    def __eq__(self, other):
        return isinstance(other, PlacementSpec) and (self.axis, self.kind) == (other.axis, other.kind)

    def __hash__(self):
        return hash((self.axis, self.kind))

    def __str__(self):
        return "R" if self.kind == PlacementSpecKind.kReplica else f"S[{self.axis}]"


class Placement:
    """How a tensor lies on a mesh: a PlacementSpec for each of its dimensions."""

    def __init__(self, dim_specs):
        self.dim_specs = list(dim_specs)

    @staticmethod
    def from_text(text):
        """The placement of a text such as "S[0], R"."""
        specs = []
        for word in text.split(","):
            found = re.fullmatch(r"\s*(?:R|S\[(\d+)\])\s*", word)
            if found is None:
                raise ValueError(f"unknown placement '{text}': expected R and S[axis] with commas between them")
            specs.append(PlacementSpec.replica() if found[1] is None else PlacementSpec.sharding(int(found[1])))
        return Placement(specs)

    def __eq__(self, other):
        return isinstance(other, Placement) and self.dim_specs == other.dim_specs

    def __hash__(self):
        return hash(str(self))

    def __str__(self):
        return ", ".join(map(str, self.dim_specs))


def device_mesh(shape, device_ids):
    """A mesh of devices with numbers: a list, or a range."""
    return DeviceMesh(shape, device_ids)


def _maker(name):
    def make():
        return _transform.make(f"distributed.{name}", {})

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"The pass distributed.{name}."
    return make


LegalizeRedistribute, LowerDistIR, LowerGlobalViewToLocalView, PropagateSharding = map(
    _maker, ("LegalizeRedistribute", "LowerDistIR", "LowerGlobalViewToLocalView", "PropagateSharding"))
DTensorType = DTensorStructInfo

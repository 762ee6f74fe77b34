// A graph of the axes of tensors of a function that are split over the devices of a mesh alike.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "iropt/ir/attr.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/support/lookup.h"

namespace iropt {

// A dimension of a mesh, over which an axis is split; -1 for the mesh itself, on which a tensor is.
struct MeshAxis {
  const DeviceMeshAttr* mesh;
  int dim;
  bool operator==(const MeshAxis&) const = default;
};

// An axis of a variable or constant, or of an item if that is a tuple. Axis -1 stands for the tensor: it has a mesh.
struct TensorAxis {
  const Expr* tensor;
  int axis;
  int item = 0;
  bool operator==(const TensorAxis&) const = default;
};

// From which axis a split is passed on to which: to that of the result of an operator, to that of an operand, or
// between operands.
enum class AxisEdge : uint8_t { kToOperand, kBetween, kToResult };

// A split is passed on along all edges. Where several arrive, the sources come first, then those that came along edges
// to results only, then those with edges of several kinds, then those along edges to operands only.
class AxisGraph {
 public:
  // Joins both ways.
  void Join(TensorAxis from, TensorAxis to, AxisEdge edge);
  // The axis is split like this, whatever arrives.
  void AddSource(TensorAxis axis, MeshAxis split);
  // Nothing is passed on to the axis.
  void Cut(TensorAxis axis);
  // Forgets the result of an earlier run. O(sources * edges).
  void Propagate();

  std::optional<MeshAxis> Of(TensorAxis axis) const;
  // Returns whether several splits of equal rank arrived.
  bool IsAmbiguous(TensorAxis axis) const;

 private:
  struct Hash {
    size_t operator()(const TensorAxis& axis) const {
      const auto place = static_cast<size_t>(axis.axis + 1) + 31 * static_cast<size_t>(axis.item);
      return std::hash<const Expr*>()(axis.tensor) + 0x9e3779b97f4a7c15U * place;
    }
  };
  struct Split {
    MeshAxis split;
    int rank;
  };
  struct Node {
    std::vector<std::pair<uint32_t, AxisEdge>> edges = {};
    std::optional<MeshAxis> source = {};
    bool is_cut = false;
    std::vector<Split> splits = {};
  };

  uint32_t NodeOf(TensorAxis axis);
  const Node* FindNode(TensorAxis axis) const;
  void PropagateFrom(uint32_t source);
  // Takes the split, unless the node takes no splits or has been met in this run.
  bool Arrive(uint32_t node, MeshAxis split, unsigned path, std::vector<bool>& visited);

  LookupMap<TensorAxis, uint32_t, Hash> index_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> sources_;  // in the order in which they were added
};

}  // namespace iropt

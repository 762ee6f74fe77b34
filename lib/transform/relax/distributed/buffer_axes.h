// Axes of the buffers of a PrimFunc that are accessed alike, so that all of them can be split by splitting loops.
#pragma once

#include <utility>
#include <vector>

#include "iropt/arith/iter_map.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"

namespace iropt {

struct BufferAxis {
  const tir::Buffer* buffer;
  uint32_t axis;
  bool operator==(const BufferAxis&) const = default;
};

// The loads and stores in a statement, in program order.
struct BufferAccess {
  const tir::Buffer* buffer;
  List<const PrimExpr*> indices;
};
std::vector<BufferAccess> AccessesIn(const tir::Block& block);

// The ranges of the variables of a block.
arith::IterRanges RangesOf(const tir::Block& block);

// The variable whose range splits the values of the index into consecutive parts when it is split: the variable with
// the greatest scale of an iterator map that starts at 0. Null if there is none.
const tir::Var* SplittingVar(const PrimExpr* index, const arith::IterRanges& ranges, arith::Analyzer& analyzer);

class BufferAxes {
 public:
  // O(blocks * accesses of a block, squared).
  explicit BufferAxes(const PrimFunc& func);

  // The axis and all that are split with it, each of them the first time that it is asked for.
  std::vector<BufferAxis> TakeGroup(BufferAxis axis);
  // Groups of axes of parameters, by their indices; of more than one.
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> ParamGroups(const PrimFunc& func);

 private:
  struct Node {
    BufferAxis axis;
    std::vector<uint32_t> neighbors = {};
    bool is_taken = false;
  };
  struct Hash {
    size_t operator()(const BufferAxis& axis) const {
      return std::hash<const tir::Buffer*>()(axis.buffer) + 0x9e3779b97f4a7c15U * axis.axis;
    }
  };
  class Collector;

  uint32_t NodeOf(BufferAxis axis);
  void AddBlock(const tir::Block& block);

  Workspace workspace_;  // of simplified indices
  std::vector<Node> nodes_;
  LookupMap<BufferAxis, uint32_t, Hash> index_;
};

}  // namespace iropt

// Splitting PrimFuncs that bring weights into another layout before they compute.
#pragma once

#include <optional>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// A new layout as zeros after the ends of axes, a reshape that splits axes, an order of the axes, and a reshape that
// joins some of them.
struct AxisSplit {
  std::vector<int64_t> zeros;  // after the end of each axis of the weights; empty: nowhere
  std::vector<int64_t> shape;
  std::vector<int64_t> order;
  std::vector<int64_t> joined;  // the shape in the end
};

// A function in two parts, each with nodes of its own in the workspace, and without global symbols.
struct SplitPreproc {
  const PrimFunc* prepare;  // takes the weights, then the buffers in the new layout
  const PrimFunc* compute;  // takes these buffers where the function takes the weights
  // The weights, in the order of the parameters: which parameters they are, and the types in the new layout.
  std::vector<uint32_t> params;
  std::vector<const TensorType*> types;
  std::vector<std::optional<AxisSplit>> splits;  // nothing where the new layout is not of this form
};

// Nothing unless some statements of the outermost block consist of blocks that copy a parameter to a buffer of constant
// shape and have the attribute meta_schedule.layout_rewrite_preproc, and the others use the copies only.
std::optional<SplitPreproc> SplitLayoutPreproc(const PrimFunc& func, Workspace& prepare, Workspace& compute);

}  // namespace iropt

// The parts of a reduction block: what it reduces with which commutative operation, and where it puts the results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// One value per buffer. `indices` are those of all buffers.
struct BlockReduction {
  std::vector<const tir::Buffer*> buffers;
  std::vector<const PrimExpr*> operands;  // that are combined with the elements of the buffers
  List<const PrimExpr*> indices;
  const tir::CommReducer* reducer = nullptr;
};

// The reduction of a block with an initialization:
//
//   with T.init():                                   a sum of A[vi, vk] in B, with the reducer
//       B[vi] = T.float32(0)               -->       lambda x, y: x + y, [T.float32(0)]
//   B[vi] = B[vi] + A[vi, vk]
//
// Several buffers have their new values bound by `let` before the first of them is stored. Otherwise nothing, and
// `problem` tells why not, for a message that begins with the name of the block. The reducers are those of TVM's
// schedules: sum, product, minimum, maximum, two sums, and the ways to write argmin and argmax, also with NaN as the
// greatest or least value. O(nodes of the block).
std::optional<BlockReduction> FindBlockReduction(const tir::Block& block, arith::Analyzer& analyzer,
                                                 Workspace& workspace, std::string& problem);

}  // namespace iropt

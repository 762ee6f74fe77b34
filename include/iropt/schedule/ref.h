// References to the blocks and loops of a function that is scheduled.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "iropt/ir/tir/stmt.h"

namespace iropt::schedule {

// A reference to a block or a loop. Owned by the state; the address stays.
struct Ref {
  const tir::Stmt* stmt = nullptr;  // a Block or a For; null once it has been removed
  Ref* parent = nullptr;            // the block or loop around it; null for the root block
  uint32_t place = 0;               // of a block: among the children of its scope; kept by BlockScope

  bool is_block() const { return stmt && Is<tir::Block>(stmt); }
  bool is_loop() const { return stmt && Is<tir::For>(stmt); }
  const tir::Block& block() const { return *To<tir::Block>(stmt); }
  const tir::For& loop() const { return *To<tir::For>(stmt); }
};

// Old blocks and the new ones that take over their references.
using BlockReuse = std::vector<std::pair<const tir::Block*, const tir::Block*>>;

}  // namespace iropt::schedule

// Elements of a buffer that an iteration of a loop reads and an earlier one wrote.
#pragma once

#include <memory>
#include <span>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"

namespace iropt {

class CarriedReads {
 public:
  explicit CarriedReads(Workspace& workspace);
  ~CarriedReads();
  CarriedReads(const CarriedReads&) = delete;
  CarriedReads& operator=(const CarriedReads&) = delete;

  // Returns whether an iteration of the loop may read an element of the buffer that an earlier one wrote, so that the
  // iterations need one memory for the buffer. `outer`: the loops around it, from the outermost inwards. Accesses
  // through pointers and views do not count, and neither do those of a buffer with very many accesses. Blocks must have
  // no initialization, see tir.LowerInitBlock. Each loop is walked once, for all buffers; then O(accesses to the buffer
  // squared), plus proofs.
  bool Exist(const tir::For& loop, std::span<const tir::For* const> outer, const tir::Buffer& buffer);

 private:
  class InLoop;

  Workspace& workspace_;
  LookupMap<const tir::For*, std::unique_ptr<InLoop>> loops_;
};

}  // namespace iropt

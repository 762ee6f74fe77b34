// Integer expressions as code without branches, to be run for many values of their variables.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "iropt/ir/tir/expr.h"
#include "iropt/support/lookup.h"

namespace iropt::races {

// The slots of variables in the values that a program runs on.
using Slots = LookupMap<const tir::Var*, uint32_t>;

class Program {
 public:
  // Nothing if the expression reads memory, or has a variable without a slot or an operation other than those of
  // indices and conditions.
  static std::optional<Program> Of(const PrimExpr* expr, const Slots& slots);

  // The value, modulo 2^64; a division by zero gives 0. O(size).
  int64_t Run(std::span<const int64_t> values, std::vector<int64_t>& scratch) const;

 private:
  enum class Op : uint8_t { kConst, kSlot, kBinary, kNot, kSelect, kShiftRight, kShiftLeft, kAnd, kOr, kXor };
  struct Step {
    Op op;
    NodeKind kind = NodeKind::kAdd;
    uint32_t a = 0, b = 0, c = 0;  // earlier steps, or the slot
    int64_t value = 0;
  };
  class Compiler;
  static int64_t Binary(NodeKind kind, int64_t a, int64_t b);

  std::vector<Step> steps_;
};

}  // namespace iropt::races

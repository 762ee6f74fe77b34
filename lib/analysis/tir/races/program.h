// Integer expressions as code without branches, to be run for many values of their variables.
#pragma once

#include <array>
#include <cstddef>
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

  // Values of the variables by slot, for several runs: kRuns of each slot in a row.
  static constexpr size_t kRuns = 128;
  using Columns = std::vector<std::array<int64_t, kRuns>>;

  // The results of the first `num_runs` runs, modulo 2^64; a division by zero gives 0. They stay in the last row of
  // `scratch`. O(size * runs).
  std::span<const int64_t> Run(const Columns& values, size_t num_runs, Columns& scratch) const;

 private:
  enum class Op : uint8_t { kConst, kSlot, kBinary, kNot, kSelect, kShiftRight, kShiftLeft, kAnd, kOr, kXor };
  struct Step {
    Op op;
    NodeKind kind = NodeKind::kAdd;
    uint32_t a = 0, b = 0, c = 0;  // earlier steps, or the slot
    int64_t value = 0;
  };
  class Compiler;
  static void Binary(NodeKind kind, const int64_t* a, const int64_t* b, size_t num_runs, int64_t* to);

  std::vector<Step> steps_;
};

}  // namespace iropt::races

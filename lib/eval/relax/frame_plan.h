// The frame layout of a Relax function in the interpreter: the slots of its variables, and their last uses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "iropt/ir/relax/expr.h"
#include "iropt/support/lookup.h"

namespace iropt::eval {

// Variables with disjoint live ranges share slots. A variable is live until the last binding of its SeqExpr that uses
// it, directly or in a nested branch. O(size of the function).
class FramePlan {
 public:
  explicit FramePlan(const Function& function);

  size_t num_slots() const { return num_slots_; }
  // The variable must be defined in the function, or captured.
  uint32_t SlotOf(const Var* var) const { return slots_[var->id - first_var_]; }
  // The captured variables, in the order of their first use.
  const std::vector<const Var*>& captured() const { return captured_; }

  // The number of the first binding of a SeqExpr. Its bindings are numbered consecutively, followed by its body.
  uint32_t FirstBinding(const SeqExpr& seq) const { return first_binding_.at(&seq); }
  // The slots whose values are dead after the binding or body with this number.
  std::span<const uint32_t> DeadAfter(uint32_t binding) const {
    return std::span(dead_).subspan(dead_begin_[binding], dead_begin_[binding + 1] - dead_begin_[binding]);
  }

 private:
  class Builder;

  uint32_t first_var_ = 0;
  size_t num_slots_ = 0;
  std::vector<uint32_t> slots_;  // by Var::id, less first_var_
  std::vector<const Var*> captured_;
  LookupMap<const SeqExpr*, uint32_t> first_binding_;
  std::vector<uint32_t> dead_;
  std::vector<uint32_t> dead_begin_;
};

}  // namespace iropt::eval

// What the interpreter needs to know of a Relax function before it runs it: where the values of its variables are kept,
// and after which binding each can be dropped.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "iropt/ir/relax/expr.h"

namespace iropt::eval {

// Slots are shared by variables that do not live at the same time. A variable lives until the last binding, on the
// level at which it is bound, that uses it: a conditional that uses it keeps it to its end. O(size of the function).
class FramePlan {
 public:
  explicit FramePlan(const Function& function);

  size_t num_slots() const { return num_slots_; }
  // The variable must be one of the function, or captured.
  uint32_t SlotOf(const Var* var) const { return slots_[var->id - first_var_]; }
  // Variables of functions around that it uses, in the order of their first use.
  const std::vector<const Var*>& captured() const { return captured_; }

  // The bindings of a SeqExpr are numbered from here on; its body has the number after the last binding.
  uint32_t FirstBinding(const SeqExpr& seq) const { return first_binding_.at(&seq); }
  // The slots whose values nothing needs after that binding or body.
  std::span<const uint32_t> DeadAfter(uint32_t binding) const {
    return std::span(dead_).subspan(dead_begin_[binding], dead_begin_[binding + 1] - dead_begin_[binding]);
  }

 private:
  class Builder;

  uint32_t first_var_ = 0;
  size_t num_slots_ = 0;
  std::vector<uint32_t> slots_;  // by Var::id, less first_var_
  std::vector<const Var*> captured_;
  std::unordered_map<const SeqExpr*, uint32_t> first_binding_;  // never iterated
  std::vector<uint32_t> dead_;
  std::vector<uint32_t> dead_begin_;
};

}  // namespace iropt::eval

// The ways that the conditions of a program went in runs.
#pragma once

#include <cstdint>

#include "iropt/ir/node.h"
#include "iropt/support/lookup.h"

namespace iropt {

// Conditions are known by their nodes: the condition of a statement or of a choice in a PrimFunc, the If of a Relax
// function. Those of PrimFuncs that run as machine code are not seen.
class TakenBranches {
 public:
  // O(1).
  void Add(const Node* condition, bool value) { ways_[condition] |= value ? kTrue : kFalse; }
  void AddCompiled(const Node* function) { compiled_.insert(function); }

  bool WasTrue(const Node* condition) const { return (WaysOf(condition) & kTrue) != 0; }
  bool WasFalse(const Node* condition) const { return (WaysOf(condition) & kFalse) != 0; }

  // Returns whether the function ran as machine code, at least once.
  bool WasCompiled(const Node* function) const { return compiled_.contains(function); }

 private:
  static constexpr uint8_t kTrue = 1;
  static constexpr uint8_t kFalse = 2;

  uint8_t WaysOf(const Node* condition) const { return ways_.Lookup(condition); }

  LookupMap<const Node*, uint8_t> ways_;
  LookupSet<const Node*> compiled_;
};

}  // namespace iropt

// The scalar expressions of a function that the virtual machine computes, each with a slot in the shape heap, an array
// of 64-bit integers.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "iropt/ir/relax/expr.h"
#include "iropt/ir/tir/expr.h"

namespace iropt {

struct ShapeSlot {
  const PrimExpr* value;             // interned
  std::vector<uint32_t> users = {};  // for a variable: the slots of other expressions that use it, the last one first
  uint32_t missing = 0;              // the number of variables of the expression that have no value yet
  bool computed = false;             // the slot holds its value at this point of the function
};

// For each distinct expression in shapes, scalars and types, apart from integer constants, a slot in the order of their
// first occurrence. Local functions and types of functions are left out. O(nodes).
class ShapeSlots {
 public:
  explicit ShapeSlots(const Function& function);

  uint32_t size() const { return static_cast<uint32_t>(slots_.size()); }
  ShapeSlot& operator[](uint32_t index) { return slots_[index]; }
  // The slot of an expression, or null.
  ShapeSlot* Find(const PrimExpr* value);
  uint32_t IndexOf(const ShapeSlot& slot) const { return static_cast<uint32_t>(&slot - slots_.data()); }
  // An expression of a variable that no type or shape consists of; null if there is none.
  const PrimExpr* undefined() const { return undefined_; }

 private:
  class Collector;
  void LinkUsers();

  std::vector<ShapeSlot> slots_;
  std::unordered_map<const PrimExpr*, uint32_t> index_;
  const PrimExpr* undefined_ = nullptr;
};

}  // namespace iropt

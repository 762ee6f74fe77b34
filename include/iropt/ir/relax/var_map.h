// A map from variables, by their numbers, to facts about them, for a part of a function.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "iropt/ir/relax/expr.h"

namespace iropt {

// Null for variables without an entry. Memory is proportional to the range of the numbers of the entries, so that
// rewriting a few neighbouring bindings of a big function is cheap.
template <class T>
class VarMap {
 public:
  const T* Find(const Var* var) const {
    // Numbers below the first wrap around.
    const size_t i = size_t{var->id} - first_;
    return i < values_.size() ? values_[i] : nullptr;
  }

  // Amortized O(1).
  void Set(const Var* var, const T* value) {
    if (values_.empty()) first_ = var->id;
    if (var->id < first_) GrowDownTo(var->id);
    const size_t i = var->id - first_;
    if (i >= values_.size()) values_.resize(i + 1);
    values_[i] = value;
  }

 private:
  void GrowDownTo(uint32_t id) {
    const size_t more = std::min<size_t>(first_, std::max<size_t>(first_ - id, values_.size()));
    values_.insert(values_.begin(), more, nullptr);
    first_ -= static_cast<uint32_t>(more);
  }

  std::vector<const T*> values_;
  uint32_t first_ = 0;
};

}  // namespace iropt

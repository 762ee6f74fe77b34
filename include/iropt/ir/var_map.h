// A map from variables and buffers, by their numbers, to facts about them, for a part of a function.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace iropt {

// Null for keys without an entry. The variables and buffers of a function of loops have numbers in common. Memory is
// proportional to the range of the numbers of the entries, so that rewriting a few neighbouring bindings of a big
// function is cheap.
template <class T>
class VarMap {
 public:
  template <class Key>
  const T* Find(const Key* key) const {
    // Numbers below the first wrap around.
    const size_t i = size_t{key->id} - first_;
    return i < values_.size() ? values_[i] : nullptr;
  }

  // Amortized O(1).
  template <class Key>
  void Set(const Key* key, const T* value) {
    if (values_.empty()) first_ = key->id;
    if (key->id < first_) GrowDownTo(key->id);
    const size_t i = key->id - first_;
    if (i >= values_.size()) {
      if (i >= values_.capacity()) values_.reserve(std::max<size_t>(32, 2 * (i + 1)));
      values_.resize(i + 1);
    }
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

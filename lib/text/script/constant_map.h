// Names that stand for values in all functions of a module: `n = 128` before them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "iropt/ir/node.h"

namespace iropt::text {

// The values of names at each place of the text: functions share the map, and a name may get another value between two
// of them.
class ConstantMap {
 public:
  // From now on the name stands for the node, or for nothing if that is null.
  void Define(std::string_view name, const Node* node) {
    values_[name].emplace_back(num_definitions_++, node);
    if (name.size() == 1) letters_ |= uint64_t{1} << (name[0] & 63);
  }

  uint32_t num_definitions() const { return num_definitions_; }
  // A bit for each letter that was ever a name: 1 << (letter & 63).
  uint64_t letters() const { return letters_; }

  // Returns the value of the name after the first `definitions`; null if it had none. Expected O(1) for a name with one
  // value.
  const Node* Find(std::string_view name, uint32_t definitions) const {
    const auto known = values_.find(name);
    if (known == values_.end()) return nullptr;
    const auto& values = known->second;
    const auto after = std::ranges::lower_bound(values, definitions, {}, &Value::first);
    return after == values.begin() ? nullptr : std::prev(after)->second;
  }
  const Node* Find(std::string_view name) const { return Find(name, num_definitions_); }

  // Calls f(name) for every name that had a value.
  template <class F>
  void ForEachName(F&& f) const {
    for (const auto& entry : values_) f(entry.first);
  }

 private:
  using Value = std::pair<uint32_t, const Node*>;  // the number of the definition, and what it gave

  std::unordered_map<std::string_view, std::vector<Value>> values_;
  uint32_t num_definitions_ = 0;
  uint64_t letters_ = 0;
};

}  // namespace iropt::text

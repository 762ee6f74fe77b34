// The variables in scope while a text is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "graph.h"
#include "iropt/support/name_map.h"

namespace iropt::relay {

// A definition hides an outer one until the scope ends.
class VarScopes {
 public:
  std::optional<NodeId> Find(std::string_view name) const {
    const uint32_t i = names_.Find(name);
    return i == NameMap<NodeId>::kNone ? std::nullopt : std::optional(names_[i].value);
  }
  void Define(std::string_view name, NodeId var) {
    const auto [index, added] = names_.Insert(name, var);
    if (!added) {
      hidden_.emplace_back(index, names_[index].value);
      names_[index].value = var;
    }
  }
  struct Mark {
    uint32_t names;
    size_t hidden;
  };
  Mark Enter() const { return {names_.size(), hidden_.size()}; }
  void Leave(Mark mark) {
    for (; hidden_.size() > mark.hidden; hidden_.pop_back()) names_[hidden_.back().first].value = hidden_.back().second;
    while (names_.size() > mark.names) names_.PopBack();
  }
  std::vector<std::string_view> Names() const {
    std::vector<std::string_view> names;
    for (uint32_t i = 0; i < names_.size(); ++i) names.push_back(names_[i].name());
    return names;
  }

 private:
  NameMap<NodeId> names_;
  std::vector<std::pair<uint32_t, NodeId>> hidden_;
};

}  // namespace iropt::relay

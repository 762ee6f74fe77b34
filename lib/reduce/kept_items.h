// Lists without some of their items.
#pragma once

#include <vector>

#include "iropt/ir/node.h"

namespace iropt {

// The items i for which keep[i] holds, and those beyond the end of `keep`.
template <class T>
std::vector<T> KeepItems(List<T> items, const std::vector<bool>& keep) {
  std::vector<T> kept;
  for (uint32_t i = 0; i < items.size(); ++i) {
    if (i >= keep.size() || keep[i]) kept.push_back(items[i]);
  }
  return kept;
}

}  // namespace iropt

#include "sort_keys.h"

#include <algorithm>
#include <tuple>

namespace iropt::eval {

void SortByKey(std::vector<KeyedPosition>& line) {
  std::ranges::sort(line, [](const KeyedPosition& a, const KeyedPosition& b) {
    return std::tie(a.key, a.position) < std::tie(b.key, b.position);
  });
}

}  // namespace iropt::eval

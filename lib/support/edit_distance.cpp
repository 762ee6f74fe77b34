#include "iropt/support/edit_distance.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace iropt {

namespace {

bool EqualButForCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b, size_t limit) {
  const size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (gap > limit) return limit + 1;
  // Three rows of the distance table: two back (for swaps), the previous, the current.
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> previous(b.size() + 1);
  std::vector<size_t> current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replace, previous[j] + 1, current[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(current);
  }
  return std::min(previous[b.size()], limit + 1);
}

std::optional<std::string_view> NearestName(std::string_view name, std::span<const std::string_view> candidates) {
  // Names of one or two letters are close to too many others; for long ones the table would be too big.
  constexpr size_t kLongestName = 256;
  if (name.size() > kLongestName) return std::nullopt;
  std::optional<std::string_view> nearest;
  size_t best = name.size() / 3 + 1;
  for (const std::string_view candidate : candidates) {
    const size_t distance = EqualButForCase(name, candidate) ? 0 : EditDistance(name, candidate, best);
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace iropt

#include "iropt/support/edit_distance.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdint>
#include <vector>

namespace iropt {

namespace {

bool EqualButForCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// A bit for each character that the text has, at least.
uint64_t CharactersOf(std::string_view text) {
  uint64_t bits = 0;
  for (const char c : text) bits |= uint64_t{1} << (c & 63);
  return bits;
}

}  // namespace

// Only cells within `limit` of the diagonal can be part of a short enough path (Ukkonen, 1985).
size_t EditDistance(std::string_view a, std::string_view b, size_t limit) {
  const size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  // A replacement removes one character and adds another.
  const auto different = static_cast<size_t>(std::popcount(CharactersOf(a) ^ CharactersOf(b)));
  if (gap > limit || different > 2 * limit) return limit + 1;
  // Three rows of the distance table: two back (for swaps), the previous, the current. A search compares one name with
  // thousands, so they are allocated once.
  thread_local std::vector<size_t> before, previous, current;
  for (std::vector<size_t>* row : {&before, &previous, &current}) row->assign(b.size() + 1, limit + 1);
  for (size_t j = 0; j <= std::min(b.size(), limit); ++j) previous[j] = j;
  size_t least_before = 0;
  for (size_t i = 1; i <= a.size(); ++i) {
    const size_t first = i > limit ? i - limit : 0;
    const size_t last = std::min(b.size(), limit < b.size() ? i + limit : b.size());
    size_t least = limit + 1;
    // Overwrites the value of the row before last at the edge.
    if (first > 0) current[first - 1] = limit + 1;
    for (size_t j = first; j <= last; ++j) {
      if (j == 0) {
        current[0] = least = i;
        continue;
      }
      const size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replace, previous[j] + 1, current[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
      least = std::min(least, current[j]);
    }
    if (last < b.size()) current[last + 1] = limit + 1;
    // A swap goes back two rows, and nothing goes back further.
    if (least > limit && least_before > limit) return limit + 1;
    least_before = least;
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
    if (best == 0) break;
    const size_t distance = EqualButForCase(name, candidate) ? 0 : EditDistance(name, candidate, best - 1);
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

std::optional<std::string_view> LeastNearestName(std::string_view name, std::span<const std::string_view> candidates) {
  const std::optional<std::string_view> first = NearestName(name, candidates);
  if (!first) return std::nullopt;
  const auto is_as_near = [&, best = EqualButForCase(name, *first) ? 0 : EditDistance(name, *first, name.size())](
                              std::string_view candidate) {
    return EqualButForCase(name, candidate) || EditDistance(name, candidate, best) <= best;
  };
  std::string_view least = *first;
  for (const std::string_view candidate : candidates) {
    if (candidate < least && is_as_near(candidate)) least = candidate;
  }
  return least;
}

}  // namespace iropt

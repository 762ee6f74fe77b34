#include "iropt/support/edit_distance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdint>
#include <string>
#include <vector>

namespace iropt {

namespace {

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

namespace {

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// How far candidates are from a name. Smaller is nearer; case counts only between those that are as near without it.
class Nearness {
 public:
  static constexpr size_t kNotNear = SIZE_MAX;

  explicit Nearness(std::string_view name)
      : exact_(name), name_(LowerCase(name)), limit_(std::max<size_t>(name.size(), 3) / 3) {}

  // Looks for what is nearer than `bound` alone. Names that are a beginning of the candidate come after misspelled
  // ones.
  size_t Of(std::string_view candidate, size_t bound) {
    const std::string other = LowerCase(candidate);
    const size_t limit = std::min(limit_, bound / 2);
    const size_t distance = name_ == other ? 0 : EditDistance(name_, other, limit);
    // Short names that have no letter in common are not near.
    if (distance <= limit && distance < std::max(name_.size(), other.size()))
      return 2 * distance + (EditDistance(exact_, candidate, distance) > distance ? 1 : 0);
    constexpr size_t kShortestBeginning = 3;
    const bool begins = name_.size() >= kShortestBeginning && other.starts_with(name_);
    return begins ? kBeginning + other.size() : kNotNear;
  }

 private:
  static constexpr size_t kBeginning = size_t{1} << 30;

  const std::string_view exact_;
  const std::string name_;  // in lower case
  const size_t limit_;
};

// Of several that are as near, the first one or the least.
std::optional<std::string_view> Nearest(std::string_view name, std::span<const std::string_view> candidates,
                                        bool wants_least) {
  constexpr size_t kLongestName = 256;  // the table would be too big for longer ones
  if (name.empty() || name.size() > kLongestName) return std::nullopt;
  Nearness nearness(name);
  std::optional<std::string_view> nearest;
  size_t best = Nearness::kNotNear;
  for (const std::string_view candidate : candidates) {
    const bool may_replace = wants_least && nearest && candidate < *nearest;
    const size_t distance = nearness.Of(candidate, may_replace ? best + 1 : best);
    if (distance > best || (distance == best && !may_replace)) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace

std::optional<std::string_view> NearestName(std::string_view name, std::span<const std::string_view> candidates) {
  return Nearest(name, candidates, /*wants_least=*/false);
}

std::optional<std::string_view> LeastNearestName(std::string_view name, std::span<const std::string_view> candidates) {
  return Nearest(name, candidates, /*wants_least=*/true);
}

std::string DidYouMean(std::string_view name, std::span<const std::string_view> candidates) {
  const std::optional<std::string_view> nearest = NearestName(name, candidates);
  return nearest ? fmt::format("; did you mean '{}'?", *nearest) : "";
}

std::string DidYouMeanOr(std::string_view lead, std::string_view name, std::span<const std::string_view> candidates) {
  constexpr size_t kMostNames = 16;
  std::string meant = DidYouMean(name, candidates);
  if (!meant.empty() || candidates.empty() || candidates.size() > kMostNames) return meant;
  return fmt::format("{}{}", lead, fmt::join(candidates, ", "));
}

}  // namespace iropt

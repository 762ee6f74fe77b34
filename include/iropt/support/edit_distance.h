// "Did you mean ...?" for misspelled names.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace iropt {

// The fewest insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, or `limit + 1` if more
// than `limit` are needed.
size_t EditDistance(std::string_view a, std::string_view b, size_t limit);

// The candidate closest to `name` without regard to case, if it differs by no more than a third of its length, or by
// one letter; else the shortest one that begins with it. The first of several.
std::optional<std::string_view> NearestName(std::string_view name, std::span<const std::string_view> candidates);
// The candidate that NearestName finds, but of several the least in the order of strings: as if the candidates were
// sorted.
std::optional<std::string_view> LeastNearestName(std::string_view name, std::span<const std::string_view> candidates);
// The end of a message about an unknown name: "; did you mean '...'?" with the name that NearestName finds, or nothing.
std::string DidYouMean(std::string_view name, std::span<const std::string_view> candidates);
// As DidYouMean; where no name is near, `lead` and all candidates, if they are few: ": expected one of a, b".
std::string DidYouMeanOr(std::string_view lead, std::string_view name, std::span<const std::string_view> candidates);

}  // namespace iropt

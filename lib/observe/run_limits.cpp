#include "iropt/observe/run_limits.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

namespace iropt {

namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr Unit kDurations[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};
constexpr double kKibi = 1024;
constexpr Unit kSizes[] = {{"", 1},
                           {"B", 1},
                           {"K", kKibi},
                           {"KB", kKibi},
                           {"KiB", kKibi},
                           {"M", kKibi* kKibi},
                           {"MB", kKibi* kKibi},
                           {"MiB", kKibi* kKibi},
                           {"G", kKibi* kKibi* kKibi},
                           {"GB", kKibi* kKibi* kKibi},
                           {"GiB", kKibi* kKibi* kKibi}};
constexpr Unit kGrowths[] = {{"", 1}, {"x", 1}, {"%", 1e-2}};

// A positive number and one of the units.
template <size_t N>
std::optional<double> ParseQuantity(std::string_view text, const Unit (&units)[N], double most) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  const std::string_view name = text.substr(static_cast<size_t>(end - text.data()));
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    const double value = number * unit.factor;
    return value > 0 && value <= most ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

Error Invalid(std::string_view what, std::string_view text, std::string_view expected) {
  return {ErrorCode::Usage, fmt::format("invalid {} '{}': expected {}", what, text, expected)};
}

}  // namespace

Result<double> ParseDuration(std::string_view text) {
  constexpr double kMost = 1e9;
  if (const auto seconds = ParseQuantity(text, kDurations, kMost)) return *seconds;
  return Invalid("duration", text, "a positive number with ms, s, m or h, such as 500ms");
}

Result<int64_t> ParseSize(std::string_view text) {
  constexpr double kMost = 0x1p62;
  const std::optional<double> bytes = ParseQuantity(text, kSizes, kMost);
  if (bytes && *bytes >= 1) return static_cast<int64_t>(*bytes);
  return Invalid("size", text, "a positive number of bytes, or with K, M or G, such as 512M");
}

Result<double> ParseGrowth(std::string_view text) {
  constexpr double kMost = 1e12;
  if (const auto factor = ParseQuantity(text, kGrowths, kMost)) return *factor;
  return Invalid("growth", text, "a positive factor or percentage, such as 2.5 or 250%");
}

}  // namespace iropt

#include "compare_outcomes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace iropt {

namespace {

// Numbers that are printed may have rounding errors.
bool IsNear(double a, double b) {
  constexpr double kTolerance = 1e-3;
  return a == b || (std::isnan(a) && std::isnan(b)) ||
         std::fabs(a - b) <= kTolerance * (std::max(std::fabs(a), std::fabs(b)) + 1);
}

// Reads a number at the beginning of the text, which is not within a word.
std::optional<double> TakeNumber(std::string_view& text, char before) {
  const bool begins = !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-');
  if (!begins || std::isalnum(static_cast<unsigned char>(before)) || before == '_') return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

// Returns whether lines differ in nothing but the last digits of numbers.
bool IsSameLine(std::string_view a, std::string_view b) {
  char before = ' ';
  while (!a.empty() && !b.empty()) {
    const std::optional<double> x = TakeNumber(a, before);
    const std::optional<double> y = TakeNumber(b, before);
    if (x.has_value() != y.has_value() || (x && !IsNear(*x, *y))) return false;
    if (x) {
      before = '0';
      continue;
    }
    if (a[0] != b[0]) return false;
    before = a[0];
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.empty() && b.empty();
}

}  // namespace

std::string DescribeLines(const std::vector<std::string>& got, const std::vector<std::string>& expected) {
  if (got.size() != expected.size())
    return fmt::format("{} lines are printed, expected {}", got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (!IsSameLine(got[i], expected[i]))
      return fmt::format("'{}' is printed as line {}, expected '{}'", got[i], i + 1, expected[i]);
  }
  return {};
}

namespace {

// A race that was not there before. Barriers between accesses to shared memory may be added later, unless there are
// some already, or were.
std::string NewRace(const LoopFacts& got, const LoopFacts& expected) {
  if (expected.race.empty() && !got.race.empty()) return got.race.message;
  const bool is_synchronized = got.has_barriers || expected.has_barriers;
  return is_synchronized && expected.unsynchronized.empty() ? got.unsynchronized.message : std::string();
}

}  // namespace

OutcomeComparison CompareOutcomes(const RunOutcome& got, const RunOutcome& expected, bool is_narrower,
                                  const ToleranceOptions& options) {
  OutcomeComparison result;
  if (got.outputs.size() != expected.outputs.size()) {
    result.differences.push_back(
        fmt::format("there are {} outputs, expected {}", got.outputs.size(), expected.outputs.size()));
    return result;
  }
  if (got.structure != expected.structure && !got.structure.empty() && !expected.structure.empty())
    result.differences.push_back(fmt::format("the result is {}, expected {}", got.structure, expected.structure));
  if (got.overwritten_input && !expected.overwritten_input)
    result.differences.push_back(fmt::format("input {} is overwritten", *got.overwritten_input));
  if (!got.is_written) result.differences.emplace_back("an output has uninitialized elements");
  if (std::string difference = DescribeLines(got.lines, expected.lines); !difference.empty())
    result.differences.push_back(std::move(difference));
  if (got.num_draws != expected.num_draws) {
    result.differences.push_back(
        fmt::format("random numbers are drawn by {} operators whose values are used, expected {}", got.num_draws,
                    expected.num_draws));
  }
  if (std::string race = NewRace(got.facts, expected.facts); !race.empty())
    result.differences.push_back(std::move(race));
  const RunPrecision precision{std::max(got.precision.accumulation, expected.precision.accumulation),
                               is_narrower ? LessPrecise(expected.precision.least_precise, DataType::Float(16))
                                           : expected.precision.least_precise,
                               expected.precision.mixes_magnitudes, expected.precision.is_denormal};
  for (size_t i = 0; i < got.outputs.size(); ++i) {
    const NDArray& want = *expected.outputs[i].tensor;
    Tensor have = got.outputs[i].tensor;
    if (is_narrower && have->dtype().is_floating() && want.dtype().is_floating())
      have = ConvertFloats(have, want.dtype());
    const Tolerance tolerance = ToleranceFor(want, precision, options);
    const Comparison comparison = CompareTensors(*have, want, tolerance);
    const std::string& name = expected.outputs[i].name;
    result.outputs.push_back(OutputErrors::Of(name, comparison, tolerance));
    if (!comparison.ok()) result.differences.push_back(DescribeDifference(name, comparison, *have, want, tolerance));
  }
  return result;
}

}  // namespace iropt

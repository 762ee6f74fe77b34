#include "driver/pipeline/pass_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "driver/pipeline/pass_names.h"

namespace iropt {

namespace {

// The number of a run of a pass; nothing if it is a name.
std::optional<size_t> RunNumberOf(std::string_view name) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = error == std::errc() && end == name.data() + name.size() && number > 0;
  return is_number ? std::optional(number) : std::nullopt;
}

}  // namespace

std::shared_ptr<PassCounter> PassSelection::NumberPasses() {
  if (!std::exchange(counts_passes_, true)) run_.Add(InstrumentPhase::Decide, InstrumentRuns::Again, counter_);
  return counter_;
}

// Numbers are those of the counter, which precedes the instruments that print.
Result<PassFilter> PassSelection::FilterOf(std::vector<LocatedName> names) {
  const bool prints_all = std::erase_if(names, [](const LocatedName& name) { return name.name == "*"; }) != 0;
  std::vector<size_t> numbers;
  std::erase_if(names, [&](const LocatedName& name) {
    const std::optional<size_t> number = RunNumberOf(name.name);
    if (number) numbers.push_back(*number);
    return number.has_value();
  });
  IROPT_RETURN_IF_ERROR(settings_.ResolveNames(names));
  printed_runs_.insert(printed_runs_.end(), numbers.begin(), numbers.end());
  printed_passes_.insert(printed_passes_.end(), names.begin(), names.end());
  if (prints_all) return PassesNamed({});
  return PassFilter([names = NamesOf(names), numbers = std::move(numbers), counter = counter_](const PassInfo& info) {
    if (std::ranges::find(names, info.name) != names.end()) return true;
    return !info.is_composite() && std::ranges::find(numbers, counter->current()) != numbers.end();
  });
}

void PassSelection::WarnOfUnreached() {
  for (const size_t number : printed_runs_) {
    if (number <= counter_->num_begun()) continue;
    compiler_.diagnostics().Warning({}, "unreached-pass",
                                    fmt::format("pass {} is not printed: only {} pass{} ran", number,
                                                counter_->num_begun(), counter_->num_begun() == 1 ? "" : "es"));
  }
  if (const PassPoint* point = range_ ? range_->missing() : nullptr) {
    compiler_.diagnostics().Warning({}, "unreached-pass",
                                    fmt::format("the pipeline has no run of a pass '{}' to {} after", point->text,
                                                range_->is_start(*point) ? "start" : "stop"));
  }
  for (const LocatedName& pass : printed_passes_) {
    if (counter_->HasBegun(pass.name)) continue;
    compiler_.diagnostics().Warning(pass.span, "unreached-pass",
                                    fmt::format("pass '{}' is not printed: it did not run", pass.name));
  }
}

Result<std::optional<PassPoint>> PassSelection::ReadPoint(const char* flag, const std::optional<std::string>& text) {
  if (!text) return std::optional<PassPoint>();
  Result<PassPoint> point = ParsePassPoint(*text);
  if (!point.ok()) return Error{ErrorCode::Usage, fmt::format("flag '{}': {}", flag, point.error().message)};
  if (point->pass.empty()) return std::optional(*std::move(point));
  IROPT_ASSIGN_OR_RETURN(const std::vector<LocatedName> names, settings_.ReadNames(flag, {point->pass}));
  point->pass = names.front().name;
  return std::optional(*std::move(point));
}

Status PassSelection::AddRange() {
  if (!options_.pipeline.start_after && !options_.pipeline.stop_after) return {};
  IROPT_ASSIGN_OR_RETURN(std::optional<PassPoint> start, ReadPoint("-start-after", options_.pipeline.start_after));
  IROPT_ASSIGN_OR_RETURN(std::optional<PassPoint> stop, ReadPoint("-stop-after", options_.pipeline.stop_after));
  range_ = std::make_shared<PassRange>(std::move(start), std::move(stop));
  run_.Add(InstrumentPhase::Decide, InstrumentRuns::All, range_);
  return {};
}

}  // namespace iropt

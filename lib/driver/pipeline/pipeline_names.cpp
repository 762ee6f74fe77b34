// The passes that settings of a run name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "driver/pipeline/pass_names.h"
#include "driver/pipeline/pipeline_setup.h"

namespace iropt {

// A name may be that of a pass, or that of a Sequential in the pipeline.
Status PipelineSetup::ResolveNames(std::vector<LocatedName>& names) {
  std::vector<std::string_view> groups;
  if (pipeline_) std::ranges::copy(NamesIn(*pipeline_), std::back_inserter(groups));
  bool ok = true;
  std::vector<LocatedName> resolved;
  for (LocatedName& name : names) {
    if (const PassEntry* row = compiler_.registry().Find(name.name)) {
      resolved.push_back({row->info.name, name.span});
    } else if (std::ranges::find(groups, name.name) != groups.end()) {
      resolved.push_back(name);
    } else if (IsNamePattern(name.name)) {
      ok &= AddMatching(name, resolved);
    } else {
      ReportUnknownPass(name.name, compiler_.registry(), name.span, compiler_.diagnostics(), groups);
      ok = false;
    }
  }
  names = std::move(resolved);
  if (!ok) return Failure{ErrorCode::Usage};
  return {};
}

bool PipelineSetup::AddMatching(const LocatedName& pattern, std::vector<LocatedName>& names) const {
  const Result<std::vector<std::string>> matching = NamesMatching(pattern.name, NamesIn(built_));
  if (!matching.ok() || matching->empty()) {
    const std::string why = matching.ok() ? "no pass of the pipeline matches it" : matching.error().message;
    compiler_.diagnostics().Error(pattern.span, "unknown-pass",
                                  fmt::format("the regular expression '{}': {}", pattern.name, why));
    return false;
  }
  for (const std::string& name : *matching) names.push_back({name, pattern.span});
  return true;
}

Result<std::vector<LocatedName>> PipelineSetup::LocateNames(const char* flag, const std::vector<std::string>& names) {
  std::vector<LocatedName> located;
  if (names == std::vector<std::string>{""}) return located;  // "-disable=" names nothing
  IROPT_ASSIGN_OR_RETURN(uint32_t base, compiler_.AddText(flag, fmt::format("{}", fmt::join(names, ","))));
  for (const std::string& name : names) {
    const auto end = static_cast<uint32_t>(base + name.size());
    located.push_back({name, {base, end}});
    base = end + 1;
  }
  return located;
}

Result<std::vector<LocatedName>> PipelineSetup::ReadNames(const char* flag, const std::vector<std::string>& names) {
  IROPT_ASSIGN_OR_RETURN(std::vector<LocatedName> located, LocateNames(flag, names));
  IROPT_RETURN_IF_ERROR(ResolveNames(located));
  return located;
}

Status PipelineSetup::Locate(const std::string& flag, OptionValue::List& texts) {
  std::vector<std::string> words;
  for (const OptionValue& text : texts) words.push_back(*text.as_string());
  IROPT_ASSIGN_OR_RETURN(const std::vector<LocatedName> located, LocateNames(flag.c_str(), words));
  for (size_t i = 0; i < texts.size(); ++i) texts[i].set_span(located[i].span);
  return {};
}

namespace {

// The number of a run of a pass; nothing if it is a name.
std::optional<size_t> RunNumberOf(std::string_view name) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = error == std::errc() && end == name.data() + name.size() && number > 0;
  return is_number ? std::optional(number) : std::nullopt;
}

}  // namespace

// Numbers are those of the counter, which precedes the instruments that print.
Result<PassFilter> PipelineSetup::FilterOf(std::vector<LocatedName> names) {
  const bool prints_all = std::erase_if(names, [](const LocatedName& name) { return name.name == "*"; }) != 0;
  std::vector<size_t> numbers;
  std::erase_if(names, [&](const LocatedName& name) {
    const std::optional<size_t> number = RunNumberOf(name.name);
    if (number) numbers.push_back(*number);
    return number.has_value();
  });
  IROPT_RETURN_IF_ERROR(ResolveNames(names));
  printed_runs_.insert(printed_runs_.end(), numbers.begin(), numbers.end());
  printed_passes_.insert(printed_passes_.end(), names.begin(), names.end());
  if (prints_all) return PassesNamed({});
  return PassFilter([names = NamesOf(names), numbers = std::move(numbers), counter = counter_](const PassInfo& info) {
    if (std::ranges::find(names, info.name) != names.end()) return true;
    return !info.is_composite() && std::ranges::find(numbers, counter->current()) != numbers.end();
  });
}

void PipelineSetup::WarnOfUnreached() {
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

Status PipelineSetup::FillNames() {
  IROPT_RETURN_IF_ERROR(ResolveNames(file_.disabled));
  IROPT_RETURN_IF_ERROR(ResolveNames(file_.required));
  IROPT_ASSIGN_OR_RETURN(disabled_, ReadNames("-disable", options_.pipeline.disable));
  IROPT_ASSIGN_OR_RETURN(required_, ReadNames("-require", options_.pipeline.require));
  // The command line takes precedence: passes that it requires are no longer disabled by the file.
  std::ranges::copy_if(file_.disabled, std::back_inserter(disabled_), [&](const LocatedName& name) {
    return std::ranges::find(required_, name.name, &LocatedName::name) == required_.end();
  });
  std::ranges::copy(file_.required, std::back_inserter(required_));
  context_.disabled_pass = NamesOf(disabled_);
  context_.required_pass = NamesOf(required_);
  return {};
}

Result<std::optional<PassPoint>> PipelineSetup::ReadPoint(const char* flag, const std::optional<std::string>& text) {
  if (!text) return std::optional<PassPoint>();
  Result<PassPoint> point = ParsePassPoint(*text);
  if (!point.ok()) return Error{ErrorCode::Usage, fmt::format("flag '{}': {}", flag, point.error().message)};
  if (point->pass.empty()) return std::optional(*std::move(point));
  IROPT_ASSIGN_OR_RETURN(const std::vector<LocatedName> names, ReadNames(flag, {point->pass}));
  point->pass = names.front().name;
  return std::optional(*std::move(point));
}

Status PipelineSetup::AddPassRange() {
  if (!options_.pipeline.start_after && !options_.pipeline.stop_after) return {};
  IROPT_ASSIGN_OR_RETURN(std::optional<PassPoint> start, ReadPoint("-start-after", options_.pipeline.start_after));
  IROPT_ASSIGN_OR_RETURN(std::optional<PassPoint> stop, ReadPoint("-stop-after", options_.pipeline.stop_after));
  range_ = std::make_shared<PassRange>(std::move(start), std::move(stop));
  run_.Add(InstrumentPhase::Decide, InstrumentRuns::All, range_);
  return {};
}

}  // namespace iropt

#include "driver/instruments/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace iropt {

namespace {

std::vector<std::string_view> KnownNames(const PassRegistry& registry) {
  std::vector<std::string_view> names;
  for (const OwnInstrument& own : OwnInstruments()) names.push_back(own.name);
  for (const auto& [name, row] : registry.instruments()) names.push_back(name);
  return names;
}

const OptionValue* Find(const InstrumentSpec& spec, std::string_view name) {
  const auto at = std::ranges::find(spec.options, name, &OptionValue::Entry::key);
  return at == spec.options.end() ? nullptr : &at->value;
}

}  // namespace

Status InstrumentPlan::Add(const InstrumentSpec& spec, const PassRegistry& registry, DiagnosticEngine& diagnostics) {
  InstrumentSpec complete = spec;
  if (const OwnInstrument* own = FindOwnInstrument(spec.name)) {
    if (!CheckOptions(own->options, fmt::format("instrument '{}'", spec.name), complete.options, diagnostics))
      return Failure{ErrorCode::Usage};
    own_.push_back({own, spec, std::move(complete)});
    return {};
  }
  if (!registry.instruments().contains(spec.name)) {
    ReportUnknownName(fmt::format("unknown instrument '{}'", spec.name), spec.name, KnownNames(registry),
                      "unknown-instrument", spec.span, diagnostics);
    return Failure{ErrorCode::Usage};
  }
  Result<std::shared_ptr<PassInstrument>> instrument =
      registry.CreateInstrument(spec.name, std::move(complete.options), diagnostics);
  if (!instrument.ok()) {
    if (!instrument.error().reported()) diagnostics.Error(spec.span, "pass-failed", instrument.error().message);
    return Failure{instrument.error().code};
  }
  others_.push_back(*std::move(instrument));
  other_specs_.push_back(spec);
  return {};
}

void InstrumentPlan::Remove(std::string_view name) {
  std::erase_if(own_, [&](const Given& given) { return given.row->name == name; });
}

// The elements of a list that takes precedence come last, as those of the command line do.
OptionValue InstrumentPlan::Merge(const OptionSpec& option, const OwnInstrument& row) const {
  std::optional<OptionValue> value;
  OptionValue::List list;
  for (const Given& given : own_) {
    if (given.row != &row) continue;
    const OptionValue& complete = *Find(given.complete, option.name);
    if (option.type == OptionType::StringList) {
      OptionValue::List joined = *complete.as_list();
      const auto is_new = [&](const OptionValue& other) { return std::ranges::find(joined, other) == joined.end(); };
      std::ranges::copy_if(list, std::back_inserter(joined), is_new);
      list = std::move(joined);
    } else if (!value && Find(given.given, option.name) != nullptr) {
      value = complete;
    }
  }
  return option.type == OptionType::StringList ? OptionValue(std::move(list)) : value.value_or(option.default_value);
}

std::vector<InstrumentSpec> InstrumentPlan::OwnSpecs() const {
  std::vector<InstrumentSpec> specs;
  if (own_.empty()) return specs;
  for (const OwnInstrument& row : OwnInstruments()) {
    const auto given = std::ranges::find(own_, &row, &Given::row);
    if (given == own_.end()) continue;
    InstrumentSpec& spec = specs.emplace_back(InstrumentSpec{std::string(row.name), {}, given->given.span});
    for (const OptionSpec& option : row.options) spec.options.push_back({option.name, Merge(option, row)});
  }
  return specs;
}

std::vector<InstrumentSpec> InstrumentPlan::Specs() const {
  std::vector<InstrumentSpec> specs = OwnSpecs();
  for (InstrumentSpec& spec : specs) {
    const std::vector<OptionSpec>& options = FindOwnInstrument(spec.name)->options;
    std::erase_if(spec.options, [&](const OptionValue::Entry& entry) {
      return std::ranges::find(options, entry.key, &OptionSpec::name)->default_value == entry.value;
    });
  }
  specs.insert(specs.end(), other_specs_.begin(), other_specs_.end());
  return specs;
}

}  // namespace iropt

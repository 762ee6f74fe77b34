#include "iropt/pass/pass_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "iropt/pass/pipeline.h"
#include "iropt/pass/registry.h"
#include "iropt/support/check.h"

namespace iropt {

std::string_view OptionTypeName(OptionType type) {
  switch (type) {
    case OptionType::Bool: return "a boolean";
    case OptionType::Int: return "an integer";
    case OptionType::Float: return "a number";
    case OptionType::String: return "a string";
    case OptionType::StringList: return "a list of strings";
    case OptionType::Json: return "any value";
    case OptionType::Phases: return "a list of [phase, passes]";
    case OptionType::Record: return "an object";
  }
  IROPT_UNREACHABLE("option type {}", type);
}

namespace {

// 0 and 1 stand for booleans in files that were written from TVM's contexts.
bool FitBool(OptionValue& value) {
  const int64_t* number = value.as_int();
  if (number != nullptr && (*number == 0 || *number == 1)) {
    const SourceSpan span = value.span();
    value = OptionValue(*number == 1);
    value.set_span(span);
  }
  return value.as_bool() != nullptr;
}

bool FitFloat(OptionValue& value) {
  if (const int64_t* number = value.as_int()) {
    const SourceSpan span = value.span();
    value = OptionValue(static_cast<double>(*number));
    value.set_span(span);
  }
  return value.as_double() != nullptr;
}

bool FitStringList(OptionValue& value) {
  if (value.as_string() != nullptr) {
    const SourceSpan span = value.span();
    value = OptionValue(OptionValue::List{std::move(value)});
    value.set_span(span);
  }
  const OptionValue::List* list = value.as_list();
  return list != nullptr &&
         std::ranges::all_of(*list, [](const OptionValue& item) { return item.as_string() != nullptr; });
}

bool FitType(OptionType type, OptionValue& value) {
  switch (type) {
    case OptionType::Bool: return FitBool(value);
    case OptionType::Int: return value.as_int() != nullptr;
    case OptionType::Float: return FitFloat(value);
    case OptionType::String: return value.as_string() != nullptr;
    case OptionType::StringList: return FitStringList(value);
    case OptionType::Json: return true;
    case OptionType::Phases: return value.as_list() != nullptr;
    case OptionType::Record: return value.as_dict() != nullptr;
  }
  IROPT_UNREACHABLE("option type {}", type);
}

OptionValue DefaultOf(const OptionSpec& spec) {
  if (spec.type != OptionType::Record) return spec.default_value;
  OptionValue::Dict fields;
  for (const OptionSpec& field : spec.fields) fields.push_back({field.name, DefaultOf(field), {}});
  return fields;
}

bool CheckChoice(const OptionSpec& spec, std::string_view what, const OptionValue& value,
                 DiagnosticEngine& diagnostics) {
  const std::string& chosen = *value.as_string();
  if (std::ranges::find(spec.choices, chosen) != spec.choices.end()) return true;
  // Without "did you mean": the message names them all, and the nearest one, as float16 for bfloat16, may be the worst.
  diagnostics.Error(value.span(), "wrong-option-type",
                    fmt::format("{} must be {}, not '{}'", what, DescribeValues(spec), chosen));
  return false;
}

}  // namespace

std::string DescribeValues(const OptionSpec& spec) {
  if (spec.choices.empty()) return std::string(OptionTypeName(spec.type));
  return fmt::format("one of {}", fmt::join(spec.choices, ", "));
}

bool CheckOption(const OptionSpec& spec, std::string_view what, OptionValue& value, DiagnosticEngine& diagnostics) {
  if (value.is_null() && spec.type != OptionType::Json) {
    value = DefaultOf(spec);  // Python callers pass null for an omitted option
    return true;
  }
  if (!FitType(spec.type, value)) {
    diagnostics.Error(value.span(), "wrong-option-type",
                      fmt::format("{} must be {}, not {}", what, DescribeValues(spec), value.KindName()));
    return false;
  }
  if (spec.type == OptionType::Phases) return ReadPhases(value, what, diagnostics).has_value();
  if (!spec.choices.empty() && !CheckChoice(spec, what, value, diagnostics)) return false;
  return spec.type != OptionType::Record || CheckOptions(spec.fields, what, *value.as_dict(), diagnostics);
}

bool CheckOptions(std::span<const OptionSpec> specs, std::string_view owner, OptionValue::Dict& options,
                  DiagnosticEngine& diagnostics) {
  std::vector<std::string_view> known;
  OptionValue::Dict complete;
  for (const OptionSpec& spec : specs) {
    known.push_back(spec.name);
    complete.push_back({spec.name, DefaultOf(spec), {}});
  }
  bool ok = true;
  for (OptionValue::Entry& given : options) {
    const auto at = std::ranges::find(known, given.key);
    if (at == known.end()) {
      ReportUnknownName(fmt::format("{} has no option '{}'", owner, given.key), given.key, known, "unknown-option",
                        given.key_span, diagnostics);
      ok = false;
      continue;
    }
    const auto index = static_cast<size_t>(at - known.begin());
    ok &= CheckOption(specs[index], fmt::format("option '{}' of {}", given.key, owner), given.value, diagnostics);
    complete[index].value = std::move(given.value);
  }
  options = std::move(complete);
  return ok;
}

const OptionValue& CheckedOptions::Get(std::string_view name) const {
  const auto entry = std::ranges::find(options_, name, &OptionValue::Entry::key);
  IROPT_CHECK(entry != options_.end(), "{} has no option '{}'", owner_, name);
  return entry->value;
}

namespace {

template <class T>
const T& Checked(const T* value, std::string_view name) {
  IROPT_CHECK(value != nullptr, "option '{}' has another type", name);
  return *value;
}

}  // namespace

bool CheckedOptions::Bool(std::string_view name) const { return Checked(Get(name).as_bool(), name); }
int64_t CheckedOptions::Int(std::string_view name) const { return Checked(Get(name).as_int(), name); }
double CheckedOptions::Float(std::string_view name) const { return Checked(Get(name).as_double(), name); }
const std::string& CheckedOptions::String(std::string_view name) const { return Checked(Get(name).as_string(), name); }

size_t CheckedOptions::IndexOfChoice(std::string_view name, std::initializer_list<std::string_view> words) const {
  const auto* const word = std::ranges::find(words, String(name));
  IROPT_CHECK(word != words.end(), "option '{}' has other choices", name);
  return static_cast<size_t>(word - words.begin());
}

void CheckedOptions::Assign(std::string_view name, std::vector<LocatedName>& value) const {
  value.clear();
  for (const OptionValue& item : List(name)) value.push_back({Checked(item.as_string(), name), item.span()});
}

void CheckedOptions::Assign(std::string_view name, DataType& value) const {
  const std::optional<DataType> dtype = DataType::Parse(String(name));
  IROPT_CHECK(dtype.has_value(), "a choice of option '{}' is not a dtype", name);
  value = *dtype;
}

void CheckedOptions::Assign(std::string_view name, std::optional<DataType>& value) const {
  value.reset();
  if (!String(name).empty()) Assign(name, value.emplace());
}

const OptionValue::List& CheckedOptions::List(std::string_view name) const {
  return Checked(Get(name).as_list(), name);
}

std::vector<std::string> CheckedOptions::StringList(std::string_view name) const {
  std::vector<std::string> result;
  for (const OptionValue& item : List(name)) result.push_back(Checked(item.as_string(), name));
  return result;
}

PassOptions::PassOptions(PassInfo info, OptionValue::Dict options, DiagnosticEngine& diagnostics,
                         const TextReader* reader)
    : CheckedOptions(fmt::format("pass '{}'", info.name), std::move(options)),
      info_(std::move(info)),
      diagnostics_(diagnostics),
      reader_(reader) {}

void PassOptions::Refuse(std::string_view name, std::string_view message) const { Refuse(name, SpanOf(name), message); }

void PassOptions::Refuse(std::string_view name, SourceSpan part, std::string_view message) const {
  diagnostics_.Error(part, "wrong-option-value", fmt::format("option '{}' of {} {}", name, owner(), message));
}

int64_t PassOptions::Count(std::string_view name) const {
  const int64_t value = Int(name);
  if (value < 0) Refuse(name, fmt::format("must not be negative, but is {}", value));
  return value;
}

}  // namespace iropt

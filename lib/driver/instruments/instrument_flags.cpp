#include "iropt/driver/instrument_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "driver/instruments/table.h"
#include "iropt/observe/run_limits.h"
#include "iropt/support/check.h"

namespace iropt {

namespace {

template <class T>
Result<OptionValue> ReadAs(Result<T> (*read)(std::string_view), const Flag& flag, std::string_view text) {
  Result<T> value = read(text);
  if (!value.ok()) return Error{ErrorCode::Usage, fmt::format("flag '-{}': {}", flag.name, value.error().message)};
  return OptionValue(*value);
}

OptionValue OfWord(const Flag& flag, const OptionSpec& option, std::string_view text) {
  const std::vector<std::string> words = WordsOf(flag.value);
  const auto index = static_cast<size_t>(std::ranges::find(words, text) - words.begin());
  return option.type == OptionType::Bool ? OptionValue(index != 0) : OptionValue(option.choices[index]);
}

OptionValue OfList(std::span<const std::string> values) {
  OptionValue::List list;
  for (const std::string& value : values) {
    if (!value.empty()) list.emplace_back(value);  // "-print-after=" names nothing
  }
  return list;
}

Result<OptionValue> ReadValue(const Flag& flag, const OptionSpec& option, std::span<const std::string> values) {
  const std::string& text = values.back();
  switch (flag.value.kind) {
    case ValueKind::Switch: return option.type == OptionType::Bool ? OptionValue(true) : option.default_value;
    case ValueKind::List: return OfList(values);
    case ValueKind::Number: return OptionValue(int64_t{std::atoll(text.c_str())});
    case ValueKind::Real: return OptionValue(std::atof(text.c_str()));
    case ValueKind::Word:
    case ValueKind::SwitchOrWord: return OfWord(flag, option, text);
    default: break;
  }
  const std::string_view unit = flag.value.placeholder;
  if (unit == "DURATION") return ReadAs(&ParseDuration, flag, text);
  if (unit == "SIZE") return ReadAs(&ParseSize, flag, text);
  if (unit == "FACTOR") return ReadAs(&ParseGrowth, flag, text);
  return OptionValue(text);
}

// The report of a value of -report.
Result<InstrumentSpec> ReadReport(std::string_view value) {
  constexpr std::string_view kJsonFile = "json:";
  if (value == kJsonFile) return Error{ErrorCode::Usage, "flag '-report' needs a file after 'json:'"};
  if (value.starts_with(kJsonFile))
    return InstrumentSpec{"report-file", {{"file", OptionValue(value.substr(kJsonFile.size()))}}, {}};
  if (value.ends_with(".html")) return InstrumentSpec{"report-page", {{"file", OptionValue(value)}}, {}};
  if (value == "text" || value == "json") return InstrumentSpec{"report", {{"format", OptionValue(value)}}, {}};
  return Error{ErrorCode::Usage,
               fmt::format("flag '-report' takes text, json, json:FILE or the name of an .html file, not '{}'", value)};
}

// Each form of a report once.
Status CheckOther(const InstrumentSpec& other, const InstrumentSpec& report) {
  if (other.name != report.name || other.options == report.options) return {};
  if (report.name == "report")
    return Error{ErrorCode::Usage, "flag '-report' prints text or json: expected json:FILE for one of them"};
  return Error{ErrorCode::Usage,
               fmt::format("flag '-report' names two files of a kind: '{}', '{}'",
                           *other.options.front().value.as_string(), *report.options.front().value.as_string())};
}

Result<std::vector<FlaggedInstrument>> ReadReports(std::span<const std::string> values) {
  std::vector<FlaggedInstrument> reports;
  for (const std::string& value : values) {
    IROPT_ASSIGN_OR_RETURN(InstrumentSpec report, ReadReport(value));
    for (const FlaggedInstrument& other : reports) IROPT_RETURN_IF_ERROR(CheckOther(other.spec, report));
    reports.push_back({"-report", std::move(report)});
  }
  return reports;
}

}  // namespace

Result<std::vector<FlaggedInstrument>> ReadInstrumentFlag(const Flag& flag, std::span<const std::string> values) {
  if (flag.name == "report") return ReadReports(values);
  for (const OwnInstrument& row : OwnInstruments()) {
    for (const InstrumentFlag& given : row.flags) {
      if (given.flag.name != flag.name) continue;
      FlaggedInstrument instrument{fmt::format("-{}", flag.name), {std::string(row.name), {}, {}}};
      const auto option = std::ranges::find(row.options, given.option, &OptionSpec::name);
      if (option != row.options.end()) {
        IROPT_ASSIGN_OR_RETURN(OptionValue value, ReadValue(flag, *option, values));
        instrument.spec.options.push_back({option->name, std::move(value)});
      }
      return std::vector<FlaggedInstrument>{std::move(instrument)};
    }
  }
  IROPT_UNREACHABLE("not a flag of an instrument");
}

}  // namespace iropt

// Configuration options: their keys, their values in a context, and their text.
#include "iropt/pass/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "iropt/pass/context.h"
#include "iropt/pass/registry.h"
#include "iropt/support/check.h"
#include "reader.h"

namespace iropt {

namespace {

// The parts of a key: a registered option, and the path after its name.
struct ConfigPath {
  const OptionSpec* config = nullptr;  // null if no option has the name
  std::string_view rest;               // of a record's field, without the dot; empty for the option itself
};

// Keys have dots of their own, so the longest one that is registered counts.
ConfigPath Resolve(const PassRegistry& registry, std::string_view key) {
  if (key.ends_with('.')) return {};
  for (std::string_view name = key;;) {
    if (const OptionSpec* config = registry.FindConfig(name)) {
      return {config, key.substr(std::min(key.size(), name.size() + 1))};
    }
    const size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return {};
    name = name.substr(0, dot);
  }
}

// The field of that name, which may be in a nested record; null if there is none.
const OptionSpec* FindField(const OptionSpec& record, std::string_view path) {
  const OptionSpec* spec = &record;
  while (!path.empty() && spec != nullptr) {
    const std::string_view name = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    const auto field = std::ranges::find(spec->fields, name, &OptionSpec::name);
    spec = field == spec->fields.end() ? nullptr : &*field;
  }
  return spec;
}

// The value of an existing field; const if the record is.
template <class V>
V& FieldOf(V& record, std::string_view path) {
  V* value = &record;
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    auto* fields = value->as_dict();
    IROPT_CHECK(fields != nullptr, "a configuration option with '{}', but no record", name);
    const auto field = std::ranges::find(*fields, name, &OptionValue::Entry::key);
    IROPT_CHECK(field != fields->end(), "a configuration record without '{}'", name);
    value = &field->value;
  }
  return *value;
}

void CollectFields(const OptionSpec& spec, const std::string& name, std::vector<std::string>& names) {
  for (const OptionSpec& field : spec.fields) {
    names.push_back(name + '.' + field.name);
    CollectFields(field, names.back(), names);
  }
}

// Suggests from the fields of the record that was named, else from all options and their fields.
void ReportUnknownConfig(const PassRegistry& registry, const ConfigPath& path, std::string_view key, SourceSpan span,
                         DiagnosticEngine& reports) {
  const OptionSpec* record = path.config;
  std::vector<std::string> names;
  if (record != nullptr) CollectFields(*record, record->name, names);
  for (const auto& [name, spec] : registry.configs()) {
    if (record != nullptr) break;
    names.push_back(name);
    CollectFields(spec, name, names);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string message =
      record == nullptr ? fmt::format("unknown configuration option '{}'", key)
                        : fmt::format("configuration option '{}' has no option '{}'", record->name, path.rest);
  ReportUnknownName(message, key, known, "unknown-option", span, reports);
}

// Settings of Relay's compiler and of its external code generators, which do not exist here.
constexpr std::string_view kRelayParts[] = {"relay.FuseOps.link_params",
                                            "relay.backend.",
                                            "relay.collage.",
                                            "relay.ext.",
                                            "relay.fallback_device_type",
                                            "relay.frontend.",
                                            "relay.remove_standalone_reshapes."};

bool IsOfRelayOnly(std::string_view key) {
  return std::ranges::any_of(
      kRelayParts, [&](std::string_view part) { return part.ends_with('.') ? key.starts_with(part) : key == part; });
}

}  // namespace

bool PassContext::SetConfig(std::string_view key, OptionValue value, DiagnosticEngine& reports, SourceSpan key_span) {
  const ConfigPath path = Resolve(Registry(), key);
  const OptionSpec* spec = path.config == nullptr ? nullptr : FindField(*path.config, path.rest);
  if (spec == nullptr && IsOfRelayOnly(key)) {
    reports.Remark(key_span, "nothing-to-do",
                   fmt::format("configuration option '{}' has no effect: it is of Relay's compiler", key));
    return true;
  }
  if (spec == nullptr) {
    ReportUnknownConfig(Registry(), path, key, key_span, reports);
    return false;
  }
  if (!CheckOption(*spec, fmt::format("configuration option '{}'", key), value, reports)) return false;
  if (path.rest.empty()) {
    config_.insert_or_assign(path.config->name, std::move(value));
    return true;
  }
  OptionValue record = Config(path.config->name);
  FieldOf(record, path.rest) = std::move(value);
  config_.insert_or_assign(path.config->name, std::move(record));
  return true;
}

const OptionValue& PassContext::Config(std::string_view key) const {
  if (const auto set = config_.find(key); set != config_.end()) return set->second;
  const ConfigPath path = Resolve(Registry(), key);
  IROPT_CHECK(path.config != nullptr, "configuration option '{}' is not registered", key);
  const auto set = config_.find(path.config->name);
  return FieldOf(set != config_.end() ? set->second : path.config->default_value, path.rest);
}

namespace {

bool BoolOf(const OptionValue& value, std::string_view key) {
  const bool* flag = value.as_bool();
  IROPT_CHECK(flag != nullptr, "configuration option '{}' is not a boolean", key);
  return *flag;
}

int64_t IntOf(const OptionValue& value, std::string_view key) {
  const int64_t* number = value.as_int();
  IROPT_CHECK(number != nullptr, "configuration option '{}' is not an integer", key);
  return *number;
}

const std::string& StringOf(const OptionValue& value, std::string_view key) {
  const std::string* text = value.as_string();
  IROPT_CHECK(text != nullptr, "configuration option '{}' is not a string", key);
  return *text;
}

}  // namespace

bool PassContext::Config(ConfigKey<bool> key) const { return BoolOf(Config(key.name), key.name); }
int64_t PassContext::Config(ConfigKey<int64_t> key) const { return IntOf(Config(key.name), key.name); }
const std::string& PassContext::Config(ConfigKey<std::string> key) const {
  return StringOf(Config(key.name), key.name);
}

bool PassContext::ConfigField(const OptionValue& record, ConfigKey<bool> field) {
  return BoolOf(FieldOf(record, field.name), field.name);
}
int64_t PassContext::ConfigField(const OptionValue& record, ConfigKey<int64_t> field) {
  return IntOf(FieldOf(record, field.name), field.name);
}
const std::string& PassContext::ConfigField(const OptionValue& record, ConfigKey<std::string> field) {
  return StringOf(FieldOf(record, field.name), field.name);
}

namespace {

// KEY=VALUE, or a record of several. Nothing after a reported error.
std::optional<OptionValue::Dict> ReadConfig(Reader& reader) {
  if (reader.Peek() == '{') {
    const std::optional<OptionValue> value = reader.ReadValue();
    return value ? std::optional(*value->as_dict()) : std::nullopt;
  }
  reader.AtEnd();
  const size_t begin = reader.position();
  std::string key(reader.TakeWord());
  const SourceSpan key_span = reader.SpanFrom(begin);
  if (key.empty()) {
    reader.Error("expected the key of a configuration option");
    return std::nullopt;
  }
  if (!reader.Expect('=', fmt::format("and a value after '{}'", key))) return std::nullopt;
  std::optional<OptionValue> value = reader.ReadValue();
  if (!value) return std::nullopt;
  return OptionValue::Dict{{std::move(key), *std::move(value), key_span}};
}

}  // namespace

std::optional<OptionValue::Dict> ParseConfig(std::string_view text, uint32_t base, DiagnosticEngine& diagnostics) {
  Reader reader(text, base, Reader::Words::Bare, diagnostics);
  OptionValue::Dict config;
  do {
    std::optional<OptionValue::Dict> more = ReadConfig(reader);
    if (!more) return std::nullopt;
    std::ranges::move(*more, std::back_inserter(config));
  } while (reader.Consume(','));
  if (!reader.failed() && !reader.AtEnd()) reader.Error("expected ',' or the end of the configuration options");
  if (reader.failed()) return std::nullopt;
  return config;
}

}  // namespace iropt

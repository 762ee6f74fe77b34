// Values of pass options and of configuration: JSON values with their source spans.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "iropt/diag/source.h"

namespace iropt {

class DiagnosticEngine;

class OptionValue {
 public:
  struct Entry;
  using List = std::vector<OptionValue>;
  using Dict = std::vector<Entry>;  // in the order of writing; keys are unique

  // NOLINTBEGIN(google-explicit-constructor): a table of defaults reads better without casts
  OptionValue();
  OptionValue(bool value);
  OptionValue(int value);
  OptionValue(int64_t value);
  OptionValue(double value);
  OptionValue(std::string value);
  OptionValue(std::string_view value);
  OptionValue(const char* value);
  OptionValue(List value);
  OptionValue(Dict value);
  // NOLINTEND(google-explicit-constructor)
  OptionValue(const OptionValue&);
  OptionValue(OptionValue&&) noexcept;
  OptionValue& operator=(const OptionValue&);
  OptionValue& operator=(OptionValue&&) noexcept;
  ~OptionValue();

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  const bool* as_bool() const { return std::get_if<bool>(&data_); }
  const int64_t* as_int() const { return std::get_if<int64_t>(&data_); }
  const double* as_double() const { return std::get_if<double>(&data_); }
  const std::string* as_string() const { return std::get_if<std::string>(&data_); }
  const List* as_list() const { return std::get_if<List>(&data_); }
  List* as_list() { return std::get_if<List>(&data_); }
  const Dict* as_dict() const { return std::get_if<Dict>(&data_); }
  bool is_dict() const { return as_dict() != nullptr; }
  // Those of a dict; none if this is not one.
  std::span<const Entry> entries() const;
  Dict* as_dict() { return std::get_if<Dict>(&data_); }

  // "a number", "a list", ...: for messages.
  std::string_view KindName() const;
  // The value under `key` of a dict; null if there is none or this is not a dict.
  const OptionValue* Find(std::string_view key) const;

  SourceSpan span() const { return span_; }
  void set_span(SourceSpan span) { span_ = span; }

  // Equality of values; spans do not count.
  friend bool operator==(const OptionValue& a, const OptionValue& b);

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, List, Dict> data_;
  SourceSpan span_;
};

struct OptionValue::Entry {
  std::string key;
  OptionValue value;
  SourceSpan key_span = {};

  friend bool operator==(const Entry& a, const Entry& b) { return a.key == b.key && a.value == b.value; }
};

// Reads strict JSON from a text that is not a source of its own, such as a file that an option names. Errors are
// located at `whole`; nothing after an error.
std::optional<OptionValue> ReadOptionValue(std::string_view json, SourceSpan whole, DiagnosticEngine& diagnostics);

// The text for the options of a pipeline string: JSON, with words instead of strings if that is unambiguous.
std::string ToString(const OptionValue& value);
// Prints the value as strict JSON.
std::string ToJson(const OptionValue& value);

}  // namespace iropt

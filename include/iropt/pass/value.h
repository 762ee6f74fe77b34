// Values of pass options and of configuration: what JSON can say, with the place where it was written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "iropt/diag/source.h"

namespace iropt {

class Value {
 public:
  struct Entry;
  using List = std::vector<Value>;
  using Dict = std::vector<Entry>;  // in the order of writing; keys are unique

  // NOLINTBEGIN(google-explicit-constructor): a table of defaults reads better without casts
  Value();
  Value(bool value);
  Value(int value);
  Value(int64_t value);
  Value(double value);
  Value(std::string value);
  Value(std::string_view value);
  Value(const char* value);
  Value(List value);
  Value(Dict value);
  // NOLINTEND(google-explicit-constructor)
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  const bool* as_bool() const { return std::get_if<bool>(&data_); }
  const int64_t* as_int() const { return std::get_if<int64_t>(&data_); }
  const double* as_double() const { return std::get_if<double>(&data_); }
  const std::string* as_string() const { return std::get_if<std::string>(&data_); }
  const List* as_list() const { return std::get_if<List>(&data_); }
  List* as_list() { return std::get_if<List>(&data_); }
  const Dict* as_dict() const { return std::get_if<Dict>(&data_); }
  Dict* as_dict() { return std::get_if<Dict>(&data_); }

  // "a number", "a list", ...: for messages.
  std::string_view KindName() const;
  // The value under `key` of a dict; null where there is none or this is no dict.
  const Value* Find(std::string_view key) const;

  SourceSpan span() const { return span_; }
  void set_span(SourceSpan span) { span_ = span; }

  // Equality of what is said, wherever it was written.
  friend bool operator==(const Value& a, const Value& b);

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, List, Dict> data_;
  SourceSpan span_;
};

struct Value::Entry {
  std::string key;
  Value value;
  SourceSpan key_span = {};

  friend bool operator==(const Entry& a, const Entry& b) { return a.key == b.key && a.value == b.value; }
};

// The spelling that the options of a pipeline string take: JSON, with words in place of strings where that is
// unambiguous.
std::string ToString(const Value& value);
// The same in strict JSON.
std::string ToJson(const Value& value);

}  // namespace iropt

// Options as a pipeline file has them, made of typed ones.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "iropt/pass/option_value.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

// Collects the options that were set, in the order of the calls of Write.
class OptionWriter {
 public:
  template <class T>
  void Write(const TypedOption<T>& option) {
    if (option.is_set()) Add(option.name(), ValueOf(*option));
  }
  // Collects a choice, if it was set. `words` are those of the enumerators of E, from 0 on.
  template <class E>
  requires std::is_enum_v<E>
  void Write(const TypedOption<E>& option, std::initializer_list<std::string_view> words) {
    if (option.is_set()) Add(option.name(), OptionValue(words.begin()[static_cast<size_t>(*option)]));
  }

  // Collects an option that is given by its value, if it is.
  template <class T>
  void Write(std::string_view name, const std::optional<T>& value) {
    if (value) Add(name, ValueOf(*value));
  }
  template <class E>
  requires std::is_enum_v<E>
  void Write(std::string_view name, const std::optional<E>& value, std::initializer_list<std::string_view> words) {
    if (value) Add(name, OptionValue(words.begin()[static_cast<size_t>(*value)]));
  }

  OptionValue::Dict Take() { return std::move(options_); }

 private:
  template <class T>
  static OptionValue ValueOf(const T& value) {
    return OptionValue(value);
  }
  static OptionValue ValueOf(DataType dtype) { return OptionValue(dtype.ToString()); }
  static OptionValue ValueOf(const std::optional<DataType>& dtype) { return dtype ? ValueOf(*dtype) : OptionValue(""); }
  static OptionValue ValueOf(const std::vector<std::string>& texts) {
    return OptionValue(OptionValue::List(texts.begin(), texts.end()));
  }
  static OptionValue ValueOf(const std::vector<LocatedName>& names) {
    OptionValue::List list;
    for (const LocatedName& name : names) list.emplace_back(name.name);
    return list;
  }
  void Add(std::string_view name, OptionValue value) { options_.push_back({std::string(name), std::move(value)}); }

  OptionValue::Dict options_;
};

}  // namespace iropt

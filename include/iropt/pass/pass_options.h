// Typed options: of passes, and of the configuration of a PassContext.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/dtype.h"
#include "iropt/pass/option_value.h"
#include "iropt/pass/pass_info.h"
#include "iropt/pass/text_reader.h"

namespace iropt {

enum class OptionType : uint8_t {
  Bool,
  Int,
  Float,
  String,
  StringList,
  Json,    // any value, which the pass itself interprets
  Phases,  // passes for the phases of a named pipeline, see ReadPhases in pipeline.h
  Record,  // a dict with options of its own
};

// "a boolean", "a list of strings", ...
std::string_view OptionTypeName(OptionType type);

struct OptionSpec {
  std::string name;
  OptionType type;
  OptionValue default_value;
  std::string summary;
  std::vector<OptionSpec> fields = {};    // of a record, whose default is made of theirs
  std::vector<std::string> choices = {};  // of a string: the allowed values; empty if all are
  bool is_path = false;                   // a string is the path of a file, relative to the pipeline file that has it
};

// The values of an option in words: "a number", "one of depth-first, breadth-first", ...
std::string DescribeValues(const OptionSpec& spec);

// Converts `value` to the type of the option: an integer becomes a floating-point number, 0 and 1 become booleans, a
// record gets its missing fields. Reports values that do not fit; `what` names the option in messages.
bool CheckOption(const OptionSpec& spec, std::string_view what, OptionValue& value, DiagnosticEngine& diagnostics);

// Converts a dict of options, each as CheckOption does; the result has every option of `specs` in their order. `owner`
// names the owner of the options in messages ("pass 'FoldConstant'").
bool CheckOptions(std::span<const OptionSpec> specs, std::string_view owner, OptionValue::Dict& options,
                  DiagnosticEngine& diagnostics);

// A name with its location.
struct LocatedName {
  std::string name;
  SourceSpan span;
};

// An option with a value of type T: bool, int64_t, double, std::string, std::vector<std::string>,
// std::vector<LocatedName>, an enum for a choice, DataType for a choice of dtypes, std::optional<DataType> if "" is one
// of them, or OptionValue for any value. The passes of passes.def and the instruments of instruments.def have structs
// of these, see scripts/tables.
template <class T>
class TypedOption {
 public:
  // Its value is read by CheckedOptions::Read, or set.
  explicit TypedOption(std::string_view name) : name_(name) {}

  std::string_view name() const { return name_; }
  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }
  // The span of the value; unknown for a default.
  SourceSpan span() const { return span_; }

  // Sets the value for an OptionWriter.
  void Set(T value) {
    value_ = std::move(value);
    is_set_ = true;
  }
  bool is_set() const { return is_set_; }

 private:
  friend class CheckedOptions;

  std::string_view name_;
  T value_ = {};
  SourceSpan span_;
  bool is_set_ = false;
};

// Options as CheckOptions leaves them: complete, with values of their types. An option that they do not have, or
// another type, is a bug.
class CheckedOptions {
 public:
  // `owner` is that of CheckOptions.
  CheckedOptions(std::string owner, OptionValue::Dict options)
      : owner_(std::move(owner)), options_(std::move(options)) {}

  const std::string& owner() const { return owner_; }
  bool Bool(std::string_view name) const;
  int64_t Int(std::string_view name) const;
  double Float(std::string_view name) const;
  const std::string& String(std::string_view name) const;
  std::vector<std::string> StringList(std::string_view name) const;
  const OptionValue& Json(std::string_view name) const { return Get(name); }

  // The span of the value; unknown for a default.
  SourceSpan SpanOf(std::string_view name) const { return Get(name).span(); }

  // Sets the value and the span of the option by its name.
  template <class T>
  void Read(TypedOption<T>& option) const {
    Assign(option.name_, option.value_);
    option.span_ = SpanOf(option.name_);
  }
  // Sets the value and the span of a choice by its name. The enumerators of E are those of `words`, from 0 on.
  template <class E>
  requires std::is_enum_v<E>
  void Read(TypedOption<E>& option, std::initializer_list<std::string_view> words) const {
    option.value_ = static_cast<E>(IndexOfChoice(option.name_, words));
    option.span_ = SpanOf(option.name_);
  }

 private:
  const OptionValue& Get(std::string_view name) const;
  const OptionValue::List& List(std::string_view name) const;
  size_t IndexOfChoice(std::string_view name, std::initializer_list<std::string_view> words) const;
  void Assign(std::string_view name, bool& value) const { value = Bool(name); }
  void Assign(std::string_view name, int64_t& value) const { value = Int(name); }
  void Assign(std::string_view name, double& value) const { value = Float(name); }
  void Assign(std::string_view name, std::string& value) const { value = String(name); }
  void Assign(std::string_view name, std::vector<std::string>& value) const { value = StringList(name); }
  void Assign(std::string_view name, std::vector<LocatedName>& value) const;
  void Assign(std::string_view name, DataType& value) const;
  void Assign(std::string_view name, std::optional<DataType>& value) const;
  void Assign(std::string_view name, OptionValue& value) const { value = Json(name); }

  std::string owner_;
  OptionValue::Dict options_;
};

// The argument of a pass factory: the row of the pass and its options. A factory refuses values that the types of the
// options allow but the pass does not, and returns a pass nevertheless, which is not run.
class PassOptions : public CheckedOptions {
 public:
  PassOptions(PassInfo info, OptionValue::Dict options, DiagnosticEngine& diagnostics, const TextReader* reader);

  const PassInfo& info() const { return info_; }

  // Reports "option 'NAME' of pass 'PASS' MESSAGE" at the value, or at the wrong part of it.
  void Refuse(std::string_view name, std::string_view message) const;
  void Refuse(std::string_view name, SourceSpan part, std::string_view message) const;
  template <class T>
  void Refuse(const TypedOption<T>& option, std::string_view message) const {
    Refuse(option.name(), option.span(), message);
  }
  template <class T>
  void Refuse(const TypedOption<T>& option, SourceSpan part, std::string_view message) const {
    Refuse(option.name(), part, message);
  }
  // The entries of an option that must be a dict, and is refused with the message otherwise.
  std::span<const OptionValue::Entry> Entries(const TypedOption<OptionValue>& option, std::string_view message) const {
    if (!option->is_dict()) Refuse(option, message);
    return option->entries();
  }
  // The option as an integer that is not negative, which is refused otherwise.
  int64_t Count(std::string_view name) const;
  int64_t Count(const TypedOption<int64_t>& option) const { return Count(option.name()); }
  // The engine for errors of factories, and the reader of TVMScript values; null if there is none.
  DiagnosticEngine& diagnostics() const { return diagnostics_; }
  const TextReader* reader() const { return reader_; }

 private:
  PassInfo info_;
  DiagnosticEngine& diagnostics_;
  const TextReader* reader_;
};

}  // namespace iropt

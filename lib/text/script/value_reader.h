// Values of Python that both levels have: numbers, strings, lists, metadata entries, arguments of calls, and Python's
// own functions.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "arguments.h"
#include "iropt/support/arena.h"
#include "parser_core.h"

namespace iropt::text {

// A name that stands for no node of the IR: a list, or a number or text that T.meta_var keeps out of the function.
struct ValueSymbol : NoneAttr {
  PyValue value;
  explicit ValueSymbol(const PyValue& v) : value(v) {}
};

class ValueReader : public ParserCore {
 public:
  using ParserCore::ParserCore;
  using Kind = PyValue::Kind;

  // "expected X, found Y".
  Failed WrongValue(const PyValue& value, std::string_view expected) {
    ReportWrongValue(value, expected, diag_);
    return {};
  }
  // Returns whether an integer literal is one of int64, or R.const(...) takes it; false after an error.
  bool InRange(const PyValue& value) {
    return !value.beyond_int64 || any_integer_ ||
           Error(value.span, "bad-number", "this integer exceeds the range of int64");
  }

  // Within R.const, whose elements may be any integers that its type has.
  void set_any_integer(bool any) { any_integer_ = any; }

  bool ParseNumber(PyValue& out);
  bool ParseString(PyValue& out);
  // At `metadata["kind"][i]`: the entry, which exists. Null after an error.
  const Node* ParseMetadataEntry();

  // ---- Lists
  // A list with a name may stand in a list twice, and that list again: a short text could fill the memory.
  static constexpr size_t kMostItems = 1 << 18;
  // A list of copies of the items.
  PyValue ListOf(Kind kind, std::span<const PyValue> items, Span span) {
    return PyValue(kind, scratch_.Copy(items), span);
  }
  // x, or the items of a starred list.
  bool AddItem(const PyValue& item, bool star, PyValues& items);
  Failed TooLong(Span span);

  // ---- Arguments
  template <size_t N>
  bool Bind(const PyArgs& args, std::string_view what, const std::string_view (&names)[N], size_t required,
            const PyValue* (&out)[N]) {
    return BindArguments(args, what, names, required, out, diag_);
  }
  bool CountArgs(const PyArgs& args, std::string_view what, size_t least, size_t most) {
    return CountArguments(args, what, least, most, diag_);
  }

  // ---- Python's functions: len, list, tuple, max, min, bool, int and float of values that the text gives
  static bool IsPythonFunction(std::string_view name);
  bool CallPython(std::string_view name, const PyArgs& args, PyValue& out);
  // The value of __host_N(args) from the program around the script.
  bool CallHost(std::string_view name, const PyArgs& args, bool is_prim_func, PyValue& out);
  // The first character after the current name that is not a blank.
  char CharAfterName() const;

 protected:
  Arena scratch_;  // lists of values, until the function was read

 private:
  bool Extreme(bool most, const PyArgs& args, PyValue& out);

  bool any_integer_ = false;
};

}  // namespace iropt::text

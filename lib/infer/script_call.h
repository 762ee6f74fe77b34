// The arguments of a script call between being bound to the signature and being converted to operands and attributes.
#pragma once

#include <array>

#include "iropt/infer/script_value.h"

namespace iropt {

struct BoundArguments {
  // More than any signature of the table has; checked where the table's rows are bound.
  static constexpr size_t kMaxParams = 24;

  const OpInfo* op;
  Span span;
  Workspace& workspace;
  DiagnosticEngine& diagnostics;
  const Module* module;
  // By parameter; null where the script says nothing. Not used for the parameter that takes the rest.
  std::array<const ScriptValue*, kMaxParams> values{};
  std::span<const ScriptValue> rest;

  // Where the value of the parameter is kept; the parameter must exist.
  const ScriptValue*& operator[](std::string_view param);
  // Whether the script gives the parameter, and not as None.
  static bool Given(const ScriptValue* value) { return value && value->kind != ScriptValue::Kind::kNone; }
  // A value that lives as long as the call.
  const ScriptValue* Keep(ScriptValue value);
};

// Changes what a script gave before it is converted, for the operators whose script functions have rules of their own.
// False after a reported error.
bool AdjustArguments(BoundArguments& bound);

}  // namespace iropt

// The arguments of a script call between being bound to the signature and being converted to operands and attributes.
#pragma once

#include <array>

#include "iropt/infer/py_value.h"

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
  std::array<const PyValue*, kMaxParams> values{};
  std::span<const PyValue> rest;

  // Where the value of the parameter is kept; the parameter must exist.
  const PyValue*& operator[](std::string_view param);
  // Whether the script gives the parameter, and not as None.
  static bool Given(const PyValue* value) { return value && value->kind != PyValue::Kind::kNone; }
  // A value that lives as long as the call.
  const PyValue* Keep(PyValue value);
};

// Changes what a script gave before it is converted, for the operators whose script functions have rules of their own.
// False after a reported error.
bool AdjustArguments(BoundArguments& bound);

}  // namespace iropt

// The arguments of a script call between being bound to the signature and being converted to operands and attributes.
#pragma once

#include <array>

#include "iropt/infer/py_value.h"

namespace iropt {

struct BoundArguments {
  // More than any signature of the table has; checked when the table's rows are bound.
  static constexpr size_t kMaxParams = 24;

  const OpInfo* op;
  Span span;
  Workspace& workspace;
  DiagnosticEngine& diagnostics;
  const Module* module;
  // By parameter; null if not given. Not used for the parameter that takes the rest.
  std::array<const PyValue*, kMaxParams> values{};
  std::span<const PyValue> rest;

  // The slot for the value of the parameter; the parameter must exist.
  const PyValue*& operator[](std::string_view param);
  // Returns whether the script gives the parameter, and not as None.
  static bool Given(const PyValue* value) { return value && value->kind != PyValue::Kind::kNone; }
  // A value that lives as long as the call.
  const PyValue* Keep(PyValue value);
};

// Changes the arguments before they are converted, for the operators whose script functions have rules of their own.
// False after a reported error.
bool AdjustArguments(BoundArguments& bound);

}  // namespace iropt

// Binding the arguments of a call in the text to the parameters of what is called.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "iropt/infer/py_value.h"

namespace iropt::text {

// "1 index", "2 indices", for messages.
std::string Counted(size_t n, std::string_view one, std::string_view many);

// `out` gets the argument of each parameter, null if it is absent; the first `required` parameters need one. False
// after a reported error: too many arguments, an unknown keyword (with the nearest name), two for one parameter, or a
// missing one. `what` is how messages call the function.
bool BindArguments(const PyArgs& args, std::string_view what, std::span<const std::string_view> names, size_t required,
                   std::span<const PyValue*> out, DiagnosticEngine& diagnostics);
// Returns whether there are so many positional arguments; false after a reported error.
bool CountArguments(const PyArgs& args, std::string_view what, size_t least, size_t most,
                    DiagnosticEngine& diagnostics);

// "an integer", "a buffer".
std::string_view KindName(PyValue::Kind kind);
// "expected X, found Y".
void ReportWrongValue(const PyValue& value, std::string_view expected, DiagnosticEngine& diagnostics);

}  // namespace iropt::text

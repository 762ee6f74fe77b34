// TVMScript inside programs in Python: the decorated functions and classes, and what they need of the text around them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/lsp/text_document.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/lookup.h"

namespace iropt::lsp {

struct PythonScripts {
  // From the line of the decorator to the end of the body, in the order of the text.
  std::vector<TextSpan> regions;
  // Lines of the program that scripts need: the imports of script modules, without indentation, and names with numbers
  // and strings, such as N = 16.
  std::string prologue;
  // The names that the imports give the modules, with the usual one: ("tir_script", "T").
  std::vector<std::pair<std::string_view, std::string_view>> aliases;
  // The names that the program around the regions uses: a script may take their values.
  LookupSet<std::string_view> names;
};

// The result has views of the text. Linear; a text that is not complete, as while it is written, is read as far as it
// can be.
PythonScripts FindPythonScripts(std::string_view text);

// Returns whether a name in code of Python has a property; strings, comments, and names after a dot do not count.
bool AnyPythonName(std::string_view code, FunctionRef<bool(std::string_view)> has_property);

}  // namespace iropt::lsp

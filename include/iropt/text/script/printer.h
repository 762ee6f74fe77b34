// The printer: modules as TVMScript, in the form of TVM 0.18's mod.script(show_meta=True).
#pragma once

#include <cstdint>
#include <string>

#include "iropt/ir/module.h"
#include "iropt/support/file.h"

namespace iropt {

struct PrintOptions {
  // Arrays of up to this many elements are printed as R.const([...], dtype) instead of going to the metadata section.
  int64_t inline_constants = 0;
  // Print the metadata section. Without it the text of a module with big constants can't be read back.
  bool show_meta = true;
  // Print every annotation, also those that TVM omits because they follow from the value.
  bool show_all_types = false;
  // Functions are printed by up to this many threads; the text is the same for any number.
  int threads = 1;
};

// Prints the module: functions in TVM's order (TIR, external, Relax, then main; by name within each), with a newline at
// the end. O(nodes). Any module can be printed, also an ill-formed one.
void PrintModule(const Module& module, const PrintOptions& options, OutputStream& out);
std::string ModuleToString(const Module& module, const PrintOptions& options = {});

// One Relax expression without variables, such as ParseExpression reads; its arrays are printed in their places.
std::string ExpressionToString(const Expr* expr);

}  // namespace iropt

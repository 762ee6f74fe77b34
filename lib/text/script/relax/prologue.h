// What has to be known of a graph-level function before its first line is printed: the symbolic variables that its
// prologue defines, in the order in which printing meets them, whether it refers to other functions, and which
// constants go to the metadata section.
#pragma once

#include <unordered_set>
#include <vector>

#include "iropt/infer/print/prim_printer.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/text/script/printer.h"
#include "text/script/printer_core.h"

namespace iropt::text {

struct RelaxPrologue {
  // In order; null stands for the module alias, `cls = Module`.
  std::vector<const tir::Var*> lines;
  // How many of the lines come from the signature, before the function's attributes.
  size_t signature_lines = 0;
  std::unordered_set<const tir::Var*> introduced;  // by the signature
  std::vector<const Constant*> constants;
  std::vector<const ObjectAttr*> arrays;  // among the attribute values
  size_t num_bindings = 0;
  bool uses_tir = false;
  // For each nested function, outermost first, whether loop-level names have been used when its text ends: TVM repeats
  // the header of the module before nested functions.
  std::vector<uint8_t> nested_uses_tir;
};

// One walk over the function. O(nodes).
RelaxPrologue ScanPrologue(const Function* function, const PrintOptions& options);

// Adds what the text of an attribute value uses: imports, and entries of the metadata section.
void ScanAttrValue(const Attr* attr, ScriptDialect mode, PrefixUse& use, std::vector<const ObjectAttr*>& arrays);

// Whether the constant is printed in place, as R.const(...).
bool IsInlineConstant(const Constant* constant, const PrintOptions& options);

}  // namespace iropt::text

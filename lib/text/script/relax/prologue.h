// Facts about a Relax function that are needed before its first line is printed: the symbolic variables that its
// prologue defines, in printing order, whether it refers to other functions, and which constants go to the metadata
// section.
#pragma once

#include <algorithm>
#include <span>
#include <unordered_set>
#include <vector>

#include "iropt/infer/print/prim_printer.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/text/script/printer.h"
#include "text/script/printer_core.h"

namespace iropt::text {

struct RelaxPrologue {
  // Symbolic variables that are parameters themselves, def f(n: T.int64): from 0.26 on.
  std::vector<const tir::Var*> scalar_params;
  // In order; null stands for the module alias, `cls = Module`.
  std::vector<const tir::Var*> lines;
  // The number of lines from the signature, before the function's attributes.
  size_t signature_lines = 0;
  std::unordered_set<const tir::Var*> introduced;  // by the signature
  std::vector<const Constant*> constants;
  std::vector<const Attr*> attr_entries;  // of the metadata section: arrays and long strings among attributes
  size_t num_bindings = 0;

  // The symbolic variables that 0.27 declares before the function.
  std::span<const tir::Var* const> type_vars() const { return std::span(lines).first(signature_lines); }
  bool uses_tir = false;

  struct Nested {
    // Whether TIR names have been used when the text of the function ends: TVM repeats the header of the module before
    // nested functions.
    bool uses_tir = false;
    // The symbolic variables that the signature introduces: 0.26 declares them in the body, 0.27 before the function.
    // Older versions have them in the body of the outermost function.
    std::vector<const tir::Var*> type_vars;
    // The lines of its own, from 0.27 on. Older versions have these, too, in the body of the outermost function.
    std::vector<const tir::Var*> lines;
  };
  std::vector<Nested> nested;  // outermost first

  bool has_nested_type_vars() const {
    return std::ranges::any_of(nested, [](const Nested& function) { return !function.type_vars.empty(); });
  }
};

// One walk over the function. O(nodes).
RelaxPrologue ScanPrologue(const Function* function, const PrintOptions& options, TextVersion version);

// The symbolic variable that the parameter of this type is; null for other types.
const tir::Var* ScalarParam(const Type* type);

// Adds the uses in the text of an attribute value: imports, and entries of the metadata section.
void ScanAttrValue(const Attr* attr, ScriptDialect mode, PrefixUse& use, std::vector<const Attr*>& entries);

// Returns whether the constant is printed inline, as R.const(...).
bool IsInlineConstant(const Constant* constant, const PrintOptions& options);

}  // namespace iropt::text

// The printer: modules as TVMScript, in the form of mod.script(show_meta=True) of a version of TVM.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/file.h"
#include "iropt/support/text_version.h"

namespace iropt {

// Arrays that are printed as references to tensors in files; the hashes of the tensors are known.
using ExternalArrays = std::unordered_map<const NDArray*, FileTensor>;

struct PrintOptions {
  // The version of TVM whose text is printed; without one, that of the text that the module was read from, or 0.18.
  std::optional<TextVersion> version = std::nullopt;
  // From version 0.27 on, print symbolic variables as type parameters (PEP 695), as TVM does under Python 3.12 and
  // newer.
  bool pep695 = false;
  // Arrays of up to this many elements are printed as R.const([...], dtype) instead of going to the metadata section.
  int64_t inline_constants = 0;
  // Print the metadata section. Without it the text of a module with big constants can't be read back.
  bool show_meta = true;
  // Print every annotation, also those that TVM omits because they follow from the value.
  bool show_all_types = false;
  // Functions are printed by up to this many threads; the text is the same for any number.
  int threads = 1;
  // Arrays to refer to in files, besides those that were read from such references.
  const ExternalArrays* external = nullptr;
  // Arrays in the metadata section of more bytes are left out; reading the text reports that their data is missing.
  int64_t elide_larger_than = INT64_MAX;
  // Without the metadata section, refer to constants that are not inline by hashes of their data instead of numbers, so
  // that the texts of two modules can be compared.
  bool hash_constants = false;
  // The folder that the paths of these files are relative to; empty for the current one. Absolute paths are kept.
  std::string folder = {};
  // Loops and blocks whose heads stand between kMarkBegin and kMarkEnd, which occur nowhere else in the text; null for
  // none. Of loops that share a line, the variable does.
  const std::unordered_set<const Node*>* marked = nullptr;
  // Functions, bindings and statements end with a comment that says where they come from (diag/location_comment.h), by
  // these sources; null for no comments.
  const SourceManager* locations = nullptr;
};

inline constexpr char kMarkBegin = '\x01';
inline constexpr char kMarkEnd = '\x02';

// Prints the module: functions in TVM's order (TIR, external, Relax, then main; by name within each), with a newline at
// the end. O(nodes). Any module can be printed, also an ill-formed one. A type beyond the limits of CheckTextSize is
// printed without its fields.
void PrintModule(const Module& module, const PrintOptions& options, OutputStream& out);
std::string ModuleToString(const Module& module, const PrintOptions& options = {});

// Returns whether the text of the module stays within limits. Types share their parts (t1 = (t0, t0), t2 = (t1, t1),
// ...) but are printed in full, so a few lines can give more text than there is memory. Otherwise reports the variable
// with the type that is too big, and returns false. O(bindings).
bool CheckTextSize(const Module& module, DiagnosticEngine& diagnostics);

// Returns whether the text of the version of the module (Module::text_version) has everything that the module uses.
// Otherwise reports each operator, attribute and statement that it lacks. O(nodes).
bool CheckTextVersion(const Module& module, DiagnosticEngine& diagnostics);

// One Relax expression without variables, such as ParseExpression reads; its arrays are printed in their places.
std::string ExpressionToString(const Expr* expr);
// One expression on scalars, such as ParseScalar reads.
std::string ScalarToString(const PrimExpr* expr);
// A statement of a function of the module as it stands there, without declarations of what only the rest of the
// function defines.
std::string StatementToString(const Module& module, const PrimFunc* func, const tir::Stmt* stmt);

}  // namespace iropt

// The reader of TVMScript.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/diag/source.h"
#include "iropt/ir/module.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/result.h"
#include "iropt/text/script/host.h"
#include "iropt/text/script/reading.h"

namespace iropt {

// Opens the tensor that a text refers to, with the path that the text has. The array has the hash and the span of the
// argument as its source.
using TensorOpener = std::function<Result<std::shared_ptr<const NDArray>>(FileTensor)>;

struct ParseOptions {
  // Function bodies are read by up to this many threads; the result and the order of diagnostics are the same for any
  // number.
  int threads = 1;
  // Called by any thread with parts of the text that are no longer needed, except for diagnostics.
  std::function<void(std::string_view)> on_read = nullptr;
  // For constants whose values are in files; without it, a text that has such constants is an error.
  TensorOpener open_tensor = nullptr;
  // Gets what is read, also in spite of errors, and the places of names; what it has of the same functions is not read
  // again. Null if nobody asks.
  Reading* reading = nullptr;
  // The version of texts that could be of every one.
  std::optional<TextVersion> unknown_version = std::nullopt;
  // Statements T.name(...), where T has no such name, are calls of a function that is outside of the module, with the
  // memory and the variables that they name as operands.
  bool allow_unknown_calls = false;
  // The module or function may be indented, as in a function of a program in Python.
  bool may_be_indented = false;
  // Answers the calls of __host_N(...) in the text; null if there are none. Functions are then read one by one.
  ScriptHost* host = nullptr;
};

// Reads a module from `text`, whose first byte has the global source offset `base` (SourceManager::AddBuffer).
// Functions outside a class make a module, too. Missing annotations are inferred, nested expressions are flattened into
// bindings. A buffer whose name is a hint and a number that the printer adds again has the hint (docs/ir.md, "Names in
// text"). nullopt after one or more located errors were reported; the reader recovers and reports several. Linear in
// the text; names and strings are copied, so the text may be freed afterwards (diagnostics need it).
std::optional<Module> ParseModule(std::string_view text, uint32_t base, const ParseOptions& options,
                                  DiagnosticEngine& diagnostics);

// Reads one Relax expression without free variables, such as R.add(R.const(1), R.const(2)).
const Expr* ParseExpression(std::string_view text, uint32_t base, Workspace& workspace, DiagnosticEngine& diagnostics);

// Returns whether the text of an expression uses operators of Relax, R.add and so on.
bool IsRelaxExpression(std::string_view text);

// Reads one expression on scalars, such as T.floordiv(x * 8 + y, 8). A name that means nothing else is a variable: one
// of `variables`, or a new one of dtype int32, which is added to them. a < b < c is a < b and b < c.
const PrimExpr* ParseScalar(std::string_view text, uint32_t base, std::vector<const tir::Var*>& variables,
                            Workspace& workspace, DiagnosticEngine& diagnostics);
// Reads a new variable with its dtype: n: T.int64, or n: "int64". Nothing, without a message, if the text does not
// begin with a name and a colon; null after an error.
std::optional<const tir::Var*> ParseDeclaration(std::string_view text, uint32_t base, Workspace& workspace,
                                                DiagnosticEngine& diagnostics);

// The scope of a part of a module.
struct ParseScope {
  const Module& module;                             // for virtual devices and other global infos
  std::span<const tir::Var* const> variables = {};  // the later of two with the same name counts
};

// Reads a type as in a signature, R.Tensor(("n", 4), "float32"), with or without the quotes: a name that is not in
// scope becomes a new symbolic variable.
const Type* ParseType(std::string_view text, uint32_t base, const ParseScope& scope, Workspace& workspace,
                      DiagnosticEngine& diagnostics);
// Reads an attribute value, I.vdevice("cuda", 1).
const Attr* ParseAttribute(std::string_view text, uint32_t base, const ParseScope& scope, Workspace& workspace,
                           DiagnosticEngine& diagnostics);

}  // namespace iropt

// The families of edits that ir-reduce makes. A new one is a row of Reductions().
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "edits.h"
#include "test_case.h"

namespace iropt {

struct Reduction {
  std::string_view name;  // in statistics and on the progress line
  // Makes the edits that `edits` takes, and offers all that are possible. The result may be ill-formed.
  void (*rewrite)(Draft& draft, Edits& edits);
  // Makes edits of the text, for those that concern all levels alike. One of the two is null.
  std::string (*rewrite_text)(std::string_view text, Edits& edits) = nullptr;
};

// In the order in which they are tried: those first that remove most.
std::span<const Reduction> Reductions();

// ---- Pipelines
// Remove passes, groups around passes, and settings of the pipeline.
void ReducePipeline(Draft& draft, Edits& edits);

// ---- Modules
// Remove functions; bindings that refer to them go, too.
void RemoveFunctions(Draft& draft, Edits& edits);
// Lift local functions to the module.
void LiftFunctions(Draft& draft, Edits& edits);
// Remove unused parameters, also from the calls.
void RemoveParams(Draft& draft, Edits& edits);
// Remove attributes of functions and of the module, and its global infos.
void RemoveAttributes(Draft& draft, Edits& edits);

// ---- Relax functions
// Remove bindings; the variables that are used nevertheless become parameters.
void RemoveBindings(Draft& draft, Edits& edits);
// Replace a binding by an operand of the same type.
void ForwardOperands(Draft& draft, Edits& edits);
// Return one field of a tuple, or the last variable instead of a parameter.
void NarrowResults(Draft& draft, Edits& edits);
// Turn constants into parameters.
void RemoveConstants(Draft& draft, Edits& edits);
// Replace conditionals by a branch.
void InlineBranches(Draft& draft, Edits& edits);
// Turn dataflow blocks into plain ones.
void OpenDataflowBlocks(Draft& draft, Edits& edits);
// Replace symbolic variables by 1.
void BindSymbolicVars(Draft& draft, Edits& edits);

// ---- PrimFuncs
// Remove statements.
void RemoveStatements(Draft& draft, Edits& edits);
// Replace statements by what they contain: loops by one iteration, conditionals by a branch, blocks by their body.
void UnwrapStatements(Draft& draft, Edits& edits);
// Remove axes, initializations, regions, buffers, annotations and predicates of blocks, kinds of loops, else branches.
void RemoveClauses(Draft& draft, Edits& edits);
// Replace scalar expressions by an operand or by zero.
void SimplifyExpressions(Draft& draft, Edits& edits);

// ---- All levels
// Replace an integer by 1, or by 2, wherever it occurs: sizes stay consistent.
std::string ReplaceIntegersByOne(std::string_view text, Edits& edits);
std::string ReplaceIntegersByTwo(std::string_view text, Edits& edits);

}  // namespace iropt

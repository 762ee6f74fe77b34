// Questions about modules: which expressions match a pattern, such as
//
//   relu(conv2d(_, w))              a call of R.nn.relu on the result of R.nn.conv2d
//   R.add(x, x)                     a name stands for the same operand wherever it occurs, _ for any
//   matmul(_, permute_dims(const, axes=[1, 0]))
//                                   `const` is a constant; attributes that are not named may have any value
//   split(_)[0]                     an item of a result
//   relu(_) | gelu(_)               one or the other
//
// An operator is written as in scripts; a name without a prefix is that of R, or the end of one: conv2d is R.nn.conv2d.
// Operands that are not written may be any. What the pattern sees of an operand is what its variable is bound to, also
// in another block. The operands of R.add and R.multiply match in either order.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/driver/compiler_options.h"
#include "iropt/driver/driver_options.h"
#include "iropt/ir/module.h"
#include "iropt/ir/relax/pattern.h"

namespace iropt {

struct QueryMatch {
  std::string_view function;
  std::string_view variable;  // that the expression is bound to
  SourceSpan span;            // of the expression
  // The operands that the names of the pattern match: variables by their names, others in words.
  std::vector<std::pair<std::string, std::string>> operands = {};
};

class Query {
 public:
  // The text begins at the source offset `base`. Reports the first error and returns nothing then. The context that is
  // current must be that of the modules that are asked.
  static std::optional<Query> Parse(std::string_view text, uint32_t base, DiagnosticEngine& diagnostics);

  // In the order of the module. The matches refer to it. O(bindings) for each operator of the pattern's root.
  std::vector<QueryMatch> FindIn(const Module& module) const;

 private:
  Query(Pattern pattern, std::vector<std::pair<std::string, Pattern>> names)
      : pattern_(std::move(pattern)), names_(std::move(names)) {}

  Pattern pattern_;
  std::vector<std::pair<std::string, Pattern>> names_;
};

struct QueryOptions {
  CompilerOptions compiler;
  std::vector<std::string> plugins = {};  // shared objects with operators
  std::vector<std::string> inputs;        // files; "-" is the standard input
  std::string query;
  ShownForm form = ShownForm::Text;
  std::string split_marker = {};  // files hold several modules between such lines; empty: one
};

// The exit code of -query if nothing matches, as that of grep.
inline constexpr int kNoMatches = 1;

// Prints a line for each match, "FILE:LINE:COLUMN: FUNCTION: text of the line", and the number of matches at the end;
// or one JSON object a line. Files that cannot be read are reported, and the others are searched nevertheless. Returns
// 0 if something matches, kNoMatches if nothing does, else the exit code of the first error.
int RunQuery(const QueryOptions& options);

}  // namespace iropt

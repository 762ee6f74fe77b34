// Upper bounds of dimensions, from what a function's attributes say about its symbolic variables.
#pragma once

#include <cstdint>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/int_set.h"
#include "iropt/eval/relax/value_type.h"
#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/support/lookup.h"
#include "iropt/support/result.h"

namespace iropt {

class ShapeBounds {
 public:
  ShapeBounds() : analyzer_({}, arith::Analyzer::SymVars::kAny) {}

  // Takes over the attributes tir_var_upper_bound and tir_var_lower_bound, the greatest and the least values by the
  // names of variables, and tir_non_negative_var, a list of names. They apply to the variables of the function's
  // signature; a least value without a greatest one only says that there are no negative ones. Fails if they are
  // malformed.
  Status Add(const Function& function);

  // The greatest value that the dimension can have: a constant, an expression of variables without a bound, or the
  // dimension itself.
  const PrimExpr* UpperBound(const PrimExpr* dim);
  std::vector<const PrimExpr*> UpperBounds(List<const PrimExpr*> dims);
  // Returns the same expression for sizes that are provably equal: the first of them that was asked for. Amortized O(1)
  // proofs, unless different sizes have the same value for the test values.
  const PrimExpr* EqualSize(const PrimExpr* size);

 private:
  int64_t TestValue(const tir::Var* var);

  Workspace workspace_;
  arith::Analyzer analyzer_;
  arith::VarDomains domains_;
  LookupMap<const PrimExpr*, const PrimExpr*> equal_size_;
  // The sizes that are different, by the values that they have if variables have test values: only those with the same
  // value can be equal.
  LookupMap<int64_t, std::vector<const PrimExpr*>> by_value_;
  SymbolValues test_values_;
};

}  // namespace iropt

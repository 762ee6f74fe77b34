// The values of bindings, for analyses that look through these.
#pragma once

#include <cstddef>

#include "iropt/ir/tir/substitute.h"

namespace iropt::tir {

// The values of variables, written by what is bound outside of them as long as they are small: values that use several
// others double at every step.
//
//   x1 = x0 + x0;  x2 = x1 + x1;  ...  x40 = x39 + x39      # written by x0, the last one has 2^40 parts
class WrittenValues {
 public:
  // An expression has as many parts as nodes.
  static constexpr std::size_t kMaxParts = 128;
  static std::size_t NumParts(const PrimExpr* expr);

  explicit WrittenValues(Workspace& workspace) : workspace_(workspace) {}

  // Returns whether the value is small. The variable is unknown otherwise, and stays where it is used: all that can be
  // said is that it has one value from here to the end of its scope. O(parts of the value).
  bool Bind(const Var* var, const PrimExpr* value);
  // The variable has a value that is not looked through.
  void BindUnknown(const Var* var);
  void Unbind(const Var* var);

  // The expression by what is bound outside, and by unknown variables.
  const PrimExpr* Of(const PrimExpr* expr) const { return Substitute(expr, values_, workspace_); }
  bool IsKnown(const Var* var) const { return values_.contains(var); }
  // Returns whether what Of returned uses an unknown variable.
  bool UsesUnknown(const PrimExpr* written) const;

 private:
  Workspace& workspace_;
  VarValues values_;
  LookupMap<const Var*, std::size_t> parts_;  // of values_
  LookupSet<const Var*> unknown_;
};

}  // namespace iropt::tir

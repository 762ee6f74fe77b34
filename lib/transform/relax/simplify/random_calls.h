#pragma once

#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/support/lookup.h"

namespace iropt {

// Finds values that random numbers are drawn for: two computations of such a value differ, although the types of its
// calls say that these are pure. R.nn.dropout and ONNX's random operators draw, functions that call them, and functions
// that are not known, such as parameters.
class RandomCalls {
 public:
  explicit RandomCalls(const Module* module) : module_(module) {}

  // Has a variable stand for its value, before the value is visited, if that may be called.
  void NoteCallee(const Var* var, const Expr* value);
  // O(nodes of the value and of the functions that it refers to); functions that do not draw are looked at once.
  bool Draws(const Expr* value);

 private:
  const Module* module_;
  LookupMap<const Var*, const Expr*> callees_;
  LookupSet<const Function*> silent_;  // do not draw
};

}  // namespace iropt

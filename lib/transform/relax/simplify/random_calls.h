#pragma once

#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/support/lookup.h"

namespace iropt {

// Finds values that random numbers are drawn for: two computations of such a value differ, although the types of its
// calls say that these are pure. R.nn.dropout and ONNX's random operators draw, and functions that call them.
class RandomCalls {
 public:
  explicit RandomCalls(const Module* module) : module_(module) {}

  // Has calls of the variable count as calls of the local function.
  void NoteLocalFunction(const Var* var, const Function* function) { local_.insert_or_assign(var, function); }
  // O(nodes of the value and of the functions that it refers to); functions that do not draw are looked at once.
  bool Draws(const Expr* value);

 private:
  const Module* module_;
  LookupMap<const Var*, const Function*> local_;
  LookupSet<const Function*> silent_;  // do not draw
};

}  // namespace iropt

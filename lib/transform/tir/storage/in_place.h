// The operands that a statement can write its result over.
#pragma once

#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"

namespace iropt {

// Tells of a statement that stores to `target`, and does not read it, whether it reads an element of another pointer
// only to store the same element of `target`, so that both can share their memory. Loops that store an element again
// and again are refused if no condition depends on their variables.
class InPlaceOperands {
 public:
  // O(nodes).
  InPlaceOperands(const tir::Stmt* stmt, const tir::Var* target);
  bool Has(const tir::Var* source) const { return is_possible_ && !refused_.contains(source); }

 private:
  LookupSet<const tir::Var*> refused_;
  bool is_possible_;
};

}  // namespace iropt

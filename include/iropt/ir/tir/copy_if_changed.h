// The end of a function of a mutator that visits the parts of a node itself.
#pragma once

#include "iropt/ir/module.h"

namespace iropt::tir {

// The node if the copy has the same fields, else the copy in the workspace.
//
//   const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
//     tir::LetStmt copy = *let;
//     copy.value = VisitExpr(let->value);
//     copy.body = InScope(let->body);
//     return CopyIfChanged(let, copy, workspace());
//   }
template <class X>
const X* CopyIfChanged(const X* node, const X& copy, Workspace& workspace) {
  const bool is_same =
      X::Fields()([&](auto... field) { return ((node->*(field.member) == copy.*(field.member)) && ...); });
  return is_same ? node : workspace.New<X>(copy);
}

}  // namespace iropt::tir

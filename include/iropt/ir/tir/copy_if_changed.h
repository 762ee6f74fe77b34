// The end of a function of a mutator that visits the parts of a node itself.
#pragma once

#include "iropt/ir/module.h"

namespace iropt::tir {

// Returns whether two nodes have the same parts: the same values, pointers and lists of these.
template <class X>
bool HaveSameParts(const X& a, const X& b) {
  return FieldsEqual(a, b, [](auto, const auto& x, const auto& y) { return x == y; });
}

// The node if the copy has the same parts, else the copy in the workspace.
//
//   const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
//     tir::LetStmt copy = *let;
//     copy.value = VisitExpr(let->value);
//     copy.body = InScope(let->body);
//     return CopyIfChanged(let, copy, workspace());
//   }
template <class X>
const X* CopyIfChanged(const X* node, const X& copy, Workspace& workspace) {
  return HaveSameParts(*node, copy) ? node : workspace.New<X>(copy);
}

}  // namespace iropt::tir

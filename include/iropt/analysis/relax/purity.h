// Effects of code beyond its value.
#pragma once

#include "iropt/ir/module.h"

namespace iropt {

// The first call in `e` that has side effects, or null. The bodies of nested functions do not count: they run when the
// function is called. Calls of `self`, the function that `e` is the body of, do not count either. Without a module,
// calls of global functions count as impure. Linear.
const Call* FindImpureCall(const Expr* e, const Module* module, const Expr* self = nullptr);

inline bool ContainsImpureCall(const Expr* e, const Module* module, const Expr* self = nullptr) {
  return FindImpureCall(e, module, self) != nullptr;
}

// Returns whether `e` may be evaluated any number of times, or not at all.
inline bool IsPure(const Expr* e, const Module* module) { return FindImpureCall(e, module) == nullptr; }

}  // namespace iropt

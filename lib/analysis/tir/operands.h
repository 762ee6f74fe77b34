// The scalar expressions directly below a scalar expression.
#pragma once

#include <type_traits>

#include "iropt/ir/relax/visitor.h"

namespace iropt {

// Calls f(const PrimExpr*) for each operand of `e`, in the order of its fields. Expressions that introduce variables or
// refer to buffers (Let, Reduce and the loads) have other parts, which the caller must handle.
template <class F>
void ForEachOperand(const PrimExpr& e, F&& f) {
  ForEachChild(&e, [&](const auto* child) {
    if constexpr (std::is_base_of_v<PrimExpr, std::remove_cvref_t<decltype(*child)>>) f(child);
  });
}

}  // namespace iropt

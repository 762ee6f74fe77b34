#include <algorithm>

#include "iropt/ir/dispatch.h"
#include "iropt/ir/structural.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

bool SameOperand(const PrimExpr* a, const PrimExpr* b) { return DeepEqual(a, b); }
bool SameOperand(List<const PrimExpr*> a, List<const PrimExpr*> b) { return DeepEqual(a, b); }
// Everything else is a value, or a node with identity.
template <class T>
bool SameOperand(const T& a, const T& b) {
  return a == b;
}

}  // namespace

bool DeepEqual(const PrimExpr* a, const PrimExpr* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->kind != b->kind || a->dtype != b->dtype) return false;
  // Binders would need a renaming, and an expression that binds is never canonicalized.
  if (tir::Var::ClassOf(a->kind) || Is<tir::Let>(a) || Is<tir::Reduce>(a)) return false;
  // Of long chains, the ends are compared first: that is where the parts of one differ.
  if (const auto* x = As<tir::BinaryExpr>(a); x && x->a->kind == a->kind) {
    const auto* y = static_cast<const tir::BinaryExpr*>(b);
    return WithStack([&] { return DeepEqual(x->b, y->b) && DeepEqual(x->a, y->a); });
  }
  return WithStack([&] {
    return DispatchIn<NodeGroup::kPrim>(a, [&]<class X>(const X* x) {
      return FieldsEqual(*x, *static_cast<const X*>(b),
                         [](auto, const auto& p, const auto& q) { return SameOperand(p, q); });
    });
  });
}

bool DeepEqual(std::span<const PrimExpr* const> a, std::span<const PrimExpr* const> b) {
  return std::ranges::equal(a, b, [](const PrimExpr* x, const PrimExpr* y) { return DeepEqual(x, y); });
}

}  // namespace iropt

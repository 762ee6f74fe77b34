// The scalar expressions directly below a scalar expression.
#pragma once

#include "iropt/ir/tir.h"

namespace iropt {

// Calls f(const PrimExpr*) for each operand of `e` in the order in which they are printed. Buffers, producers, reductions and
// the variable of a Let are the caller's to deal with: they define or declare more than an operand.
template <class F>
void ForEachOperand(const PrimExpr& e, F&& f) {
  const auto each = [&](List<const PrimExpr*> list) {
    for (const PrimExpr* item : list) f(item);
  };
  switch (e.kind) {
    case NodeKind::kCast: return f(static_cast<const tir::Cast&>(e).value);
    case NodeKind::kNot: return f(static_cast<const tir::Not&>(e).a);
    case NodeKind::kSelect: {
      const auto& select = static_cast<const tir::Select&>(e);
      f(select.condition), f(select.true_value), f(select.false_value);
      return;
    }
    case NodeKind::kPrimCall: return each(static_cast<const tir::Call&>(e).args);
    case NodeKind::kRamp: {
      const auto& ramp = static_cast<const tir::Ramp&>(e);
      f(ramp.base), f(ramp.stride), f(ramp.lanes);
      return;
    }
    case NodeKind::kBroadcast: {
      const auto& broadcast = static_cast<const tir::Broadcast&>(e);
      f(broadcast.value), f(broadcast.lanes);
      return;
    }
    case NodeKind::kShuffle: {
      const auto& shuffle = static_cast<const tir::Shuffle&>(e);
      each(shuffle.vectors), each(shuffle.indices);
      return;
    }
    default:
      if (tir::BinaryExpr::ClassOf(e.kind)) {
        const auto& binary = static_cast<const tir::BinaryExpr&>(e);
        f(binary.a), f(binary.b);
      }
  }
}

}  // namespace iropt

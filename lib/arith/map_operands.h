// A node with its operands mapped.
#pragma once

#include <type_traits>
#include <vector>

#include "iropt/arith/prim_builder.h"

namespace iropt::arith {

// A copy of the node, an X, with its operands mapped by `f`, or the node itself if no operand changes.
template <class X, class F>
const PrimExpr* MapFields(const PrimExpr* e, F& f, const PrimBuilder& make) {
  X copy = *static_cast<const X*>(e);
  copy.flags = 0;
  bool changed = false;
  const auto mapped = [&](const PrimExpr* operand) {
    const PrimExpr* result = operand ? f(operand) : nullptr;
    changed = changed || result != operand;
    return result;
  };
  std::vector<const PrimExpr*> items;
  ForEachField(static_cast<const X*>(e), [&](auto field, const auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, const PrimExpr*>) {
      copy.*(field.member) = mapped(value);
    } else if constexpr (std::is_same_v<T, List<const PrimExpr*>>) {
      items.clear();
      for (const PrimExpr* item : value) items.push_back(mapped(item));
      if (changed) copy.*(field.member) = make.Operands(items);
    }
  });
  return changed ? make.Keep(copy) : e;
}

// The same for a node of any kind. Leaves, and expressions that bind variables, are returned as they are.
template <class F>
const PrimExpr* MapOperands(const PrimExpr* e, F& f, const PrimBuilder& make) {
  switch (e->kind) {
    case NodeKind::kPrimVar:
    case NodeKind::kSizeVar:
    case NodeKind::kIntImm:
    case NodeKind::kFloatImm:
    case NodeKind::kPrimStringImm:
    case NodeKind::kLet:
    case NodeKind::kReduce: return e;
    case NodeKind::kCast: return MapFields<tir::Cast>(e, f, make);
    case NodeKind::kNot: return MapFields<tir::Not>(e, f, make);
    case NodeKind::kSelect: return MapFields<tir::Select>(e, f, make);
    case NodeKind::kPrimCall: return MapFields<tir::Call>(e, f, make);
    case NodeKind::kBufferLoad: return MapFields<tir::BufferLoad>(e, f, make);
    case NodeKind::kProducerLoad: return MapFields<tir::ProducerLoad>(e, f, make);
    case NodeKind::kRamp: return MapFields<tir::Ramp>(e, f, make);
    case NodeKind::kBroadcast: return MapFields<tir::Broadcast>(e, f, make);
    case NodeKind::kShuffle: return MapFields<tir::Shuffle>(e, f, make);
    default: {
      const auto* binary = To<tir::BinaryExpr>(e);
      const PrimExpr* a = f(binary->a);
      const PrimExpr* b = f(binary->b);
      return a == binary->a && b == binary->b ? e : make.Node(e->kind, a, b);
    }
  }
}

}  // namespace iropt::arith

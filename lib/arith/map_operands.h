// A node with its operands mapped.
#pragma once

#include <array>
#include <type_traits>
#include <vector>

#include "iropt/arith/prim_builder.h"

namespace iropt::arith {

// The list with its items mapped by `f`, or the list itself if no item changes. `items` holds the new ones.
template <class F>
List<const PrimExpr*> MapItems(List<const PrimExpr*> list, F& f, const PrimBuilder& make,
                               std::vector<const PrimExpr*>& items) {
  for (uint32_t i = 0; i < list.size(); ++i) {
    const PrimExpr* result = f(list[i]);
    if (items.empty() && result == list[i]) continue;
    if (items.empty()) {
      items.reserve(list.size());
      items.assign(list.begin(), list.begin() + i);
    }
    items.push_back(result);
  }
  return items.empty() ? list : make.Operands(items);
}

// A copy of the node, an X, with its operands mapped by `f`, or the node itself if no operand changes.
template <class X, class F>
const PrimExpr* MapFields(const PrimExpr* e, F& f, const PrimBuilder& make) {
  X copy = *static_cast<const X*>(e);
  copy.flags = 0;
  bool changed = false;
  std::array<std::vector<const PrimExpr*>, 2> items;  // of each list, because interning copies lists at the end
  size_t num_lists = 0;
  ForEachField(static_cast<const X*>(e), [&](auto field, const auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, const PrimExpr*>) {
      if (!value) return;
      copy.*(field.member) = f(value);
      changed = changed || copy.*(field.member) != value;
    } else if constexpr (std::is_same_v<T, List<const PrimExpr*>>) {
      const T mapped = MapItems(value, f, make, items[num_lists++]);
      changed = changed || mapped.begin() != value.begin();
      copy.*(field.member) = mapped;
    }
  });
  return changed ? make.Keep(copy) : e;
}

// Maps the operands of a node of any kind by `f`, as MapFields does. Leaves, and expressions that bind variables, are
// returned as they are.
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

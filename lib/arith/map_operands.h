// A node with its operands mapped.
#pragma once

#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/map_list.h"

namespace iropt::arith {

// A new list of operands until a node is made, which owns a copy.
class OperandBuffer {
 public:
  std::span<const PrimExpr*> Copy(std::span<const PrimExpr* const> items) {
    items_.assign(items.begin(), items.end());
    return items_;
  }

 private:
  std::vector<const PrimExpr*> items_;
};

// A copy of the node, an X, with its operands mapped by `f`, or the node itself if no operand changes.
template <class X, class F>
const PrimExpr* MapFields(const PrimExpr* e, F& f, const PrimBuilder& make) {
  X copy = *static_cast<const X*>(e);
  copy.flags = 0;
  bool changed = false;
  std::array<OperandBuffer, 2> buffers;
  size_t num_lists = 0;
  ForEachField(static_cast<const X*>(e), [&](auto field, const auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, const PrimExpr*>) {
      if (!value) return;
      copy.*(field.member) = f(value);
      changed = changed || copy.*(field.member) != value;
    } else if constexpr (std::is_same_v<T, List<const PrimExpr*>>) {
      const T mapped = MapList(value, buffers[num_lists++], f);
      if (IsSameList(mapped, value)) return;
      copy.*(field.member) = make.Operands(mapped);
      changed = true;
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

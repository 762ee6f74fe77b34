#include "iropt/arith/fact_table.h"

#include <array>
#include <bit>
#include <type_traits>

#include "iropt/ir/dispatch.h"
#include "iropt/support/hash.h"

namespace iropt::arith {
namespace {

// What tells a node from others of its kind and dtype, other than its operands.
uint64_t Identity(const PrimExpr* e) {
  if (const int64_t* value = AsInt(e)) return static_cast<uint64_t>(*value);
  if (tir::Var::ClassOf(e->kind)) return reinterpret_cast<uintptr_t>(e);
  const auto* real = As<tir::FloatImm>(e);
  // 0.0 is equal to -0.0.
  return real && real->value != 0 ? std::bit_cast<uint64_t>(real->value) : 0;
}

template <class F>
void ForEachOperandOf(const PrimExpr* e, F&& f) {
  if (const auto* binary = As<tir::BinaryExpr>(e)) {
    f(binary->a);
    return f(binary->b);
  }
  DispatchIn<NodeGroup::kPrim>(e, [&](const auto* node) {
    ForEachField(node, [&](auto, const auto& value) {
      using V = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<V, const PrimExpr*>) {
        f(value);
      } else if constexpr (std::is_same_v<V, List<const PrimExpr*>>) {
        for (const PrimExpr* operand : value) f(operand);
      }
    });
  });
}

}  // namespace

uint32_t FactHash(const PrimExpr* e) {
  constexpr size_t kMostNodes = 24;
  std::array<const PrimExpr*, kMostNodes> nodes;  // breadth-first
  nodes[0] = e;
  size_t count = 1;
  uint64_t hash = 0;
  for (size_t i = 0; i < count; ++i) {
    const PrimExpr* node = nodes[i];
    hash = HashCombine(hash, static_cast<uint64_t>(node->kind) << 32 | node->dtype.raw());
    hash = HashCombine(hash, Identity(node));
    ForEachOperandOf(node, [&](const PrimExpr* operand) {
      if (operand && count < kMostNodes) nodes[count++] = operand;
    });
  }
  return static_cast<uint32_t>(HashMix(hash));
}

}  // namespace iropt::arith

// The operators by name, for C++: op::kAdd, op::kTirExp. The ids of the operators of ops.def are in headers by family,
// which scripts/tables makes: op::kNnRelu in iropt/op/ops/activation.h, from the rows of ops/activation.def;
// those of intrinsics in iropt/op/intrinsic_ids.h. A source that includes the families it uses is not compiled again
// for a new operator of another one.
#pragma once

#include "iropt/ir/relax/expr.h"
#include "iropt/ir/tir/expr.h"

namespace iropt {

// The values are valid within one build of the library only: those of a family lie one after the other, in the order of
// the rows; the families, the intrinsics and the operators that are not in the tables, because a plugin adds them, are
// apart.
enum class OpId : uint16_t {};

// The number of the first row of intrinsics.def, and that of the first operator that is added.
inline constexpr uint16_t kFirstIntrinsicId = 0x8000;
inline constexpr uint16_t kFirstAddedId = 0xC000;

// All of the following are O(1) and read the id that the node carries.

inline bool IsOp(const Expr* expr, OpId id) {
  return expr->kind == NodeKind::kOp && static_cast<const Op*>(expr)->id == id;
}
template <class... Ids>
bool IsOneOf(const Op& op, Ids... ids) {
  return ((op.id == ids) || ...);
}

// The expression as a call of the operator; null for anything else, null included.
inline const Call* CallOf(const Expr* expr, OpId id) {
  const auto* call = As<Call>(expr);
  return call && IsOp(call->op, id) ? call : nullptr;
}
inline const tir::Call* CallOf(const PrimExpr* expr, OpId id) {
  const auto* call = As<tir::Call>(expr);
  return call && IsOp(call->op, id) ? call : nullptr;
}

}  // namespace iropt

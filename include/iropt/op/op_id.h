// The operators by name, for C++: the ids of IROPT_OP and IROPT_INTRINSIC rows.
#pragma once

#include <cstddef>

#include "iropt/ir/relax/expr.h"
#include "iropt/ir/tir/expr.h"

namespace iropt {

// kTir<id> of intrinsics.def, then k<id> of ops.def: dense, in the order of the rows, so that tables can be indexed.
// The values are valid within one build of the library only. An operator that is not in the tables, because a plugin
// adds it, has a number from kNumOps on.
enum class OpId : uint16_t {
#define IROPT_INTRINSIC(id, ...) kTir##id,
#include "iropt/op/intrinsics.def"
#define IROPT_OP(id, ...) k##id,
#include "iropt/op/ops.def"
};

inline constexpr size_t kNumIntrinsics = 0
#define IROPT_INTRINSIC(...) +1
#include "iropt/op/intrinsics.def"
    ;
inline constexpr size_t kNumGraphOps = 0
#define IROPT_OP(...) +1
#include "iropt/op/ops.def"
    ;
inline constexpr size_t kNumOps = kNumIntrinsics + kNumGraphOps;

// The index in a table of all operators.
constexpr size_t IndexOf(OpId id) { return static_cast<size_t>(id); }

// All of the following are O(1) and read the id that the node carries.

inline bool IsOp(const Expr* expr, OpId id) {
  return expr->kind == NodeKind::kOp && static_cast<const Op*>(expr)->id == id;
}
template <class... Ids>
bool IsOneOf(const Op& op, Ids... ids) {
  return ((op.id == ids) || ...);
}

// Returns whether it is one of R.inspect.*, which look at a tensor at run time. Their rows are adjacent.
constexpr bool IsInspection(OpId id) {
  return id >= OpId::kInspectTensorByteOffset && id <= OpId::kInspectTensorStrideI;
}

// call_tir and its variants, which call a PrimFunc with a tuple of operands.
constexpr bool IsCallTir(OpId id) {
  return id == OpId::kCallTir || id == OpId::kCallTirInplace || id == OpId::kCallTirWithGrad;
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

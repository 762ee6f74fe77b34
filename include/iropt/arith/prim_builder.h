// Makes scalar expressions: where they are stored, and the folding that every construction does.
//
// A builder without an arena interns what it makes in the current IRContext (dimensions of types); a builder with an
// arena allocates there (loop-level code). The folding constructors (Add, FloorDiv, ...) bring the operands to a common
// dtype, fold constants and drop neutral operands as TVM's operators do, so that expressions built here print as TVM
// prints them. Folding is exact: a result that its dtype cannot hold, and a division by zero, are left as expressions.
#pragma once

#include <cstdint>
#include <optional>

#include "iropt/ir/tir/expr.h"
#include "iropt/support/arena.h"

namespace iropt::arith {

class PrimBuilder {
 public:
  PrimBuilder() = default;
  explicit PrimBuilder(Arena& arena) : arena_(&arena) {}

  const PrimExpr* Int(int64_t value, DataType dtype = DataType::Int(64)) const;
  const PrimExpr* Float(double value, DataType dtype) const;
  const PrimExpr* Bool(bool value) const { return Int(value, DataType::Bool()); }
  // The constant of a scalar or vector dtype.
  const PrimExpr* Const(int64_t value, DataType dtype) const;

  // The node as it stands, without folding. The operands have one dtype.
  const PrimExpr* Node(NodeKind kind, const PrimExpr* a, const PrimExpr* b) const;
  // A node that the caller made: taken over as it is with an arena, canonical otherwise. `node` is copied.
  template <class T>
  const PrimExpr* Keep(const T& node) const {
    return arena_ ? arena_->New<T>(node) : Canonical(&node);
  }
  // A list of operands that lives as long as the nodes made here. Interning copies lists itself.
  List<const PrimExpr*> Operands(std::span<const PrimExpr* const> items) const {
    return arena_ ? List<const PrimExpr*>(arena_->Copy(items)) : List<const PrimExpr*>(items);
  }

  // With matching of dtypes and folding.
  const PrimExpr* Binary(NodeKind kind, const PrimExpr* a, const PrimExpr* b) const;
  const PrimExpr* Add(const PrimExpr* a, const PrimExpr* b) const { return Binary(NodeKind::kAdd, a, b); }
  const PrimExpr* Sub(const PrimExpr* a, const PrimExpr* b) const { return Binary(NodeKind::kSub, a, b); }
  const PrimExpr* Mul(const PrimExpr* a, const PrimExpr* b) const { return Binary(NodeKind::kMul, a, b); }
  const PrimExpr* TruncDiv(const PrimExpr* a, const PrimExpr* b) const { return Binary(NodeKind::kDiv, a, b); }
  const PrimExpr* TruncMod(const PrimExpr* a, const PrimExpr* b) const { return Binary(NodeKind::kMod, a, b); }
  const PrimExpr* FloorDiv(const PrimExpr* a, const PrimExpr* b) const { return Binary(NodeKind::kFloorDiv, a, b); }
  const PrimExpr* FloorMod(const PrimExpr* a, const PrimExpr* b) const { return Binary(NodeKind::kFloorMod, a, b); }
  const PrimExpr* Min(const PrimExpr* a, const PrimExpr* b) const { return Binary(NodeKind::kMin, a, b); }
  const PrimExpr* Max(const PrimExpr* a, const PrimExpr* b) const { return Binary(NodeKind::kMax, a, b); }
  const PrimExpr* CeilDiv(const PrimExpr* a, const PrimExpr* b) const {
    return FloorDiv(Add(a, Sub(b, Const(1, b->dtype))), b);
  }
  const PrimExpr* Not(const PrimExpr* a) const;
  const PrimExpr* Select(const PrimExpr* cond, const PrimExpr* a, const PrimExpr* b) const;
  const PrimExpr* Cast(DataType dtype, const PrimExpr* value) const;

 private:
  static const PrimExpr* Canonical(const PrimExpr* node);

  Arena* arena_ = nullptr;
};

// The folded result of an operation, or null where nothing folds. The operands have one dtype.
const PrimExpr* TryFold(NodeKind kind, const PrimExpr* a, const PrimExpr* b, const PrimBuilder& make);

// The operation on 64-bit integers (comparisons give 0 or 1); nothing where the result overflows or a divisor is 0.
std::optional<int64_t> FoldIntegers(NodeKind kind, int64_t a, int64_t b);

// ---- Integer helpers

// The value of an integer constant.
inline const int64_t* AsInt(const PrimExpr* e) {
  return e->kind == NodeKind::kIntImm ? &static_cast<const tir::IntImm*>(e)->value : nullptr;
}
inline bool IsInt(const PrimExpr* e, int64_t value) {
  return e->kind == NodeKind::kIntImm && static_cast<const tir::IntImm*>(e)->value == value;
}

// Index arithmetic is done in these dtypes; only they are simplified as mathematical integers.
constexpr bool IsIndexType(DataType t) { return t.is_int() && t.is_scalar() && (t.bits == 32 || t.bits == 64); }

// Division and remainder towards negative infinity. b is not 0, and not (INT64_MIN, -1).
constexpr int64_t FloorDivInt(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }
constexpr int64_t FloorModInt(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
// Exact results, or nothing where 64 bits do not hold them.
inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}
inline std::optional<int64_t> CheckedSub(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}
inline std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}
// Greatest common divisor of the magnitudes, where 0 is divisible by everything.
int64_t ZeroAwareGcd(int64_t a, int64_t b);

// Structural equality of scalar expressions; variables are equal to themselves alone. O(1) for interned expressions.
bool DeepEqual(const PrimExpr* a, const PrimExpr* b);

}  // namespace iropt::arith

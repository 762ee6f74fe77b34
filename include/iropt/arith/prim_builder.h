// Builds scalar expressions, with the storage of the nodes and the folding at construction.
//
// A builder without an arena interns what it makes in the current IRContext (dimensions of types); a builder with an
// arena allocates there (TIR code). The folding constructors (Add, FloorDiv, ...) bring the operands to a common dtype,
// fold constants and drop neutral operands as TVM's operators do, so that expressions built here print as TVM prints
// them. A division by zero is left as an expression.
//
// TIR code computes modulo 2^bits, and so do its constants when they fold. Dimensions are mathematical integers: there,
// and for a builder made by Exact(), a result that its dtype cannot hold is left as an expression.
//
// Where the versions of TVM simplify to different forms, code takes the form of the version of its module. Dimensions,
// which the modules of a context share, have one form for all versions: that of TVM 0.18.
//
// The constructors need operands that match; Check<Constructor> describes the error in operands of user input:
//
//   if (const auto error = arith::CheckBinary(NodeKind::kAdd, a, b)) return Report(error->message, error->operand);
//   const PrimExpr* sum = arith::PrimBuilder(workspace).Add(a, b);
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "iropt/arith/const_fold.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/arena.h"
#include "iropt/support/text_version.h"

namespace iropt::arith {

// Operations on the bits of integers; the nodes are calls of tir.shift_left and so on.
enum class BitOp : uint8_t { kShiftLeft, kShiftRight, kAnd, kOr, kXor };

class PrimBuilder {
 public:
  constexpr PrimBuilder() = default;
  explicit PrimBuilder(Workspace& workspace) : PrimBuilder(workspace.arena(), workspace.version()) {}
  PrimBuilder(Arena& arena, TextVersion version) : arena_(&arena), wraps_(true), version_(version) {}

  // A copy of the builder that leaves results beyond the limits of their dtype as expressions.
  PrimBuilder Exact() const;
  // A copy of the builder whose nodes get this source span. Converted operands keep their own.
  PrimBuilder At(Span span) const;
  bool wraps() const { return wraps_; }
  // The version of TVM to whose forms an Analyzer with this builder simplifies.
  TextVersion version() const { return version_; }

  // For unsigned dtypes modulo 2^bits. A uint64 from 2^63 on is a call, see op/large_uint.h.
  const PrimExpr* Int(int64_t value, DataType dtype = DataType::Int(64)) const;
  const PrimExpr* Float(double value, DataType dtype) const;
  const PrimExpr* Bool(bool value) const { return Int(value, DataType::Bool()); }
  // The constant of a scalar or vector dtype.
  const PrimExpr* Const(int64_t value, DataType dtype) const;
  // The number of lanes of a vector dtype, in the canonical form of nodes: 4, or T.vscale() * 4.
  const PrimExpr* Lanes(DataType dtype) const;

  // The node without folding. The operands have one dtype.
  const PrimExpr* Node(NodeKind kind, const PrimExpr* a, const PrimExpr* b) const;
  // A node that the caller made: copied unchanged into the arena, or else the canonical node. `node` is copied.
  template <class T>
  const PrimExpr* Keep(const T& node) const {
    if (!arena_) return Canonical(&node);
    T* kept = arena_->New<T>(node);
    if (span_.known()) kept->set_span(span_);
    return kept;
  }
  // A list of operands that lives as long as the nodes made here. Interning copies lists itself.
  List<const PrimExpr*> Operands(std::span<const PrimExpr* const> items) const {
    return arena_ ? List<const PrimExpr*>(arena_->Copy(items)) : List<const PrimExpr*>(items);
  }

  // With matching of dtypes and folding. The operands are such that CheckBinary finds nothing but a division by zero.
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
  // Brings both operands to the dtype of PromoteDTypes.
  void Match(const PrimExpr*& a, const PrimExpr*& b) const;
  const PrimExpr* Not(const PrimExpr* a) const;
  const PrimExpr* Select(const PrimExpr* cond, const PrimExpr* a, const PrimExpr* b) const;
  // Constants, broadcasts and integer ramps are converted themselves; other expressions become a Cast, and a scalar
  // with a vector dtype becomes a Broadcast. An integer that the dtype cannot hold stays an operand of a Cast.
  const PrimExpr* Cast(DataType dtype, const PrimExpr* value) const;
  // `lanes` copies of a scalar.
  const PrimExpr* Broadcast(const PrimExpr* value, const PrimExpr* lanes) const;
  // base, base + stride, ...: `lanes` of them. The stride takes the dtype of the base.
  const PrimExpr* Ramp(const PrimExpr* base, const PrimExpr* stride, const PrimExpr* lanes) const;
  // Folds only for index dtypes, as in TVM.
  const PrimExpr* Bitwise(BitOp op, const PrimExpr* a, const PrimExpr* b) const;

 private:
  static const PrimExpr* Canonical(const PrimExpr* node);
  const PrimExpr* WrappedUInt(int64_t value, DataType dtype) const;
  const PrimExpr* CastVector(DataType dtype, const PrimExpr* value) const;

  Arena* arena_ = nullptr;
  bool wraps_ = false;
  TextVersion version_ = TextVersion::kV0_18;
  Span span_;
};

// The folded result of an operation, or null if nothing folds. The operands have one dtype.
const PrimExpr* TryFold(NodeKind kind, const PrimExpr* a, const PrimExpr* b, const PrimBuilder& make);

// ---- Errors in operands

struct OperandError {
  std::string message;
  const PrimExpr* operand = nullptr;  // the operand in error; null: all of them together
};

// Operands that do not match, `//` and `%` of operands that are not integers, division by the constant 0. Constants
// that the common dtype cannot hold wrap around.
std::optional<OperandError> CheckBinary(NodeKind kind, const PrimExpr* a, const PrimExpr* b);
std::optional<OperandError> CheckMatch(const PrimExpr* a, const PrimExpr* b);
// Different lanes, handles, integers that the dtype cannot hold.
std::optional<OperandError> CheckCast(DataType dtype, const PrimExpr* value);
std::optional<OperandError> CheckBroadcast(const PrimExpr* value, const PrimExpr* lanes);
std::optional<OperandError> CheckRamp(const PrimExpr* base, const PrimExpr* stride, const PrimExpr* lanes);
// Operands other than integers; a shift of an index dtype by a negative number or by all of its bits.
std::optional<OperandError> CheckBitwise(BitOp op, const PrimExpr* a, const PrimExpr* b);

// The vector dtype of `lanes` copies; a scalable one if lanes is a multiple of T.vscale(). Void if neither holds.
DataType VectorDType(DataType element, const PrimExpr* lanes);

// ---- Inspection

// The value of an integer constant.
inline const int64_t* AsInt(const PrimExpr* e) {
  return e->kind == NodeKind::kIntImm ? &static_cast<const tir::IntImm*>(e)->value : nullptr;
}
inline bool IsInt(const PrimExpr* e, int64_t value) {
  return e->kind == NodeKind::kIntImm && static_cast<const tir::IntImm*>(e)->value == value;
}

}  // namespace iropt::arith

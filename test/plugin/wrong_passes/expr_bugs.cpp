// Wrong rewrites of scalar expressions of loops.
#include <vector>

#include "bugs.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt::wrong {

namespace {

using arith::PrimBuilder;

// Replaces expressions, whose operands are replaced already, by what a function makes of them; null: they stay. Indices
// stay as they are.
using ExprRewrite = std::function<const PrimExpr*(const PrimExpr* expr, const PrimBuilder& make)>;

class ExprRewriter : public tir::StmtExprMutator {
 public:
  ExprRewriter(const ExprRewrite& rewrite, Workspace& workspace)
      : StmtExprMutator(workspace), rewrite_(rewrite), make_(workspace) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    const PrimExpr* visited = StmtExprMutator::VisitExpr(expr);
    const PrimExpr* replacement = rewrite_(visited, make_);
    return replacement ? replacement : visited;
  }

 private:
  const ExprRewrite& rewrite_;
  PrimBuilder make_;
};

LoopBug Replace(const char* name, const char* summary, ExprRewrite rewrite) {
  return {name, summary, [rewrite = std::move(rewrite)](const PrimFunc* function, Workspace& workspace) {
            return ExprRewriter(rewrite, workspace).VisitPrimFunc(function);
          }};
}

template <class T>
const PrimExpr* Renamed(const PrimExpr* expr, NodeKind kind, const PrimBuilder& make) {
  const auto* binary = As<T>(expr);
  return binary ? make.Node(kind, binary->a, binary->b) : nullptr;
}

const PrimExpr* FloorToTrunc(const PrimExpr* expr, const PrimBuilder& make) {
  return Renamed<tir::FloorDiv>(expr, NodeKind::kDiv, make);
}

const PrimExpr* FloorModToMod(const PrimExpr* expr, const PrimBuilder& make) {
  return Renamed<tir::FloorMod>(expr, NodeKind::kMod, make);
}

const PrimExpr* MaxToMin(const PrimExpr* expr, const PrimBuilder& make) {
  return Renamed<tir::Max>(expr, NodeKind::kMin, make);
}

// !(a < b) -> a >= b, which is wrong for NaN.
const PrimExpr* NegateComparison(const PrimExpr* expr, const PrimBuilder& make) {
  const auto* negation = As<tir::Not>(expr);
  return negation ? Renamed<tir::LT>(negation->a, NodeKind::kGE, make) : nullptr;
}

// a <= b -> a < b.
const PrimExpr* StrictComparison(const PrimExpr* expr, const PrimBuilder& make) {
  return Renamed<tir::LE>(expr, NodeKind::kLT, make);
}

// Integers are compared as if they had no sign.
const PrimExpr* UnsignedCompare(const PrimExpr* expr, const PrimBuilder& make) {
  const auto* less = As<tir::LT>(expr);
  if (!less || !less->a->dtype.is_int()) return nullptr;
  const DataType dtype = DataType::UInt(less->a->dtype.bits);
  return make.Node(NodeKind::kLT, make.Cast(dtype, less->a), make.Cast(dtype, less->b));
}

// x * c // c -> x in a narrow dtype, whose products wrap around.
const PrimExpr* CancelNarrowProduct(const PrimExpr* expr, const PrimBuilder&) {
  const auto* quotient = As<tir::FloorDiv>(expr);
  const auto* product = quotient ? As<tir::Mul>(quotient->a) : nullptr;
  const auto* factor = product ? As<tir::IntImm>(product->b) : nullptr;
  const auto* divisor = quotient ? As<tir::IntImm>(quotient->b) : nullptr;
  return factor && divisor && factor->value == divisor->value ? product->a : nullptr;
}

// The bounds of a value before it is converted to a narrower integer.
const PrimExpr* DropSaturation(const PrimExpr* expr, const PrimBuilder& make) {
  const auto* cast = As<tir::Cast>(expr);
  const auto* upper = cast ? As<tir::Min>(cast->value) : nullptr;
  const auto* lower = upper ? As<tir::Max>(upper->a) : nullptr;
  return lower ? make.Cast(cast->dtype, lower->a) : nullptr;
}

// x - x -> 0, which is wrong for infinities and NaNs.
const PrimExpr* SelfDifference(const PrimExpr* expr, const PrimBuilder& make) {
  const auto* difference = As<tir::Sub>(expr);
  const auto* a = difference ? As<tir::BufferLoad>(difference->a) : nullptr;
  const auto* b = difference ? As<tir::BufferLoad>(difference->b) : nullptr;
  return a && b && a->buffer == b->buffer && a->dtype.is_floating() ? make.Float(0, a->dtype) : nullptr;
}

// Constants of floats lose their last digits.
const PrimExpr* RoundConstants(const PrimExpr* expr, const PrimBuilder& make) {
  constexpr double kSteps = 16;
  const auto* real = As<tir::FloatImm>(expr);
  if (!real) return nullptr;
  const double rounded = static_cast<double>(static_cast<int64_t>(real->value * kSteps)) / kSteps;
  return rounded == real->value ? nullptr : make.Float(rounded, real->dtype);
}

// x << c -> x << (c - 1).
const PrimExpr* ShiftByLess(const PrimExpr* expr, const PrimBuilder& make) {
  const auto* call = As<tir::Call>(expr);
  const auto* op = call ? As<Op>(call->op) : nullptr;
  if (!op || op->info->id != op::kTirShiftLeft) return nullptr;
  const auto* distance = As<tir::IntImm>(call->args[1]);
  if (!distance || distance->value < 1) return nullptr;
  return make.Bitwise(arith::BitOp::kShiftLeft, call->args[0], make.Int(distance->value - 1, distance->dtype));
}

}  // namespace

std::span<const LoopBug> ExprBugs() {
  static const std::vector<LoopBug> bugs = {
      Replace("FloorToTrunc", "round quotients of indices towards zero", FloorToTrunc),
      Replace("FloorModToMod", "compute remainders that may be negative", FloorModToMod),
      Replace("MaxToMin", "replace max by min", MaxToMin),
      Replace("NegateComparison", "replace not (a < b) by a >= b", NegateComparison),
      Replace("StrictComparison", "replace a <= b by a < b", StrictComparison),
      Replace("UnsignedCompare", "compare integers without their sign", UnsignedCompare),
      Replace("CancelNarrowProduct", "replace x * c // c by x in any dtype", CancelNarrowProduct),
      Replace("DropSaturation", "drop bounds before conversions", DropSaturation),
      Replace("SelfDifference", "replace x - x by 0", SelfDifference),
      Replace("RoundConstants", "round constants", RoundConstants),
      Replace("ShiftByLess", "shift by one bit less", ShiftByLess),
  };
  return bugs;
}

}  // namespace iropt::wrong

#include "vector_quotients.h"

#include <optional>

#include "iropt/ir/structural.h"

namespace iropt::arith {
namespace {

class VectorQuotient {
 public:
  VectorQuotient(const tir::BinaryExpr* e, Analyzer& analyzer)
      : e_(e),
        ramp_(*To<tir::Ramp>(e->a)),
        divisor_(To<tir::Broadcast>(e->b)->value),
        analyzer_(analyzer),
        make_(analyzer.make()),
        set_(analyzer.bounds().Modular(ramp_.base)) {
    if (set_.coeff != 0) set_.base = FloorModInt(set_.base, set_.coeff);
  }

  // Null if nothing applies.
  const PrimExpr* Simplify() {
    const int64_t stride = *AsInt(ramp_.stride);
    const int64_t divisor = *AsInt(divisor_);
    const bool truncates = e_->kind == NodeKind::kDiv || e_->kind == NodeKind::kMod;
    if (divisor <= 0) return nullptr;
    // Truncation is rounding down only if no lane is negative.
    if (truncates && !analyzer_.CanProveGreaterEqual(ramp_.base, 0)) return nullptr;
    const bool divides = e_->kind == NodeKind::kDiv || e_->kind == NodeKind::kFloorDiv;
    if (IsOneQuotient(stride, divisor)) {
      if (divides) return Broadcast(Apply(ramp_.base));
      return Ramp(Remainder(divisor), ramp_.stride);
    }
    if (divides || !IsMultiple(divisor)) return nullptr;
    if (truncates && stride < 0) return nullptr;
    const PrimExpr* base = Remainder(divisor);
    return DeepEqual(base, ramp_.base) ? nullptr : make_.Node(e_->kind, Ramp(base, ramp_.stride), e_->b);
  }

 private:
  // The base without its remainder is a multiple of the divisor.
  bool IsMultiple(int64_t divisor) const { return set_.coeff % divisor == 0; }

  // Returns whether no lane crosses a multiple of the divisor, whatever the base.
  bool IsOneQuotient(int64_t stride, int64_t divisor) const {
    const int64_t* lanes = AsInt(ramp_.lanes);
    if (!lanes) return false;
    const auto span = CheckedMul(*lanes - 1, stride);
    const auto last = span ? CheckedAdd(set_.base, *span) : std::nullopt;
    if (!last || FloorDivInt(set_.base, divisor) != FloorDivInt(*last, divisor)) return false;
    return IsMultiple(divisor) || (divisor % set_.coeff == 0 && *last < set_.coeff);
  }

  const PrimExpr* Apply(const PrimExpr* base) const { return make_.Binary(e_->kind, base, divisor_); }
  const PrimExpr* Remainder(int64_t divisor) const {
    return IsMultiple(divisor) ? make_.Const(FloorModInt(set_.base, divisor), divisor_->dtype) : Apply(ramp_.base);
  }
  const PrimExpr* Ramp(const PrimExpr* base, const PrimExpr* stride) const {
    return make_.Keep(tir::Ramp(e_->dtype, base, stride, ramp_.lanes));
  }
  const PrimExpr* Broadcast(const PrimExpr* value) const {
    return make_.Keep(tir::Broadcast(e_->dtype, value, ramp_.lanes));
  }

  const tir::BinaryExpr* e_;
  const tir::Ramp& ramp_;
  const PrimExpr* divisor_;
  Analyzer& analyzer_;
  const PrimBuilder& make_;
  ModularSet set_;  // of the base
};

}  // namespace

const PrimExpr* SimplifyVectorQuotient(const tir::BinaryExpr* e, Analyzer& analyzer) {
  const auto* ramp = As<tir::Ramp>(e->a);
  const auto* divisor = As<tir::Broadcast>(e->b);
  if (!ramp || !divisor || !AsInt(ramp->stride) || !AsInt(divisor->value)) return nullptr;
  return VectorQuotient(e, analyzer).Simplify();
}

}  // namespace iropt::arith

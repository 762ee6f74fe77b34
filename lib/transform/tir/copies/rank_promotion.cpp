#include "transform/tir/copies/rank_promotion.h"

#include <algorithm>
#include <limits>

#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt {

namespace {

// Greatest extent of a dimension of the promoted shape.
constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();

// A digit of an index: the values 0 to extent - 1.
struct Digit {
  const PrimExpr* index;
  int64_t extent;
};

// Collects the digits that each occurrence of an iterator selects, without the other terms of the index.
class DigitCollector : public tir::ExprVisitor {
 public:
  DigitCollector(const arith::IterRanges& own, const arith::PrimBuilder& make) : own_(own), make_(make) {}

  std::vector<Digit> digits;
  bool failed = false;

 protected:
  void VisitBinary(const tir::BinaryExpr* expr) override {
    const bool scales =
        expr->kind == NodeKind::kMul || expr->kind == NodeKind::kFloorDiv || expr->kind == NodeKind::kFloorMod;
    if (!scales) return ExprVisitor::VisitBinary(expr);
    const int64_t* operand = arith::AsInt(expr->b);
    if (!operand || *operand < 1 || *operand > kLimit) {
      failed = true;
      return;
    }
    operations_.push_back({expr->kind, *operand});
    VisitExpr(expr->a);
    operations_.pop_back();
  }

  void VisitVar(const tir::Var* var) override {
    const auto* range = own_.Find(var);
    if (!range || failed) return;
    const int64_t* extent = arith::AsInt(range->extent);
    if (!extent || *extent < 1 || *extent > kLimit) {
      failed = true;
      return;
    }
    values_ = {var, *extent, *extent};
    for (auto op = operations_.rbegin(); op != operations_.rend(); ++op) {
      if (!Apply(*op)) {
        failed = true;
        return;
      }
    }
    if (values_.extent == 1) return;
    const PrimExpr* step = make_.Const(values_.end / values_.extent, var->dtype);
    digits.push_back({make_.FloorDiv(values_.index, step), values_.extent});
  }

 private:
  struct Operation {
    NodeKind kind;
    int64_t operand;
  };
  // `extent` values in equal steps from 0 up to, and without, `end`.
  struct Values {
    const PrimExpr* index;
    int64_t extent;
    int64_t end;
  };

  static bool Divides(int64_t a, int64_t b) { return a != 0 && b % a == 0; }
  static bool AreMultiples(int64_t a, int64_t b) { return Divides(a, b) || Divides(b, a); }

  // False if the result is not such values, or if it depends on terms that are added to them.
  bool Apply(const Operation& op) {
    const PrimExpr* operand = make_.Const(op.operand, values_.index->dtype);
    const int64_t step = values_.end / values_.extent;
    if (op.kind == NodeKind::kMul) {
      values_.index = make_.Mul(values_.index, operand);
      values_.end *= op.operand;
      return values_.end <= kLimit;
    }
    if (op.kind == NodeKind::kFloorDiv) {
      if (!AreMultiples(values_.end, op.operand) || !AreMultiples(step, op.operand)) return false;
      values_.index = make_.FloorDiv(values_.index, operand);
      values_.end /= op.operand;
      values_.extent = std::clamp<int64_t>(values_.end, 1, values_.extent);
      return values_.end % values_.extent == 0;
    }
    if (!AreMultiples(step, op.operand)) return false;
    values_.index = make_.FloorMod(values_.index, operand);
    if (step % op.operand == 0) {
      values_.extent = 1;
      values_.end = 0;
    } else {
      values_.extent = std::clamp<int64_t>(op.operand / step, 1, values_.extent);
      values_.end = values_.extent * step;
    }
    return true;
  }

  const arith::IterRanges& own_;
  const arith::PrimBuilder& make_;
  std::vector<Operation> operations_;  // on what is visited, outermost first
  Values values_ = {};
};

}  // namespace

std::optional<PromotedAccess> PromoteRank(std::span<const PrimExpr* const> indices, const arith::IterRanges& own,
                                          const arith::IterRanges& all, arith::Analyzer& analyzer) {
  const arith::PrimBuilder& make = analyzer.make();
  PromotedAccess access;
  for (const PrimExpr* index : indices) {
    DigitCollector collector(own, make);
    collector.VisitExpr(index);
    if (collector.failed) return std::nullopt;
    const tir::Range element(index, make.Const(1, index->dtype));
    if (tir::UsesAnyOf(all, index) && !arith::EstimateIterMap(element, all, nullptr, analyzer)) return std::nullopt;
    int64_t extent = 1;
    const PrimExpr* promoted = make.Int(0, DataType::Int(32));
    for (const Digit& digit : collector.digits) {
      extent *= digit.extent;
      if (extent > kLimit) return std::nullopt;
      promoted = make.Add(make.Mul(promoted, make.Int(digit.extent, DataType::Int(32))), digit.index);
    }
    access.shape.push_back(make.Int(extent, DataType::Int(32)));
    access.indices.push_back(promoted);
  }
  return access;
}

}  // namespace iropt

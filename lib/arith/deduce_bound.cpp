#include "iropt/arith/deduce_bound.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "iropt/ir/tir/visitor.h"

namespace iropt::arith {

namespace {

enum class Relation : uint8_t { kAtLeast, kAtMost, kEqual };

Relation Reverse(Relation relation) {
  switch (relation) {
    case Relation::kAtLeast: return Relation::kAtMost;
    case Relation::kAtMost: return Relation::kAtLeast;
    default: return relation;
  }
}

// The expressions from the root down to the only use of a variable; empty if it is used never or more than once.
class PathFinder : private tir::ExprVisitor {
 public:
  static std::vector<const PrimExpr*> Find(const tir::Var* var, const PrimExpr* root) {
    PathFinder finder(var);
    finder.VisitExpr(root);
    if (finder.num_uses_ != 1) finder.found_.clear();
    return std::move(finder.found_);
  }

 private:
  explicit PathFinder(const tir::Var* var) : var_(var) {}

  void VisitExpr(const PrimExpr* expr) override {
    path_.push_back(expr);
    if (expr == var_ && ++num_uses_ == 1) found_ = path_;
    ExprVisitor::VisitExpr(expr);
    path_.pop_back();
  }

  const tir::Var* var_;
  size_t num_uses_ = 0;
  std::vector<const PrimExpr*> path_;
  std::vector<const PrimExpr*> found_;
};

// Solves "expr relation bound" for the variable.
class BoundDeducer {
 public:
  BoundDeducer(const tir::Var* var, const VarDomains& hints, Analyzer& analyzer)
      : var_(var), hints_(hints), analyzer_(analyzer), make_(analyzer.make()) {}

  IntervalSet Deduce(const PrimExpr* condition, const VarDomains& relax) {
    if (!Split(condition) || !Relax(relax) || !Solve()) return IntervalSet::Nothing();
    bound_ = analyzer_.Simplify(bound_);
    switch (relation_) {
      case Relation::kAtLeast: return IntervalSet::Interval(bound_, nullptr);
      case Relation::kAtMost: return IntervalSet::Interval(nullptr, bound_);
      default: return IntervalSet::Point(bound_);
    }
  }

 private:
  // The comparison as one of the relations, with the variable on the left.
  bool Split(const PrimExpr* condition) {
    const auto* comparison = As<tir::BinaryExpr>(condition);
    if (!comparison || !comparison->a->dtype.is_scalar() || !comparison->a->dtype.is_int()) return false;
    const std::vector<const PrimExpr*> path = PathFinder::Find(var_, condition);
    if (path.size() < 2) return false;
    const bool on_left = path[1] == comparison->a;
    expr_ = on_left ? comparison->a : comparison->b;
    bound_ = on_left ? comparison->b : comparison->a;
    NodeKind kind = comparison->kind;
    const PrimExpr* one = make_.Const(1, bound_->dtype);
    switch (kind) {
      case NodeKind::kLT:
      case NodeKind::kGT:
        bound_ = (kind == NodeKind::kLT) == on_left ? make_.Sub(bound_, one) : make_.Add(bound_, one);
        kind = kind == NodeKind::kLT ? NodeKind::kLE : NodeKind::kGE;
        [[fallthrough]];
      case NodeKind::kLE:
      case NodeKind::kGE:
        relation_ = (kind == NodeKind::kLE) == on_left ? Relation::kAtMost : Relation::kAtLeast;
        break;
      case NodeKind::kEQ: relation_ = Relation::kEqual; break;
      default: return false;
    }
    return true;
  }

  // The worst case of the other variables.
  bool Relax(const VarDomains& relax) {
    const IntervalSet expr = EvalSet(expr_, relax, analyzer_);
    const IntervalSet bound = EvalSet(bound_, relax, analyzer_);
    if (relation_ == Relation::kEqual && (!expr.CanProvePoint(analyzer_) || !bound.CanProvePoint(analyzer_)))
      return false;
    expr_ = relation_ == Relation::kAtLeast ? expr.min() : expr.max();
    bound_ = relation_ == Relation::kAtLeast ? bound.max() : bound.min();
    return expr_ && bound_;
  }

  bool Solve() {
    const std::vector<const PrimExpr*> path = PathFinder::Find(var_, expr_);
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      const auto* binary = As<tir::BinaryExpr>(path[i]);
      if (!binary || !Step(*binary, path[i + 1] == binary->a)) return false;
    }
    return !path.empty();
  }

  // Moves the operand without the variable to the other side.
  bool Step(const tir::BinaryExpr& expr, bool on_left) {
    const PrimExpr* operand = on_left ? expr.b : expr.a;
    switch (expr.kind) {
      case NodeKind::kAdd: bound_ = make_.Sub(bound_, operand); return true;
      case NodeKind::kSub:
        if (on_left) {
          bound_ = make_.Add(bound_, operand);
        } else {
          bound_ = make_.Sub(operand, bound_);
          relation_ = Reverse(relation_);
        }
        return true;
      case NodeKind::kMul: return Divide(operand);
      case NodeKind::kFloorDiv: return on_left && Multiply(operand);
      default: return false;
    }
  }

  // x * factor relation bound.
  bool Divide(const PrimExpr* factor) {
    const int sign = SignOf(factor);
    if (sign == 0) return false;
    if (sign < 0) relation_ = Reverse(relation_);
    const PrimExpr* zero = make_.Const(0, factor->dtype);
    const bool is_multiple = analyzer_.CanProve(make_.Binary(NodeKind::kEQ, make_.FloorMod(bound_, factor), zero));
    bound_ = make_.FloorDiv(bound_, factor);
    if (is_multiple || relation_ == Relation::kAtMost) return true;
    if (relation_ == Relation::kEqual) return false;
    bound_ = make_.Add(bound_, make_.Const(1, factor->dtype));
    return true;
  }

  // x // divisor relation bound.
  bool Multiply(const PrimExpr* divisor) {
    const int sign = SignOf(divisor);
    if (sign == 0 || relation_ == Relation::kEqual) return false;
    const PrimExpr* zero = make_.Const(0, divisor->dtype);
    if (sign < 0) {
      // x // -d is -ceildiv(x, d).
      relation_ = Reverse(relation_);
      divisor = make_.Sub(zero, divisor);
      bound_ = make_.Sub(zero, bound_);
    }
    const PrimExpr* rest = make_.Sub(divisor, make_.Const(1, divisor->dtype));
    bound_ = make_.Mul(bound_, divisor);
    if (relation_ == Relation::kAtMost) bound_ = make_.Add(bound_, rest);
    if (sign < 0) bound_ = make_.Sub(bound_, rest);
    return true;
  }

  // 1, -1, or 0 if it is not known or the expression may be zero.
  int SignOf(const PrimExpr* expr) {
    const IntervalSet set = EvalSet(expr, hints_, analyzer_);
    const int64_t* min = set.min() ? AsInt(analyzer_.Simplify(set.min())) : nullptr;
    if (min && *min > 0) return 1;
    const int64_t* max = set.max() ? AsInt(analyzer_.Simplify(set.max())) : nullptr;
    return max && *max < 0 ? -1 : 0;
  }

  const tir::Var* var_;
  const VarDomains& hints_;
  Analyzer& analyzer_;
  const PrimBuilder& make_;
  const PrimExpr* expr_ = nullptr;
  const PrimExpr* bound_ = nullptr;
  Relation relation_ = Relation::kEqual;
};

}  // namespace

IntervalSet DeduceBound(const tir::Var* var, const PrimExpr* condition, const VarDomains& hints,
                        const VarDomains& relax, Analyzer& analyzer) {
  return BoundDeducer(var, hints, analyzer).Deduce(condition, relax);
}

}  // namespace iropt::arith

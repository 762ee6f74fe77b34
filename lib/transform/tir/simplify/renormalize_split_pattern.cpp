// tir.RenormalizeSplitPattern: brings the indices of split loops to quotients of the outer loop, so that equal ones are
// found.
//
//   (x % 32) // 8                 -->     x // 8 % 4
//   (i * 64 + j) // 16            -->     i * 4 + j // 16
//   x < 13, 4 <= x                -->     x // 13 < 1, 1 <= x // 4
//
// An expression is rewritten again up to five times. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <optional>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/hash.h"
#include "iropt/support/lookup.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class SplitPatternRenormalizer : public tir::StmtExprMutator {
 public:
  explicit SplitPatternRenormalizer(Workspace& workspace)
      : StmtExprMutator(workspace, tir::kDropNoOps), make_(workspace) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    if (expr->kind == NodeKind::kIntImm || tir::Var::ClassOf(expr->kind)) return StmtExprMutator::VisitExpr(expr);
    const Key key{expr, depth_};
    if (const auto* known = visited_.Find(key)) return *known;
    const PrimExpr* result = StmtExprMutator::VisitExpr(expr);
    visited_.insert_or_assign(key, result);
    return result;
  }

 protected:
  const PrimExpr* VisitFloorDiv(const tir::FloorDiv* expr) override {
    const PrimExpr* a = VisitExpr(expr->a);
    const PrimExpr* b = VisitExpr(expr->b);
    const PrimExpr* result = make_.FloorDiv(a, b);
    const auto* div = As<tir::FloorDiv>(result);
    if (div && a == expr->a && b == expr->b) result = div = expr;
    const auto divisor = div ? Factor(div->b) : std::nullopt;
    if (!divisor) return result;
    if (const PrimExpr* swapped = SwapRemainder(*div, *divisor)) return Again(swapped);
    if (const PrimExpr* split = SplitSum(*div, *divisor)) return Again(split);
    return result;
  }

  // Orders are expressed by "less than" for the rule about it.
  const PrimExpr* VisitLE(const tir::LE* expr) override { return Negate(VisitExpr(Less(expr->b, expr->a))); }
  const PrimExpr* VisitGT(const tir::GT* expr) override { return VisitExpr(Less(expr->b, expr->a)); }
  const PrimExpr* VisitGE(const tir::GE* expr) override { return Negate(VisitExpr(Less(expr->a, expr->b))); }
  const PrimExpr* VisitLT(const tir::LT* expr) override {
    const PrimExpr* a = VisitExpr(expr->a);
    const PrimExpr* b = VisitExpr(expr->b);
    const int64_t* limit = arith::AsInt(b);
    if (limit && *limit > 1) return Again(Less(make_.FloorDiv(a, b), make_.Const(1, b->dtype)));
    if (limit && *limit == 1 && arith::AsInt(a)) return Less(a, b);
    return a == expr->a && b == expr->b ? expr : make_.Node(NodeKind::kLT, a, b);
  }
  const PrimExpr* VisitNot(const tir::Not* expr) override {
    const PrimExpr* a = VisitExpr(expr->a);
    const PrimExpr* negated = Negate(a);
    const auto* result = As<tir::Not>(negated);
    return result && result->a == expr->a ? expr : negated;
  }
  // Conditions that are decided do not stay.
  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* branch) override {
    const int64_t* known = arith::AsInt(VisitExpr(branch->condition));
    if (!known) return StmtExprMutator::VisitIfThenElse(branch);
    const tir::Stmt* taken = *known ? branch->then_case : branch->else_case;
    return taken ? VisitStmt(taken) : tir::NoOp(workspace());
  }
  const PrimExpr* VisitCall(const tir::Call* call) override {
    const bool selects = IsOp(call->op, op::kTirIfThenElse);
    const int64_t* known = selects ? arith::AsInt(VisitExpr(call->args[0])) : nullptr;
    return known ? VisitExpr(call->args[*known ? 1 : 2]) : StmtExprMutator::VisitCall(call);
  }

 private:
  struct Key {
    const PrimExpr* expr;
    int depth;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return HashCombine(reinterpret_cast<uintptr_t>(key.expr), static_cast<uint64_t>(key.depth));
    }
  };

  // A positive constant, or a vector of copies of one.
  static std::optional<int64_t> Factor(const PrimExpr* e) {
    const auto* copies = As<tir::Broadcast>(e);
    const int64_t* value = arith::AsInt(copies ? copies->value : e);
    return value && *value > 0 ? std::optional(*value) : std::nullopt;
  }
  const PrimExpr* Less(const PrimExpr* a, const PrimExpr* b) const { return make_.Binary(NodeKind::kLT, a, b); }
  const PrimExpr* Negate(const PrimExpr* e) const {
    const auto* binary = As<tir::BinaryExpr>(e);
    switch (e->kind) {
      case NodeKind::kNot: return static_cast<const tir::Not*>(e)->a;
      case NodeKind::kLT: return make_.Node(NodeKind::kLE, binary->b, binary->a);
      case NodeKind::kLE: return make_.Node(NodeKind::kLT, binary->b, binary->a);
      case NodeKind::kGT: return make_.Node(NodeKind::kLE, binary->a, binary->b);
      case NodeKind::kGE: return make_.Node(NodeKind::kLT, binary->a, binary->b);
      default: return make_.Not(e);
    }
  }

  // x % (c * d) // d is x // d % c.
  const PrimExpr* SwapRemainder(const tir::FloorDiv& div, int64_t divisor) const {
    const auto* mod = As<tir::FloorMod>(div.a);
    const auto modulus = mod ? Factor(mod->b) : std::nullopt;
    if (!modulus || *modulus % divisor != 0) return nullptr;
    return make_.FloorMod(make_.FloorDiv(mod->a, div.b), make_.Const(*modulus / divisor, div.dtype));
  }

  // (x * c + y) // d is (x * (c / g) + y // g) // (d / g) for a common factor g; y may be the sum of the other terms.
  const PrimExpr* SplitSum(const tir::FloorDiv& div, int64_t divisor) const {
    const auto* sum = As<tir::Add>(div.a);
    if (!sum) return nullptr;
    const PrimExpr* rest = sum->b;
    const auto* product = As<tir::Mul>(sum->a);
    if (const auto* inner = As<tir::Add>(sum->a)) {
      product = As<tir::Mul>(inner->a);
      rest = make_.Add(inner->b, rest);
    }
    const auto factor = product ? Factor(product->b) : std::nullopt;
    if (!factor) return nullptr;
    const int64_t common = arith::ZeroAwareGcd(*factor, divisor);
    if (common <= 1) return nullptr;
    const auto constant = [&](int64_t value) { return make_.Const(value, div.dtype); };
    const PrimExpr* scaled = make_.Mul(product->a, constant(*factor / common));
    return make_.FloorDiv(make_.Add(scaled, make_.FloorDiv(rest, constant(common))), constant(divisor / common));
  }

  const PrimExpr* Again(const PrimExpr* expr) {
    constexpr int kMaxDepth = 5;
    if (depth_ >= kMaxDepth) return expr;
    ++depth_;
    const PrimExpr* result = VisitExpr(expr);
    --depth_;
    return result;
  }

  const arith::PrimBuilder make_;
  int depth_ = 0;
  // Results by depth: what is rewritten again would be visited again with all that is nested in it.
  LookupMap<Key, const PrimExpr*, KeyHash> visited_;
};

}  // namespace

Pass CreateRenormalizeSplitPattern(const PassOptions& options) {
  return CreateMutatorPass<SplitPatternRenormalizer>(options.info(), {});
}

}  // namespace iropt

// All walks over the IR work at any depth. The trees have a depth of a million, far more than a stack allows.
#include <vector>

#include "catch.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/substitute.h"
#include "testing.h"

namespace iropt {
namespace {

using namespace testing;

constexpr int kDepth = 1'000'000;

const Expr* DeepExpr(Workspace& workspace, const Expr* leaf, const Op& op) {
  const Expr* expr = leaf;
  for (int i = 0; i < kDepth; ++i) expr = NewCall(workspace, op, {expr}, ObjectType::Get());
  return expr;
}

TEST_CASE("deep Relax expressions", "[ir][deep]") {
  Workspace workspace;
  const Var* x = workspace.NewVar("x", ObjectType::Get());
  const Expr* expr = DeepExpr(workspace, x, kNeg);
  int calls = 0;
  PostOrderVisit(expr, [&](const Expr* e) { calls += Is<Call>(e); });
  CHECK(calls == kDepth);
  const Expr* same = DeepExpr(workspace, x, kNeg);
  CHECK(StructuralEqual(expr, same));
  CHECK(StructuralHash(expr) == StructuralHash(same));
  CHECK_FALSE(StructuralEqual(expr, DeepExpr(workspace, x, kAdd)));
  Workspace target;
  CHECK(StructuralEqual(Cloner(target).Clone(expr), expr));
  class Same : public ExprMutator {
   public:
    using ExprMutator::ExprMutator;
  };
  CHECK(Same(workspace).VisitExpr(expr) == expr);
}

TEST_CASE("conditionals in conditionals", "[ir][deep]") {
  constexpr int kNesting = 100'000;
  Workspace workspace;
  FirstArgInferrer inferrer;
  const Var* cond = workspace.NewVar("c", ObjectType::Get());
  const Expr* expr = cond;
  for (int i = 0; i < kNesting; ++i) expr = workspace.New<If>(cond, expr, cond, nullptr);
  const Function* func = NewFunction(workspace, {cond}, expr);
  BlockBuilder builder(workspace, &inferrer);
  const auto* normal = To<Function>(builder.Normalize(func));
  CHECK(builder.Normalize(normal) == normal);
  class CountIfs : public ExprVisitor {
   public:
    int count = 0;

   protected:
    void VisitIf(const If* conditional) override {
      ++count;
      ExprVisitor::VisitIf(conditional);
    }
  };
  CountIfs counter;
  counter.VisitExpr(normal);
  CHECK(counter.count == kNesting);
}

TEST_CASE("deep scalar expressions and statements", "[ir][deep]") {
  Workspace workspace;
  const DataType int32 = DataType::Int(32);
  const tir::Var* i = workspace.NewPrimVar("i", int32);
  const PrimExpr* zero = IRContext::Current().Int(0, int32);
  const PrimExpr* one = IRContext::Current().Int(1, int32);
  const PrimExpr* expr = i;
  for (int k = 0; k < kDepth; ++k) expr = workspace.New<tir::Add>(expr, one);
  const tir::Stmt* stmt = workspace.New<tir::Evaluate>(expr);
  for (int k = 0; k < kDepth; ++k) stmt = workspace.New<tir::IfThenElse>(one, stmt, nullptr);
  stmt = workspace.New<tir::For>(i, zero, one, tir::ForKind::kSerial, stmt, nullptr, DictAttr::Empty());
  int nodes = 0;
  tir::PostOrderVisit(stmt, [&](const Node*) { ++nodes; });
  CHECK(nodes > 2 * kDepth);
  Workspace target;
  const tir::Stmt* copy = Cloner(target).Clone(stmt);
  CHECK(StructuralEqual(stmt, copy));
  CHECK(StructuralHash(stmt) == StructuralHash(copy));
  const tir::Stmt* changed = tir::Substitute(
      stmt, [&](const tir::Var*) { return zero; }, workspace);
  CHECK(changed != stmt);
}

TEST_CASE("a long function", "[ir][deep]") {
  Workspace workspace;
  const Function* func = NewChain(workspace, kDepth);
  Workspace target;
  const auto* copy = To<Function>(CloneFunction(func, target));
  CHECK(StructuralEqual(func, copy));
  CHECK(StructuralHash(func) == StructuralHash(copy));
  BlockBuilder builder(workspace);
  CHECK(builder.Normalize(func) == func);
}

}  // namespace
}  // namespace iropt

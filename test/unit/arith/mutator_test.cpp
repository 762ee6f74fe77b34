// A mutator that knows what holds where it is.
#include "iropt/arith/mutator.h"

#include <string>
#include <vector>

#include "catch.h"
#include "iropt/ir/tir/builder.h"

namespace iropt::arith::test {
namespace {

// Asks what is known of the conditions that T.evaluate has.
class Prover : public StmtExprMutatorWithAnalyzer {
 public:
  using StmtExprMutatorWithAnalyzer::StmtExprMutatorWithAnalyzer;

  // For each T.evaluate, whether its condition holds ("1"), does not hold ("0"), or neither is known ("?").
  std::vector<std::string> known;
  bool rewrites = false;  // simplifies expressions

  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    return rewrites ? analyzer().Simplify(expr) : StmtExprMutatorWithAnalyzer::VisitExpr(expr);
  }

 protected:
  const tir::Stmt* VisitEvaluate(const tir::Evaluate* stmt) override {
    const int64_t* value = AsInt(analyzer().Simplify(stmt->value));
    known.push_back(value ? std::to_string(*value) : "?");
    return stmt;
  }
};

class MutatorFixture {
 protected:
  const PrimExpr* Int(int64_t value) const { return make.Int(value, DataType::Int(32)); }
  const PrimExpr* Less(const PrimExpr* a, int64_t b) const { return make.Binary(NodeKind::kLT, a, Int(b)); }
  const tir::Stmt* Ask(const PrimExpr* condition) { return workspace.New<tir::Evaluate>(condition); }
  const tir::Stmt* Seq(const std::vector<const tir::Stmt*>& stmts) { return tir::MakeSeq(workspace, stmts); }
  const tir::Stmt* Loop(const tir::Var* var, int64_t extent, const tir::Stmt* body) {
    return workspace.New<tir::For>(var, Int(0), Int(extent), tir::ForKind::kSerial, body, nullptr, DictAttr::Empty());
  }
  std::vector<std::string> Known(const tir::Stmt* stmt) {
    Analyzer analyzer(make, Analyzer::SymVars::kAny);
    Prover prover(analyzer, workspace);
    prover.VisitStmt(stmt);
    return prover.known;
  }

  const tir::Buffer* buffer() { return tir::MakeBuffer(workspace, {.dtype = DataType::Int(32)}, "A"); }

  using Answers = std::vector<std::string>;
  Workspace workspace;
  PrimBuilder make{workspace};
  const tir::Var* i = workspace.NewPrimVar("i", DataType::Int(32));
  const tir::Var* n = workspace.NewPrimVar("n", DataType::Int(32));
};

TEST_CASE_METHOD(MutatorFixture, "ranges of loops hold in them", "[arith]") {
  CHECK(Known(Seq({Loop(i, 8, Ask(Less(i, 8))), Ask(Less(i, 8))})) == Answers{"1", "?"});
}

TEST_CASE_METHOD(MutatorFixture, "conditions hold in their branches", "[arith]") {
  const auto* branch = workspace.New<tir::IfThenElse>(Less(n, 4), Ask(Less(n, 5)), Ask(Less(n, 4)));
  CHECK(Known(Seq({branch, Ask(Less(n, 5))})) == Answers{"1", "0", "?"});
}

TEST_CASE_METHOD(MutatorFixture, "values of bindings, threads and assertions are known", "[arith]") {
  CHECK(Known(workspace.New<tir::LetStmt>(n, Int(3), Ask(Less(n, 4)))) == Answers{"1"});
  const auto* message = workspace.New<tir::StringImm>("n is small");
  CHECK(Known(workspace.New<tir::AssertStmt>(Less(n, 4), message, Ask(Less(n, 5)))) == Answers{"1"});
  const auto* thread = workspace.New<tir::IterVar>(nullptr, i, tir::IterVarType::kThreadIndex,
                                                   workspace.arena().CopyString("threadIdx.x"));
  CHECK(Known(workspace.New<tir::AttrStmt>(thread, "thread_extent", Int(8), Ask(Less(i, 8)))) == Answers{"1"});
}

TEST_CASE_METHOD(MutatorFixture, "a condition stays as it is after it was visited", "[arith]") {
  Analyzer analyzer(make, Analyzer::SymVars::kAny);
  for (const bool resolves : {true, false}) {
    Prover prover(analyzer, workspace, {.mutator = tir::kDropNoOps, .resolve_conditions = resolves});
    prover.rewrites = true;
    // 2 * n < 8 becomes n < 4.
    const PrimExpr* doubled = make.Binary(NodeKind::kMul, n, Int(2));
    const tir::Stmt* then_case = workspace.New<tir::BufferStore>(buffer(), Int(1), List<const PrimExpr*>());
    const auto* branch = workspace.New<tir::IfThenElse>(Less(doubled, 8), then_case, nullptr);
    const auto* visited = To<tir::IfThenElse>(prover.VisitStmt(branch));
    REQUIRE(Is<tir::LT>(visited->condition));
    CHECK(To<tir::LT>(visited->condition)->a == n);
    CHECK(visited->then_case == then_case);
  }
}

TEST_CASE_METHOD(MutatorFixture, "constant conditions are resolved if that is wanted", "[arith]") {
  Analyzer analyzer(make, Analyzer::SymVars::kAny);
  const tir::Stmt* then_case = Ask(Less(n, 1));
  const auto* branch = workspace.New<tir::IfThenElse>(make.Bool(false), then_case, nullptr);
  CHECK(tir::IsNoOp(Prover(analyzer, workspace).VisitStmt(branch)));
  Prover keeps(analyzer, workspace, {.resolve_conditions = false});
  CHECK(keeps.VisitStmt(branch) == branch);
  const PrimExpr* select = workspace.New<tir::Select>(make.Bool(true), n, i);
  CHECK(Prover(analyzer, workspace).VisitExpr(select) == n);
  CHECK(keeps.VisitExpr(select) == select);
}

}  // namespace
}  // namespace iropt::arith::test

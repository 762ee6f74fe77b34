#include "iropt/ir/relax/visitor.h"

#include <string>
#include <vector>

#include "catch.h"
#include "iropt/ir/tir/visitor.h"
#include "testing.h"

namespace iropt {
namespace {

using namespace testing;

// Logs the visited nodes.
class Recorder : public ExprVisitor {
 public:
  std::string log;

 protected:
  void VisitCall(const Call* call) override {
    log += "call(";
    ExprVisitor::VisitCall(call);
    log += ")";
  }
  void VisitVar(const Var* var) override { log.append(var->name()).append(" "); }
  void VisitVarDef(const Var* var) override {
    log.append("def:").append(var->name()).append(" ");
    ExprVisitor::VisitVarDef(var);
  }
  void VisitOp(const Op* op) override { log.append(op->name).append(" "); }
  void VisitType(const Type*) override { ++types; }
  void VisitPrimExpr(const PrimExpr*) override { ++dims; }

 public:
  int types = 0;
  int dims = 0;
};

TEST_CASE("a visitor sees everything in order", "[ir]") {
  Workspace workspace;
  Recorder recorder;
  recorder.VisitExpr(NewChain(workspace, 2));
  CHECK(recorder.log == "def:x call(test.add x x )def:lv call(test.add lv x )def:lv1 lv1 def:gv gv ");
}

TEST_CASE("a visitor sees types and dimensions", "[ir]") {
  Workspace workspace;
  const std::vector<const PrimExpr*> dims{Int(2), Int(3)};
  const auto* shape = workspace.New<ShapeExpr>(workspace.Copy(dims), ShapeType::Get(dims));
  Recorder recorder;
  recorder.VisitExpr(NewCall(workspace, kAdd, {shape}, ObjectType::Get()));
  CHECK(recorder.dims == 2);
  CHECK(recorder.types == 2);
}

TEST_CASE("post order visits operands first and every occurrence", "[ir]") {
  Workspace workspace;
  const Var* x = workspace.NewVar("x", ObjectType::Get());
  const Call* inner = NewCall(workspace, kNeg, {x});
  const Call* outer = NewCall(workspace, kAdd, {inner, inner});
  std::vector<const Expr*> seen;
  PostOrderVisit(outer, [&](const Expr* expr) { seen.push_back(expr); });
  CHECK(seen == std::vector<const Expr*>{&kAdd, &kNeg, x, inner, &kNeg, x, inner, outer});
}

TEST_CASE("the children of a node", "[ir]") {
  Workspace workspace;
  const Var* x = workspace.NewVar("x", ObjectType::Get());
  const Call* call = NewCall(workspace, kAdd, {x, x}, ObjectType::Get(), IntAttr::Get(1));
  std::vector<const Node*> children;
  ForEachChild(call, [&](const auto* child) { children.push_back(child); });
  CHECK(children == std::vector<const Node*>{&kAdd, x, x});
}

TEST_CASE("a functor dispatches by kind", "[ir]") {
  class Arity final : public ExprFunctor<int(const Expr*, int)> {
   protected:
    int VisitDefault(const Expr*, int base) override { return base; }
    int VisitCall(const Call* call, int base) override { return base + static_cast<int>(call->args.size()); }
  };
  Workspace workspace;
  const Var* x = workspace.NewVar("x", ObjectType::Get());
  Arity arity;
  CHECK(arity.VisitExpr(x, 10) == 10);
  CHECK(arity.VisitExpr(NewCall(workspace, kAdd, {x, x}), 10) == 12);
}

class LoopRecorder : public tir::StmtExprVisitor {
 public:
  std::string log;

 protected:
  void VisitFor(const tir::For* loop) override {
    log += "for(";
    StmtExprVisitor::VisitFor(loop);
    log += ")";
  }
  void VisitVar(const tir::Var* var) override { log.append(var->name).append(" "); }
  void VisitVarDef(const tir::Var* var) override { log.append("def:").append(var->name).append(" "); }
  void VisitBufferDef(const tir::Buffer* buffer) override { log.append("buffer:").append(buffer->name).append(" "); }
  void VisitBufferUse(const tir::Buffer* buffer) override { log.append(buffer->name).append(" "); }
  void VisitBinary(const tir::BinaryExpr* expr) override {
    log += "(";
    StmtExprVisitor::VisitBinary(expr);
    log += ")";
  }
};

TEST_CASE("a TIR visitor sees everything in order", "[ir]") {
  Workspace workspace;
  LoopRecorder recorder;
  recorder.VisitPrimFunc(NewLoop(workspace, 8));
  CHECK(recorder.log == "def:a def:b buffer:A buffer:B for(def:i B (A i )i )");
}

TEST_CASE("expressions in annotations are visited", "[ir]") {
  Workspace workspace;
  const tir::Var* n = workspace.NewPrimVar("n", DataType::Int(32));
  const auto* annotations =
      DictAttr::Get(std::vector<DictAttr::Entry>{{"size", ExprAttr::Get(n)}, {"x", IntAttr::Get(1)}});
  const auto* loop = workspace.New<tir::For>(
      workspace.NewPrimVar("i", DataType::Int(32)), IRContext::Current().Int(0, DataType::Int(32)),
      IRContext::Current().Int(4, DataType::Int(32)), tir::ForKind::kSerial,
      workspace.New<tir::Evaluate>(IRContext::Current().Int(0, DataType::Int(32))), nullptr, annotations);
  LoopRecorder recorder;
  recorder.VisitStmt(loop);
  CHECK(recorder.log == "for(def:i n )");
}

TEST_CASE("post order of statements", "[ir]") {
  Workspace workspace;
  const PrimFunc* func = NewLoop(workspace, 8);
  std::vector<NodeKind> kinds;
  tir::PostOrderVisit(func->body, [&](const Node* node) { kinds.push_back(node->kind); });
  CHECK(kinds == std::vector<NodeKind>{NodeKind::kIntImm, NodeKind::kIntImm, NodeKind::kPrimVar, NodeKind::kBufferLoad,
                                       NodeKind::kFloatImm, NodeKind::kAdd, NodeKind::kPrimVar, NodeKind::kBufferStore,
                                       NodeKind::kFor});
}

TEST_CASE("the first statement that a condition holds for", "[ir]") {
  Workspace workspace;
  const tir::Stmt* store = NewLoop(workspace, 8)->body;
  const auto nothing = List<const tir::IterVar*>();
  const auto* block = workspace.New<tir::Block>(nothing, List<const tir::BufferRegion*>(),
                                                List<const tir::BufferRegion*>(), "B", List<const tir::Buffer*>(),
                                                List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), store, store);
  const auto* realize = workspace.New<tir::BlockRealize>(List<const PrimExpr*>(), Int(1), block);
  std::vector<NodeKind> seen;
  const auto holds_for = [&](NodeKind kind) {
    return tir::FindStmt(realize, [&, kind](const tir::Stmt* stmt) {
      seen.push_back(stmt->kind);
      return stmt->kind == kind;
    });
  };
  CHECK(holds_for(NodeKind::kFor) == store);
  CHECK(seen == std::vector<NodeKind>{NodeKind::kBlockRealize, NodeKind::kBlockStmt, NodeKind::kFor});
  CHECK(holds_for(NodeKind::kBlockStmt) == block);
  CHECK(holds_for(NodeKind::kWhile) == nullptr);
  CHECK(holds_for(NodeKind::kBufferStore) == To<tir::For>(store)->body);
}

TEST_CASE("TIR functors dispatch by kind", "[ir]") {
  class IsLoop final : public tir::StmtFunctor<bool(const tir::Stmt*)> {
   protected:
    bool VisitStmtDefault(const tir::Stmt*) override { return false; }
    bool VisitFor(const tir::For*) override { return true; }
  };
  class Depth final : public tir::ExprFunctor<int(const PrimExpr*)> {
   protected:
    int VisitDefault(const PrimExpr*) override { return 1; }
    int VisitAdd(const tir::Add* add) override { return 1 + std::max(VisitExpr(add->a), VisitExpr(add->b)); }
  };
  Workspace workspace;
  CHECK(IsLoop().VisitStmt(NewLoop(workspace, 8)->body));
  const PrimExpr* one = Int(1);
  CHECK(Depth().VisitExpr(workspace.New<tir::Add>(one, workspace.New<tir::Add>(one, one))) == 3);
}

}  // namespace
}  // namespace iropt

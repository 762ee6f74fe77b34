#include "iropt/ir/relax/mutator.h"

#include <vector>

#include "catch.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/support/lookup.h"
#include "testing.h"

namespace iropt {
namespace {

using namespace testing;

// Replaces the operator of calls.
class ReplaceOp : public ExprMutator {
 public:
  ReplaceOp(Workspace& workspace, const Op& from, const Op& to, TypeInferrer* inferrer = nullptr)
      : ExprMutator(workspace, inferrer), from_(from), to_(to) {}

 protected:
  const Expr* VisitOp(const Op* op) override { return op == &from_ ? &to_ : op; }

 private:
  const Op& from_;
  const Op& to_;
};

TEST_CASE("a mutator that changes nothing returns the same pointer", "[ir]") {
  Workspace workspace;
  const Function* func = NewChain(workspace, 10);
  const size_t bytes = workspace.arena().bytes_used();
  CHECK(ReplaceOp(workspace, kNeg, kAdd).VisitExpr(func) == func);
  CHECK(workspace.arena().bytes_used() == bytes);
}

TEST_CASE("a mutator rebuilds the nodes above a change and keeps the rest", "[ir]") {
  Workspace workspace;
  const Function* func = NewChain(workspace, 3);
  FirstArgInferrer inferrer;
  TypeInferrer* const inferrers[] = {nullptr, &inferrer};
  for (TypeInferrer* use : inferrers) {
    const auto* changed = To<Function>(ReplaceOp(workspace, kAdd, kNeg, use).VisitExpr(func));
    CHECK(changed != func);
    CHECK(changed->params[0] == func->params[0]);
    CHECK(StructuralEqual(changed, NewChain(workspace, 3, kNeg)));
    const auto& bindings = To<SeqExpr>(changed->body)->blocks[0]->bindings;
    // Neither the variables nor the last binding, which is not a call, are new.
    CHECK(bindings[0]->var == To<SeqExpr>(func->body)->blocks[0]->bindings[0]->var);
    CHECK(bindings[3] == To<SeqExpr>(func->body)->blocks[0]->bindings[3]);
  }
}

TEST_CASE("a mutator may return nested operands", "[ir]") {
  class Negate : public ExprMutator {
   public:
    using ExprMutator::ExprMutator;

   protected:
    const Expr* VisitCall(const Call* call) override { return NewCall(workspace(), kNeg, {call}); }
  };
  Workspace workspace;
  FirstArgInferrer inferrer;
  const auto* changed = To<Function>(Negate(workspace, &inferrer).VisitExpr(NewChain(workspace, 1)));
  const auto& bindings = To<SeqExpr>(changed->body)->blocks[0]->bindings;
  REQUIRE(bindings.size() == 3);
  CHECK(To<Call>(To<VarBinding>(bindings[1])->value)->op == &kNeg);
  CHECK(To<Call>(To<VarBinding>(bindings[1])->value)->args[0] == bindings[0]->var);
}

TEST_CASE("bindings are dropped and their uses remapped", "[ir]") {
  class DropFirst : public ExprMutator {
   public:
    using ExprMutator::ExprMutator;

   protected:
    void VisitVarBinding(const VarBinding* binding) override {
      if (binding->var->name() != "lv") return ExprMutator::VisitVarBinding(binding);
      Remap(binding->var, To<Call>(binding->value)->args[0]);
    }
  };
  Workspace workspace;
  const Function* func = NewChain(workspace, 2);
  const auto* changed = To<Function>(DropFirst(workspace).VisitExpr(func));
  const auto& bindings = To<SeqExpr>(changed->body)->blocks[0]->bindings;
  REQUIRE(bindings.size() == 2);
  CHECK(To<Call>(To<VarBinding>(bindings[0])->value)->args[0] == func->params[0]);
}

TEST_CASE("types that change give new variables", "[ir]") {
  class Widen : public ExprMutator {
   public:
    using ExprMutator::ExprMutator;

   protected:
    const Type* VisitType(const Type* type) override { return type == Tensor({Int(4)}) ? Tensor({Int(8)}) : type; }
  };
  Workspace workspace;
  FirstArgInferrer inferrer;
  const Function* func = NewChain(workspace, 2);
  const auto* changed = To<Function>(Widen(workspace, &inferrer).VisitExpr(func));
  CHECK(changed->params[0] != func->params[0]);
  CHECK(changed->ret_type == Tensor({Int(8)}));
  CHECK(To<FuncType>(changed->type)->ret == Tensor({Int(8)}));
  CHECK(StructuralEqual(changed, NewChain(workspace, 2, kAdd, "x", Tensor({Int(8)}))));
}

TEST_CASE("branches are rewritten in scopes of their own", "[ir]") {
  Workspace workspace;
  FirstArgInferrer inferrer;
  BlockBuilder builder(workspace, &inferrer);
  const Var* x = workspace.NewVar("x", Tensor({Int(2)}));
  const Var* cond = workspace.NewVar("c", TensorType::Get(0, DataType::Bool()));
  builder.BeginBindingBlock();
  const Var* out = builder.Emit(workspace.New<If>(cond, NewCall(workspace, kAdd, {x, x}), x, nullptr));
  const Function* func = NewFunction(workspace, {cond, x}, builder.Seq({builder.EndBlock()}, out));
  CHECK(ReplaceOp(workspace, kNeg, kAdd, &inferrer).VisitExpr(func) == func);
  const auto* changed = To<Function>(ReplaceOp(workspace, kAdd, kNeg, &inferrer).VisitExpr(func));
  const auto* conditional = To<If>(To<VarBinding>(To<SeqExpr>(changed->body)->blocks[0]->bindings[0])->value);
  CHECK(To<SeqExpr>(conditional->true_branch)->blocks.size() == 1);
  CHECK(To<SeqExpr>(conditional->false_branch)->blocks.empty());
}

class AddToSub : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const PrimExpr* VisitAdd(const tir::Add* add) override {
    const auto* visited = To<tir::Add>(StmtExprMutator::VisitAdd(add));
    return workspace().New<tir::Sub>(visited->a, visited->b);
  }
};

class Nothing : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;
};

TEST_CASE("a TIR mutator keeps unchanged nodes", "[ir]") {
  Workspace workspace;
  const PrimFunc* func = NewLoop(workspace, 8);
  const size_t used = workspace.arena().bytes_used();
  CHECK(Nothing(workspace).VisitPrimFunc(func) == func);
  CHECK(workspace.arena().bytes_used() == used);
  const auto* changed = AddToSub(workspace).VisitPrimFunc(func);
  CHECK(changed != func);
  CHECK(changed->param_buffers == func->param_buffers);
  const auto* store = To<tir::BufferStore>(To<tir::For>(changed->body)->body);
  CHECK(Is<tir::Sub>(store->value));
  CHECK(store->value->dtype == DataType::Float(32));
}

TEST_CASE("a sequence swallows sequences that its statements become", "[ir]") {
  class Duplicate : public tir::StmtExprMutator {
   public:
    using StmtExprMutator::StmtExprMutator;

   protected:
    const tir::Stmt* VisitEvaluate(const tir::Evaluate* stmt) override {
      return tir::MakeSeq(workspace(), std::vector<const tir::Stmt*>{stmt, stmt});
    }
  };
  Workspace workspace;
  const tir::Stmt* nop = workspace.New<tir::Evaluate>(Int(0));
  const tir::Stmt* seq = tir::MakeSeq(workspace, std::vector<const tir::Stmt*>{nop, nop});
  CHECK(To<tir::SeqStmt>(Duplicate(workspace).VisitStmt(seq))->seq.size() == 4);
}

TEST_CASE("operands that change their dtype change that of the operation", "[ir]") {
  class Narrow : public tir::ExprMutator {
   public:
    using ExprMutator::ExprMutator;

   protected:
    const PrimExpr* VisitIntImm(const tir::IntImm* imm) override {
      return IRContext::Current().Int(imm->value, DataType::Int(32));
    }
  };
  Workspace workspace;
  const PrimExpr* sum = workspace.New<tir::Add>(Int(1), Int(2));
  const PrimExpr* less = workspace.New<tir::LT>(sum, Int(3));
  const auto* narrow = To<tir::LT>(Narrow(workspace).VisitExpr(less));
  CHECK(narrow->dtype.is_bool());
  CHECK(narrow->a->dtype == DataType::Int(32));
  // An interned expression gives one that is not.
  CHECK_FALSE(Narrow(workspace).VisitExpr(IRContext::Current().Intern(sum))->interned());
}

TEST_CASE("substitution follows variables into buffers", "[ir]") {
  Workspace workspace;
  const tir::Var* n = IRContext::Current().NewSymVar("n", DataType::Int(32));
  const tir::Var* data = workspace.NewPrimVar("data", DataType::Handle());
  const tir::Var* i = workspace.NewPrimVar("i", DataType::Int(32));
  const auto* buffer = workspace.New<tir::Buffer>(
      data, DataType::Float(32), workspace.NextVarId(), workspace.Copy(std::vector<const PrimExpr*>{n}),
      List<const PrimExpr*>(), IRContext::Current().Int(0, DataType::Int(32)), List<int64_t>(), "A", 64, 1,
      tir::BufferType::kDefault);
  const List<const PrimExpr*> indices = workspace.Copy(std::vector<const PrimExpr*>{i});
  const auto* load = workspace.New<tir::BufferLoad>(DataType::Float(32), buffer, indices);
  const tir::Stmt* store = workspace.New<tir::BufferStore>(buffer, load, indices);
  const PrimExpr* four = IRContext::Current().Int(4, DataType::Int(32));
  const auto* changed = To<tir::BufferStore>(tir::Substitute(
      store, [&](const tir::Var* var) { return var == n || var == i ? four : nullptr; }, workspace));
  CHECK(changed->buffer != buffer);
  CHECK(changed->buffer->shape[0] == four);
  CHECK(changed->buffer->id != buffer->id);
  CHECK(To<tir::BufferLoad>(changed->value)->buffer == changed->buffer);
  CHECK(changed->indices[0] == four);
  CHECK(tir::Substitute(
            store, [](const tir::Var*) { return nullptr; }, workspace) == store);
}

TEST_CASE("substitution in expressions and regions, all at once", "[ir]") {
  Workspace workspace;
  const tir::Var* i = workspace.NewPrimVar("i", DataType::Int(32));
  const tir::Var* j = workspace.NewPrimVar("j", DataType::Int(32));
  const auto swap = [&](const tir::Var* var) { return var == i ? j : var == j ? i : nullptr; };
  const PrimExpr* difference = workspace.New<tir::Sub>(i, j);
  const auto* swapped = To<tir::Sub>(tir::Substitute(difference, swap, workspace));
  CHECK(swapped->a == j);
  CHECK(swapped->b == i);
  const tir::Range* range = workspace.New<tir::Range>(i, Int(4));
  const tir::Range* changed = tir::Substitute(range, swap, workspace);
  CHECK(changed->min == j);
  CHECK(changed->extent == range->extent);
  const auto* region = workspace.New<tir::BufferRegion>(NewLoop(workspace, 8)->param_buffers[0],
                                                        workspace.Copy(std::vector<const tir::Range*>{range}));
  CHECK(tir::Substitute(region, swap, workspace)->region[0]->min == j);
  std::vector<const tir::Var*> uses;
  tir::ForEachVar(workspace.New<tir::Mul>(difference, i), [&](const tir::Var* var) { uses.push_back(var); });
  CHECK(uses == std::vector<const tir::Var*>{i, j, i});
}

TEST_CASE("substitution takes a table", "[ir]") {
  Workspace workspace;
  const tir::Var* i = workspace.NewPrimVar("i", DataType::Int(32));
  const tir::Var* j = workspace.NewPrimVar("j", DataType::Int(32));
  const PrimExpr* difference = workspace.New<tir::Sub>(i, j);
  const auto* changed = To<tir::Sub>(tir::Substitute(difference, {{i, j}, {j, i}}, workspace));
  CHECK(changed->a == j);
  CHECK(changed->b == i);
  CHECK(tir::Substitute(difference, tir::VarValues(), workspace) == difference);
  const tir::Range* range = workspace.New<tir::Range>(i, j);
  CHECK(tir::Substitute(range, {{j, i}}, workspace)->extent == i);
  const tir::Stmt* evaluate = workspace.New<tir::Evaluate>(difference);
  CHECK(tir::Substitute(evaluate, {{workspace.NewPrimVar("k", DataType::Int(32)), i}}, workspace) == evaluate);
}

TEST_CASE("variables of an expression that is huge as a tree", "[ir]") {
  Workspace workspace;
  const tir::Var* i = workspace.NewPrimVar("i", DataType::Int(32));
  const tir::Var* j = workspace.NewPrimVar("j", DataType::Int(32));
  const PrimExpr* expr = workspace.New<tir::Mul>(i, j);
  for (int depth = 0; depth < 100; ++depth) expr = workspace.New<tir::Add>(expr, expr);
  std::vector<const tir::Var*> uses;
  tir::ForEachVar(expr, [&](const tir::Var* var) { uses.push_back(var); });
  CHECK(uses.size() >= 2);
  CHECK(uses.size() < 2000);
  CHECK(uses[0] == i);
  CHECK(uses[1] == j);
  CHECK(tir::UsesVar(expr, j));
  CHECK_FALSE(tir::UsesVar(expr, workspace.NewPrimVar("k", DataType::Int(32))));
}

TEST_CASE("the search for a variable ends at the first one", "[ir]") {
  Workspace workspace;
  const tir::Var* i = workspace.NewPrimVar("i", DataType::Int(32));
  const tir::Var* j = workspace.NewPrimVar("j", DataType::Int(32));
  const PrimExpr* sum = workspace.New<tir::Add>(workspace.New<tir::Mul>(i, j), i);
  CHECK(tir::UsesVar(sum, i));
  CHECK(tir::UsesVar(i, i));
  CHECK_FALSE(tir::UsesVar(sum, workspace.NewPrimVar("i", DataType::Int(32))));
  CHECK_FALSE(tir::UsesVar(Int(3), i));
  int asked = 0;
  CHECK(tir::UsesVar(sum, [&](const tir::Var* var) { return ++asked, var == j; }));
  CHECK(asked == 2);
  CHECK(tir::UsesAnyOf(LookupSet<const tir::Var*>{j}, sum));
  CHECK_FALSE(tir::UsesAnyOf(LookupSet<const tir::Var*>{}, sum));
}

TEST_CASE("a copy with the same parts is the node itself", "[ir]") {
  Workspace workspace;
  const tir::Var* i = workspace.NewPrimVar("i", DataType::Int(32));
  const auto* let = workspace.New<tir::LetStmt>(i, Int(1), tir::NoOp(workspace));
  tir::LetStmt copy = *let;
  CHECK(tir::CopyIfChanged(let, copy, workspace) == let);
  copy.value = Int(2);
  const tir::LetStmt* changed = tir::CopyIfChanged(let, copy, workspace);
  CHECK(changed != let);
  CHECK(changed->value == Int(2));
  CHECK(changed->body == let->body);
}

TEST_CASE("axes of attributes that launch threads", "[ir]") {
  Workspace workspace;
  const auto* axis = workspace.New<tir::IterVar>(nullptr, workspace.NewPrimVar("tx", DataType::Int(32)),
                                                 tir::IterVarType::kThreadIndex, "threadIdx.x");
  const auto attribute = [&](std::string_view key) {
    return workspace.New<tir::AttrStmt>(axis, key, Int(8), tir::NoOp(workspace));
  };
  CHECK(tir::ThreadAxisOf(*attribute("thread_extent")) == axis);
  CHECK(tir::ThreadAxisOf(*attribute("virtual_thread")) == axis);
  CHECK(tir::LaunchAxisOf(*attribute("thread_extent")) == axis);
  CHECK(tir::LaunchAxisOf(*attribute("virtual_thread")) == nullptr);
  CHECK(tir::ThreadAxisOf(*attribute("pragma_unroll")) == nullptr);
}

TEST_CASE("statements that do nothing", "[ir]") {
  Workspace workspace;
  const tir::Stmt* nothing = tir::NoOp(workspace);
  const tir::Stmt* five = workspace.New<tir::Evaluate>(Int(5));
  const std::vector<const tir::Stmt*> nothings = {nothing, nothing};
  CHECK(tir::IsNoOp(nothing));
  CHECK_FALSE(tir::IsNoOp(five));
  CHECK(tir::HasNoOps(tir::MakeSeq(workspace, std::vector{five, nothing})));
  CHECK_FALSE(tir::HasNoOps(nothing));
  CHECK(tir::MakeFlatSeq(workspace, std::vector{nothing, five}) == five);
  CHECK(tir::IsNoOp(tir::MakeFlatSeq(workspace, nothings)));
  const tir::Stmt* inner = tir::MakeSeq(workspace, std::vector{five, nothing});
  CHECK(To<tir::SeqStmt>(tir::MakeFlatSeq(workspace, std::vector{inner, five, inner}))->seq.size() == 3);
}

TEST_CASE("a mutator drops statements that do nothing if it is asked to", "[ir]") {
  class Drop : public tir::StmtExprMutator {
   public:
    using StmtExprMutator::StmtExprMutator;

   protected:
    const PrimExpr* VisitIntImm(const tir::IntImm* value) override { return value->value == 7 ? Int(0) : value; }
  };
  Workspace workspace;
  const tir::Stmt* five = workspace.New<tir::Evaluate>(Int(5));
  const tir::Stmt* seven = workspace.New<tir::Evaluate>(Int(7));
  const tir::Stmt* seq = tir::MakeSeq(workspace, std::vector{five, seven, tir::NoOp(workspace), five});
  CHECK(To<tir::SeqStmt>(Drop(workspace).VisitStmt(seq))->seq.size() == 4);
  CHECK(To<tir::SeqStmt>(Drop(workspace, tir::kDropNoOps).VisitStmt(seq))->seq.size() == 2);
  CHECK(tir::IsNoOp(Drop(workspace, tir::kDropNoOps).VisitStmt(tir::MakeSeq(workspace, std::vector{seven, seven}))));
  const tir::Stmt* clean = tir::MakeSeq(workspace, std::vector{five, five});
  CHECK(Drop(workspace, tir::kDropNoOps).VisitStmt(clean) == clean);
}

TEST_CASE("a mutator rewrites the shapes of buffers if it is asked to", "[ir]") {
  class Shrink : public tir::StmtExprMutator {
   public:
    using StmtExprMutator::StmtExprMutator;

   protected:
    const PrimExpr* VisitIntImm(const tir::IntImm* value) override {
      return value->value == 8 ? IRContext::Current().Int(4, DataType::Int(32)) : value;
    }
  };
  Workspace workspace;
  const PrimFunc* func = NewLoop(workspace, 8);
  const auto store_of = [](const PrimFunc* f) { return To<tir::BufferStore>(To<tir::For>(f->body)->body); };
  const PrimFunc* same = Shrink(workspace).VisitPrimFunc(func);
  CHECK(store_of(same)->buffer == func->param_buffers[1]);
  const PrimFunc* changed = Shrink(workspace, tir::kRewriteBuffers).VisitPrimFunc(func);
  CHECK(changed->param_buffers[1] != func->param_buffers[1]);
  CHECK(store_of(changed)->buffer == changed->param_buffers[1]);
  CHECK(To<tir::IntImm>(changed->param_buffers[1]->shape[0])->value == 4);
}

TEST_CASE("a function with another body", "[ir]") {
  Workspace workspace;
  const PrimFunc* func = NewLoop(workspace, 8);
  CHECK(tir::WithBody(func, func->body, workspace) == func);
  const tir::Stmt* nothing = tir::NoOp(workspace);
  const PrimFunc* other = tir::WithBody(func, nothing, workspace);
  CHECK(other->body == nothing);
  CHECK(other->attrs == func->attrs);
}

}  // namespace
}  // namespace iropt

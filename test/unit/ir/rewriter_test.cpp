#include "iropt/ir/relax/rewriter.h"

#include <vector>

#include "catch.h"
#include "iropt/ir/relax/normalizer.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/ir/structural.h"
#include "testing.h"

namespace iropt {
namespace {

using namespace testing;

// Replaces variables by name, and drops bindings of one name.
class Renamer : private ExprRewriter<Renamer> {
 public:
  Renamer(Workspace& workspace, TypeInferrer& inferrer, std::string_view from, const Expr* to,
          std::string_view dropped = "-")
      : ExprRewriter(workspace, &inferrer), from_(from), to_(to), dropped_(dropped) {}
  const Function* Run(const Function* function) { return Rebuild(*function, VisitExpr(function->body)); }

 private:
  friend class ExprRewriter<Renamer>;
  const Expr* VisitVar(const Var* var) { return var->name() == from_ ? to_ : var; }
  const Binding* VisitBinding(const Binding* binding) {
    return binding->var->name() == dropped_ ? nullptr : ExprRewriter::VisitBinding(binding);
  }

  std::string_view from_;
  const Expr* to_;
  std::string_view dropped_;
};

TEST_CASE("a rewriter that changes nothing returns the same pointer and allocates nothing", "[ir]") {
  Workspace workspace;
  const Function* func = NewChain(workspace, 10);
  FirstArgInferrer inferrer;
  const size_t bytes = workspace.arena().bytes_used();
  CHECK(Renamer(workspace, inferrer, "other", nullptr).Run(func) == func);
  CHECK(workspace.arena().bytes_used() == bytes);
  CHECK(inferrer.inferred == 0);
}

TEST_CASE("a rewriter infers types only if those of operands change", "[ir]") {
  Workspace workspace;
  const Function* func = NewChain(workspace, 3);
  const Var* same = workspace.NewVar("same", Tensor({Int(4)}));
  const Var* other = workspace.NewVar("other", Tensor({Int(8)}));
  FirstArgInferrer inferrer;
  const Function* changed = Renamer(workspace, inferrer, "x", same).Run(func);
  CHECK(changed != func);
  CHECK(inferrer.inferred == 0);
  const auto& old_bindings = To<SeqExpr>(func->body)->blocks[0]->bindings;
  const auto& bindings = To<SeqExpr>(changed->body)->blocks[0]->bindings;
  REQUIRE(bindings.size() == old_bindings.size());
  CHECK(ValueOf(bindings[0])->type == ValueOf(old_bindings[0])->type);
  // The last binding does not use x.
  CHECK(bindings[3] == old_bindings[3]);

  const Function* retyped = Renamer(workspace, inferrer, "x", other).Run(func);
  CHECK(inferrer.inferred > 0);
  CHECK(ValueOf(To<SeqExpr>(retyped->body)->blocks[0]->bindings[0])->type == other->type);
}

TEST_CASE("a rewriter drops bindings", "[ir]") {
  Workspace workspace;
  const Function* func = NewChain(workspace, 2);
  FirstArgInferrer inferrer;
  const Function* changed = Renamer(workspace, inferrer, "lv", func->params[0], "lv").Run(func);
  const auto& bindings = To<SeqExpr>(changed->body)->blocks[0]->bindings;
  REQUIRE(bindings.size() == 2);
  CHECK(To<Call>(ValueOf(bindings[0]))->args[0] == func->params[0]);
}

TEST_CASE("policies of types for calls", "[ir]") {
  Workspace workspace;
  const Var* x = workspace.NewVar("x", Tensor({Int(4)}));
  const Var* y = workspace.NewVar("y", Tensor({Int(8)}));
  const Call* call = NewCall(workspace, kAdd, {x, x}, x->type);
  FirstArgInferrer inferrer;
  const auto type_with = [&](Retype retype, const Var* arg) {
    const Expr* args[] = {arg, arg};
    return Rebuilder(workspace, &inferrer, retype)
        .Rebuild(*call, call->op, workspace.Copy(std::span<const Expr* const>(args)))
        ->type;
  };
  CHECK(type_with(Retype::kNever, y) == x->type);
  CHECK(type_with(Retype::kIfNeeded, y) == y->type);
  CHECK(type_with(Retype::kCalls, y) == y->type);
  CHECK(type_with(Retype::kLeaveOpen, y) == nullptr);
  CHECK(Rebuilder(workspace, &inferrer, Retype::kCalls).Rebuild(*call, call->op, call->args) == call);
}

TEST_CASE("blocks are joined and empty ones dropped", "[ir]") {
  Workspace workspace;
  const Var* x = workspace.NewVar("x", Tensor({Int(4)}));
  const auto block = [&](int size, bool is_dataflow) -> const BindingBlock* {
    std::vector<const Binding*> bindings;
    for (int i = 0; i < size; ++i) bindings.push_back(workspace.New<VarBinding>(workspace.NewVar("v", x->type), x));
    if (is_dataflow) return workspace.New<DataflowBlock>(workspace.Copy(bindings));
    return workspace.New<BindingBlock>(workspace.Copy(bindings));
  };
  const std::vector<const BindingBlock*> blocks = {block(0, false), block(2, true), block(0, false), block(1, true),
                                                   block(1, false)};
  const List<const BindingBlock*> joined = JoinBlocks(workspace.Copy(blocks), workspace);
  REQUIRE(joined.size() == 2);
  CHECK(joined[0]->is_dataflow());
  CHECK(joined[0]->bindings.size() == 3);
  CHECK(joined[1] == blocks[4]);
  CHECK(IsSameList(JoinBlocks(joined, workspace), joined));
}

// ---- Tuples

struct Counter {
  int depth = 0;
  Counter Field(uint32_t) const { return {depth + 1}; }
};

TEST_CASE("leaves of operands", "[ir]") {
  Workspace workspace;
  FirstArgInferrer inferrer;
  Rebuilder rebuilder(workspace, &inferrer, Retype::kIfNeeded);
  const Var* x = workspace.NewVar("x", Tensor({Int(4)}));
  const Var* y = workspace.NewVar("y", Tensor({Int(4)}));
  const auto tuple = [&](std::vector<const Expr*> fields) {
    auto* made = workspace.New<Tuple>(workspace.Copy(fields), nullptr);
    made->type = inferrer.Infer(made);
    return made;
  };
  const Expr* nested = tuple({x, tuple({y, x})});
  std::vector<const Expr*> leaves;
  ForEachLeaf(nested, [&](const Expr* leaf) { leaves.push_back(leaf); });
  CHECK(leaves == std::vector<const Expr*>{x, y, x});
  std::vector<int> depths;
  ForEachLeaf(nested, Counter(), [&](const Expr*, const Counter& counter) { depths.push_back(counter.depth); });
  CHECK(depths == std::vector<int>{1, 2, 2});
  CHECK(AnyLeaf(nested, [&](const Expr* leaf) { return leaf == y; }));
  CHECK_FALSE(AnyLeaf(nested, &Is<DataflowVar>));
  CHECK(MapLeaves(nested, rebuilder, [](const Expr* leaf) { return leaf; }) == nested);
  const Expr* mapped =
      MapLeaves(nested, rebuilder, [&](const Expr* leaf) -> const Expr* { return leaf == y ? x : leaf; });
  CHECK(StructuralEqual(mapped, tuple({x, tuple({x, x})})));
  CHECK(To<Tuple>(mapped)->type == nested->type);
  CHECK(FoldLeaves(
            nested, [](const Expr*) { return 1; },
            [](const std::vector<int>& fields) {
              int sum = 10;
              for (const int field : fields) sum += field;
              return sum;
            }) == 23);
}

TEST_CASE("items of values of tuple types", "[ir]") {
  Workspace workspace;
  const Type* leaf = Tensor({Int(4)});
  const Type* pair = TupleType::Get({{leaf, leaf}});
  const Type* type = TupleType::Get({{leaf, pair}});
  CHECK(HasFieldsOf(type, type));
  CHECK(HasFieldsOf(type, leaf));
  CHECK_FALSE(HasFieldsOf(leaf, type));
  CHECK(AllLeaves(type, &Is<TensorType>));
  const Var* t = workspace.NewVar("t", type);
  int items = 0;
  ForEachItem(t, type, workspace, [&](const Expr* item) {
    CHECK(Is<TupleGetItem>(item));
    CHECK(item->type == leaf);
    ++items;
  });
  CHECK(items == 3);
  CHECK(ConvertItems(t, Counter(), workspace, [](const Expr* item, const Counter&) { return item; }) == t);
  const Var* x = workspace.NewVar("x", leaf);
  const Expr* converted = ConvertItems(
      t, Counter(), workspace, [&](const Expr* item, const Counter& counter) { return counter.depth == 2 ? x : item; });
  const auto* tuple = To<Tuple>(converted);
  CHECK(Is<TupleGetItem>(tuple->fields[0]));
  CHECK(To<Tuple>(tuple->fields[1])->fields[0] == x);
  const Type* wide = MapLeaves(type, Counter(), workspace.arena(),
                               [](const Type*, const Counter&) -> const Type* { return Tensor({Int(8)}); });
  CHECK(To<TupleType>(wide)->fields[0] == Tensor({Int(8)}));
  CHECK(MapLeaves(type, Counter(), workspace.arena(), [](const Type*, const Counter& counter) -> const Type* {
          return counter.depth == 2 ? nullptr : ObjectType::Get();
        }) == nullptr);
}

TEST_CASE("operands in A-normal form", "[ir]") {
  Workspace workspace;
  const Var* x = workspace.NewVar("x", Tensor({Int(4)}));
  const Call* inner = NewCall(workspace, kNeg, {x}, x->type);
  const Call* outer = NewCall(workspace, kAdd, {inner, x}, x->type);
  CHECK(HasFlatOperands(inner));
  CHECK_FALSE(HasFlatOperands(outer));
  CHECK_FALSE(IsFlatOperand(inner));
  Rebuilder rebuilder(workspace, nullptr, Retype::kNever);
  const auto bind = [&](const Expr* operand) -> const Expr* { return operand == inner ? x : operand; };
  const auto* flat = To<Call>(MapOperands(outer, rebuilder, bind));
  CHECK(flat->args[0] == x);
  CHECK(flat->type == outer->type);
  CHECK(MapOperands(flat, rebuilder, bind) == flat);
  CHECK(MapOperands(outer, rebuilder, [](const Expr*) -> const Expr* { return nullptr; }) == nullptr);
}

}  // namespace
}  // namespace iropt

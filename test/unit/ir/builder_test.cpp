#include "iropt/ir/relax/builder.h"

#include <vector>

#include "catch.h"
#include "iropt/ir/relax/origin_scope.h"
#include "testing.h"

namespace iropt {
namespace {

using namespace testing;

struct Builder {
  Workspace workspace;
  FirstArgInferrer inferrer;
  BlockBuilder builder{workspace, &inferrer};
  const Var* x = workspace.NewVar("x", Tensor({Int(2)}));

  const Call* Add(const Expr* a, const Expr* b) { return NewCall(workspace, kAdd, {a, b}); }
};

TEST_CASE_METHOD(Builder, "emitted variables get names, kinds and types", "[ir]") {
  builder.BeginDataflowBlock();
  const Var* a = builder.Emit(Add(x, x));
  const Var* b = builder.Emit(Add(a, x));
  const Var* out = builder.EmitOutput(Add(b, x));
  const Var* named = builder.EmitOutput(Add(b, x), "my.name");
  const BindingBlock* block = builder.EndBlock();
  CHECK(a->name() == "lv");
  CHECK(b->name() == "lv1");
  CHECK(out->name() == "gv");
  CHECK(named->name() == "my_name");
  CHECK(a->is_dataflow());
  CHECK_FALSE(out->is_dataflow());
  CHECK(out->type == x->type);
  CHECK(block->is_dataflow());
  CHECK(block->bindings.size() == 4);
  CHECK(To<Call>(builder.LookupBinding(b))->args[0] == a);
  CHECK(builder.LookupBinding(x) == nullptr);
  CHECK_FALSE(builder.failed());
}

TEST_CASE_METHOD(Builder, "bindings come from the innermost scope, unless they say where they come from", "[ir]") {
  const auto begin_of = [](const Binding* binding) { return binding->span().begin; };
  auto* known = workspace.New<Call>(*NewCall(workspace, kAdd, {x, x}));
  known->set_span(Span::Of(90, 95));
  builder.BeginBindingBlock();
  builder.Emit(Add(x, x));
  const auto* made = workspace.New<VarBinding>(workspace.NewVar("y", x->type), x);
  {
    const OriginScope outer(Span::Of(10, 12));
    builder.Emit(Add(x, x));
    {
      const OriginScope inner(Span::Of(20, 22));
      builder.EmitMatchCast(x, x->type);
      builder.EmitNormalized(made);
    }
    builder.Emit(known);
    const OriginScope none{Span()};
    builder.EmitNormalized(made);
  }
  const BindingBlock* block = builder.EndBlock();
  std::vector<uint32_t> begins;
  for (const Binding* binding : block->bindings) begins.push_back(begin_of(binding));
  CHECK(begins == std::vector<uint32_t>{0, 10, 20, 20, 90, 0});
  CHECK(begin_of(made) == 0);
  CHECK(block->bindings[5] == made);
  CHECK_FALSE(OriginScope::Current().known());
}

TEST_CASE_METHOD(Builder, "names are unique, also among numbered ones", "[ir]") {
  CHECK(builder.UniqueName("lv1") == "lv1");
  CHECK(builder.UniqueName("lv") == "lv");
  CHECK(builder.UniqueName("lv") == "lv2");
  CHECK(builder.UniqueName("lv1") == "lv11");
  CHECK(builder.UniqueName("lv01") == "lv01");
  for (int i = 3; i < 11; ++i) builder.UniqueName("lv");
  // "lv11" is taken already.
  CHECK(builder.UniqueName("lv") == "lv12");
  CHECK(builder.UniqueName("lv12") == "lv121");
  CHECK(builder.UniqueName("lv13") == "lv13");
  CHECK(builder.UniqueName("lv") == "lv14");
}

TEST_CASE_METHOD(Builder, "nested operands become bindings, shared ones once", "[ir]") {
  builder.BeginBindingBlock();
  const Call* shared = Add(x, x);
  const Expr* normal = builder.Normalize(Add(shared, Add(shared, x)));
  const BindingBlock* block = builder.EndBlock();
  REQUIRE(block->bindings.size() == 2);
  const auto* call = To<Call>(normal);
  CHECK(call->args[0] == block->bindings[0]->var);
  CHECK(call->args[1] == block->bindings[1]->var);
  CHECK(To<Call>(To<VarBinding>(block->bindings[1])->value)->args[0] == block->bindings[0]->var);
  CHECK(call->type == x->type);
}

TEST_CASE_METHOD(Builder, "code in normal form stays the same pointer", "[ir]") {
  const Function* func = NewChain(workspace, 5);
  CHECK(builder.Normalize(func) == func);
  // The same without the builder's mark.
  const auto* seq = To<SeqExpr>(func->body);
  const auto* unmarked = workspace.New<SeqExpr>(seq->blocks, seq->body, seq->type);
  const Function* other = NewFunction(workspace, {func->params[0]}, unmarked);
  CHECK(builder.Normalize(other) == other);
}

TEST_CASE_METHOD(Builder, "the body of a function becomes a SeqExpr", "[ir]") {
  const Function* func = NewFunction(workspace, {x}, Add(Add(x, x), x));
  const auto* normal = To<Function>(builder.Normalize(func));
  const auto* seq = To<SeqExpr>(normal->body);
  REQUIRE(seq->blocks.size() == 1);
  REQUIRE(seq->blocks[0]->bindings.size() == 2);
  CHECK(seq->body == seq->blocks[0]->bindings[1]->var);
}

TEST_CASE_METHOD(Builder, "branches become SeqExprs with bindings of their own", "[ir]") {
  const Var* cond = workspace.NewVar("cond", TensorType::Get(0, DataType::Bool()));
  builder.BeginBindingBlock();
  const auto* conditional = To<If>(builder.Normalize(workspace.New<If>(cond, Add(x, x), x, nullptr)));
  CHECK(builder.EndBlock()->bindings.empty());
  CHECK(To<SeqExpr>(conditional->true_branch)->blocks.size() == 1);
  CHECK(To<SeqExpr>(conditional->false_branch)->blocks.empty());
  CHECK(conditional->type == x->type);
}

TEST_CASE_METHOD(Builder, "blocks are joined and nested SeqExprs dissolved", "[ir]") {
  const auto binding = [&](const Expr* value, const char* name) {
    return workspace.New<VarBinding>(workspace.NewVar(name, x->type), value);
  };
  const auto block = [&](std::vector<const Binding*> bindings) {
    return workspace.New<BindingBlock>(workspace.Copy(bindings));
  };
  const Binding* inner = binding(Add(x, x), "inner");
  const auto* nested =
      workspace.New<SeqExpr>(workspace.Copy(std::vector<const BindingBlock*>{block({inner})}), inner->var, nullptr);
  const Binding* first = binding(Add(x, x), "first");
  const Binding* outer = binding(nested, "outer");
  const auto* seq = workspace.New<SeqExpr>(
      workspace.Copy(std::vector<const BindingBlock*>{block({first}), block({}), block({outer})}), outer->var, nullptr);
  const auto* normal = To<SeqExpr>(builder.Normalize(seq));
  REQUIRE(normal->blocks.size() == 1);
  REQUIRE(normal->blocks[0]->bindings.size() == 3);
  CHECK(normal->blocks[0]->bindings[1]->var == inner->var);
  CHECK(To<VarBinding>(normal->blocks[0]->bindings[2])->value == inner->var);
  CHECK(builder.Normalize(normal) == normal);
}

TEST_CASE_METHOD(Builder, "blocks of two kinds stay apart", "[ir]") {
  builder.BeginDataflowBlock();
  const Var* out = builder.EmitOutput(Add(x, x));
  const BindingBlock* dataflow = builder.EndBlock();
  builder.BeginBindingBlock();
  const Var* result = builder.Emit(Add(out, out));
  const SeqExpr* seq = builder.Seq({dataflow, builder.EndBlock()}, result);
  REQUIRE(seq->blocks.size() == 2);
  CHECK(seq->blocks[0] == dataflow);
}

TEST_CASE_METHOD(Builder, "variables without a type get that of their value", "[ir]") {
  const Var* untyped = workspace.NewVar("y", nullptr);
  const std::vector<const Binding*> bindings{workspace.New<VarBinding>(untyped, Add(x, x))};
  const std::vector<const BindingBlock*> blocks{workspace.New<BindingBlock>(workspace.Copy(bindings))};
  const auto* seq = workspace.New<SeqExpr>(workspace.Copy(blocks), untyped, nullptr);
  const auto* normal = To<SeqExpr>(builder.Normalize(seq));
  CHECK(normal->body->type == x->type);
  CHECK(normal->body == normal->blocks[0]->bindings[0]->var);
}

TEST_CASE_METHOD(Builder, "uses of a variable without a value become the empty tuple", "[ir]") {
  const Var* nothing = workspace.NewVar("v", TupleType::Get({}));
  CHECK(Is<Tuple>(builder.Normalize(nothing)));
}

TEST_CASE_METHOD(Builder, "a match_cast gives its variable the type", "[ir]") {
  builder.BeginBindingBlock();
  const Type* type = Tensor({IRContext::Current().NewSymVar("n")});
  const Var* var = builder.EmitMatchCast(x, type);
  const BindingBlock* block = builder.EndBlock();
  CHECK(var->type == type);
  CHECK(To<MatchCast>(block->bindings[0])->match_type == type);
}

TEST_CASE_METHOD(Builder, "a function gets its type from its body", "[ir]") {
  builder.BeginDataflowBlock();
  const Var* out = builder.EmitOutput(Add(x, x));
  const Function* function = builder.MakeFunction({x}, builder.Seq({builder.EndBlock()}, out));
  const Type* params[] = {x->type};
  CHECK(function->ret_type == x->type);
  CHECK(function->type == FuncType::Get(params, x->type));
  CHECK(function->is_pure);

  const Function* impure = builder.MakeFunction({}, x, DictAttr::Empty()->With("n", IntAttr::Get(1)), false);
  CHECK(To<SeqExpr>(impure->body)->body == x);
  CHECK(impure->type == FuncType::Get({}, x->type, false));
  CHECK(impure->attrs->Find("n") != nullptr);
}

TEST_CASE_METHOD(Builder, "inference that fails is remembered", "[ir]") {
  builder.BeginBindingBlock();
  const Var* var = builder.Emit(NewCall(workspace, kAdd, {}));
  CHECK(builder.failed());
  CHECK(var->type == ObjectType::Get());
}

TEST_CASE_METHOD(Builder, "operands nested very deeply are normalized", "[ir]") {
  constexpr int kDepth = 1'000'000;
  const Expr* expr = x;
  for (int i = 0; i < kDepth; ++i) expr = Add(expr, x);
  builder.BeginBindingBlock();
  const Var* result = builder.Emit(expr);
  const BindingBlock* block = builder.EndBlock();
  CHECK(block->bindings.size() == kDepth);
  CHECK(block->bindings.back()->var == result);
}

}  // namespace
}  // namespace iropt

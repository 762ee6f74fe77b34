// Passes over dataflow blocks, and the parts that they must not change.
#include "catch.h"
#include "helpers.h"

using namespace iropt;

namespace {

const DataflowBlock* BlockOf(const Function* function) {
  return To<DataflowBlock>(To<SeqExpr>(function->body)->blocks[0]);
}

const DataflowBlock* MakeBlock(const std::vector<const Binding*>& bindings, Workspace& workspace) {
  return workspace.New<DataflowBlock>(workspace.Copy(bindings));
}

using BlockRewrite = std::function<std::vector<const Binding*>(const DataflowBlock*, Workspace&)>;

Result<PassResult> RunOnBlocks(const Module& module, const BlockRewrite& rewrite) {
  const Pass pass = CreateDataflowBlockPass(
      {.name = "Blocks"},
      [&](const DataflowBlock* block, FunctionPassContext& context) -> Result<const DataflowBlock*> {
        return MakeBlock(rewrite(block, context.workspace()), context.workspace());
      });
  CHECK(pass.info().kind == PassKind::DataflowBlock);
  return pass(module);
}

// def f(x: R.Tensor(ndim=1)): with a dataflow block { gv = match_cast(x, R.Tensor((n,))) }, return gv
Module MakeMatchCast() {
  Workspace workspace;
  const PrimExpr* dims[] = {IRContext::Current().NewSymVar("n")};
  const Type* known = TensorType::Get(dims, DataType::Float(32));
  const Type* given = TensorType::Get(1, DataType::Float(32));
  const Var* x = workspace.NewVar("x", given);
  const Var* output = workspace.NewVar("gv", known);
  const BindingBlock* block = MakeBlock({workspace.New<MatchCast>(output, x, known)}, workspace);
  const auto* body = workspace.New<SeqExpr>(workspace.Copy(std::vector{block}), output, known);
  const auto* function = workspace.New<Function>(workspace.Copy(std::vector{x}), body, given, true, DictAttr::Empty(),
                                                 FuncType::Get(std::vector{given}, given));
  Module module;
  module.Set(GlobalVar::Get("f"), function, workspace.Finish());
  return module;
}

}  // namespace

TEST_CASE("a dataflow block pass rewrites blocks") {
  const Module module = MakeModule({"f"});
  // gv = x, without the local variable
  const Result<PassResult> result = RunOnBlocks(module, [](const DataflowBlock* block, Workspace& workspace) {
    const Expr* x = To<VarBinding>(block->bindings[0])->value;
    return std::vector<const Binding*>{workspace.New<VarBinding>(block->bindings[1]->var, x)};
  });
  REQUIRE(result.ok());
  CHECK(result->changed);
  const auto* function = To<Function>(result->module.Find("f")->func);
  CHECK(BlockOf(function)->bindings.size() == 1);
}

TEST_CASE("a dataflow block pass that gives back its blocks has changed nothing") {
  const Pass pass = CreateDataflowBlockPass({.name = "Keep"}, [](const DataflowBlock* block, FunctionPassContext&) {
    return Result<const DataflowBlock*>(block);
  });
  const Module module = MakeModule({"f"});
  const Result<PassResult> result = pass(module);
  REQUIRE(result.ok());
  CHECK_FALSE(result->changed);
  CHECK(result->module.Find("f")->func == module.Find("f")->func);
}

TEST_CASE("a dataflow block pass must keep the outputs of the block") {
  const Result<PassResult> result = RunOnBlocks(MakeModule({"f"}), [](const DataflowBlock* block, Workspace&) {
    return std::vector<const Binding*>{block->bindings[0]};
  });
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message ==
        "pass 'Blocks' failed: a pass over dataflow blocks must keep their outputs, but 'gv' is no longer bound");
}

TEST_CASE("a dataflow block pass must not replace an output by another of its name") {
  const Result<PassResult> result =
      RunOnBlocks(MakeModule({"f"}), [](const DataflowBlock* block, Workspace& workspace) {
        const Var* other = workspace.NewVar("gv", block->bindings[1]->var->type);
        const Expr* value = To<VarBinding>(block->bindings[1])->value;
        return std::vector<const Binding*>{block->bindings[0], workspace.New<VarBinding>(other, value)};
      });
  REQUIRE_FALSE(result.ok());
}

TEST_CASE("a dataflow block pass must keep the symbolic variables that the block defines") {
  const Module module = MakeMatchCast();
  CHECK(RunOnBlocks(module, [](const DataflowBlock* block, Workspace&) {
          return std::vector<const Binding*>(block->bindings.begin(), block->bindings.end());
        }).ok());
  const Result<PassResult> result = RunOnBlocks(module, [](const DataflowBlock* block, Workspace& workspace) {
    const auto* cast = To<MatchCast>(block->bindings[0]);
    return std::vector<const Binding*>{workspace.New<VarBinding>(cast->var, cast->value)};
  });
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message ==
        "pass 'Blocks' failed: a pass over dataflow blocks must keep the symbolic variables "
        "that they define, but 'n' is no longer defined");
}

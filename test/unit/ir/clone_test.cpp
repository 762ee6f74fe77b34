#include "iropt/ir/clone.h"

#include <set>
#include <vector>

#include "catch.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/builder.h"
#include "testing.h"

namespace iropt {
namespace {

using namespace testing;

TEST_CASE("a copy is equal and shares nothing", "[ir]") {
  Workspace source;
  Workspace target;
  const Function* func = NewChain(source, 20);
  const auto* copy = To<Function>(CloneFunction(func, target));
  CHECK(StructuralEqual(func, copy));
  CHECK(copy->type == func->type);
  std::set<const Node*> nodes;
  PostOrderVisit(func, [&](const Expr* expr) { nodes.insert(expr); });
  PostOrderVisit(copy, [&](const Expr* expr) { CHECK((Is<Op>(expr) || !nodes.contains(expr))); });
  CHECK(target.num_vars() == 22);
  CHECK(copy->params[0]->name() == "x");
}

TEST_CASE("a copy of a PrimFunc", "[ir]") {
  Workspace source;
  const PrimFunc* func = NewLoop(source, 8);
  Workspace target;
  const auto* copy = To<PrimFunc>(CloneFunction(func, target));
  CHECK(StructuralEqual(func, copy));
  const auto* store = To<tir::BufferStore>(To<tir::For>(copy->body)->body);
  CHECK(store->buffer == copy->param_buffers[1]);
  CHECK(store->buffer != func->param_buffers[1]);
  CHECK(target.num_vars() == 7);
}

// A PrimFunc with a buffer of n * 2 elements before one of n, and a loop of n iterations.
const PrimFunc* NewFuncOfSizes(Workspace& workspace) {
  const tir::Var* n = workspace.NewPrimVar("n", DataType::Int(64));
  const PrimExpr* zero = workspace.New<tir::IntImm>(DataType::Int(64), 0);
  const PrimExpr* twice = workspace.New<tir::Mul>(n, workspace.New<tir::IntImm>(DataType::Int(64), 2));
  const std::vector<const tir::Buffer*> buffers{tir::MakeBuffer(workspace, {.shape = {twice}}, "A"),
                                                tir::MakeBuffer(workspace, {.shape = {n}}, "B")};
  const std::vector<const tir::Var*> params{workspace.NewPrimVar("a", DataType::Handle()),
                                            workspace.NewPrimVar("b", DataType::Handle())};
  const tir::Stmt* loop =
      workspace.New<tir::For>(workspace.NewPrimVar("i", DataType::Int(64)), zero, n, tir::ForKind::kSerial,
                              workspace.New<tir::Evaluate>(zero), nullptr, DictAttr::Empty());
  return workspace.New<PrimFunc>(workspace.Copy(params), workspace.Copy(buffers), loop, TupleType::Get({}),
                                 DictAttr::Empty(), nullptr);
}

TEST_CASE("a shape in a copy may use what a later parameter defines", "[ir]") {
  Workspace source;
  const PrimFunc* func = NewFuncOfSizes(source);
  Workspace target;
  const auto* copy = To<PrimFunc>(CloneFunction(func, target));
  CHECK(StructuralEqual(func, copy));
  const PrimExpr* n = copy->param_buffers[1]->shape[0];
  CHECK(n != func->param_buffers[1]->shape[0]);
  CHECK(To<tir::Mul>(copy->param_buffers[0]->shape[0])->a == n);
  CHECK(To<tir::For>(copy->body)->extent == n);
}

TEST_CASE("a buffer that is declared over outer memory stays over it", "[ir]") {
  Workspace workspace;
  const PrimExpr* n = workspace.NewPrimVar("n", DataType::Int(64));
  const tir::Buffer* outer = tir::MakeBuffer(workspace, {.shape = {n}}, "A");
  const tir::Buffer* view = tir::MakeBuffer(workspace, {.shape = {n}, .data = outer->data}, "V");
  const tir::Stmt* body = workspace.New<tir::Evaluate>(n);
  const auto* copy =
      To<tir::DeclBuffer>(Cloner(workspace).Clone<tir::Stmt>(workspace.New<tir::DeclBuffer>(view, body)));
  CHECK(copy->buffer != view);
  CHECK(copy->buffer->data == outer->data);
  CHECK(copy->buffer->shape[0] == n);
}

TEST_CASE("shared expressions are shared in the copy", "[ir]") {
  Workspace workspace;
  const PrimExpr* expr = workspace.NewPrimVar("x", DataType::Int(64));
  for (int i = 0; i < 200; ++i) expr = workspace.New<tir::Add>(expr, expr);
  Workspace target;
  const PrimExpr* copy = Cloner(target, {.copy_free_vars = true}).Clone(expr);
  for (int i = 0; i < 200; ++i) {
    CHECK(To<tir::Add>(copy)->a == To<tir::Add>(copy)->b);
    copy = To<tir::Add>(copy)->a;
  }
  CHECK(target.num_vars() == 1);
}

TEST_CASE("free variables stay or are mapped", "[ir]") {
  Workspace workspace;
  const Var* x = workspace.NewVar("x", ObjectType::Get());
  const Var* y = workspace.NewVar("y", ObjectType::Get());
  const Call* call = NewCall(workspace, kAdd, {x, x});
  CHECK(To<Call>(Cloner(workspace).Clone<Expr>(call))->args[0] == x);
  Cloner cloner(workspace);
  cloner.Map(x, y);
  CHECK(cloner.Clone<Call>(call)->args[1] == y);
  CHECK(cloner.Clone(static_cast<const Expr*>(x)) == y);
}

TEST_CASE("a copy may have symbolic variables of its own", "[ir]") {
  Workspace workspace;
  const PrimExpr* n = IRContext::Current().NewSymVar("n");
  const Function* func = NewChain(workspace, 2, kAdd, "x", Tensor({n, n}));
  const auto* same = To<Function>(CloneFunction(func, workspace));
  CHECK(same->params[0]->type == func->params[0]->type);
  const auto* fresh = To<Function>(CloneFunction(func, workspace, {.fresh_sym_vars = true}));
  CHECK(StructuralEqual(func, fresh));
  const auto* type = To<TensorType>(fresh->params[0]->type);
  CHECK(type->dims[0] != n);
  CHECK(type->dims[0] == type->dims[1]);
  CHECK(To<FuncType>(fresh->type)->params[0] == type);
  const auto* binding = To<VarBinding>(To<SeqExpr>(fresh->body)->blocks[0]->bindings[0]);
  CHECK(binding->value->type == type);
  CHECK(binding->var->type == type);
}

TEST_CASE("types with a shape variable follow the variable", "[ir]") {
  Workspace source;
  const Var* shape = source.NewVar("s", ShapeType::Get(2));
  const Var* x = source.NewVar("x", TensorType::WithShapeVar(source.arena(), shape, DataType::Float(32)));
  const auto* func = source.New<Function>(source.Copy(std::vector<const Var*>{shape, x}), x, ObjectType::Get(), true,
                                          DictAttr::Empty(), FuncType::Opaque(ObjectType::Get()));
  Workspace target;
  const auto* copy = To<Function>(CloneFunction(func, target));
  CHECK(To<TensorType>(copy->params[1]->type)->shape_var == copy->params[0]);
  CHECK(StructuralEqual(func, copy));
}

TEST_CASE("annotations follow variables", "[ir]") {
  Workspace source;
  const tir::Var* i = source.NewPrimVar("i", DataType::Int(32));
  const PrimExpr* zero = IRContext::Current().Int(0, DataType::Int(32));
  const tir::Stmt* inner =
      source.New<tir::For>(source.NewPrimVar("j", DataType::Int(32)), zero, zero, tir::ForKind::kSerial,
                           source.New<tir::Evaluate>(zero), nullptr, DictAttr::Empty()->With("at", ExprAttr::Get(i)));
  const tir::Stmt* loop = source.New<tir::For>(i, zero, zero, tir::ForKind::kSerial, inner, nullptr, DictAttr::Empty());
  Workspace target;
  const auto* copy = To<tir::For>(Cloner(target).Clone(loop));
  const auto* attr = To<ExprAttr>(To<tir::For>(copy->body)->annotations->Find("at"));
  CHECK(attr->value == copy->loop_var);
  CHECK(StructuralEqual(loop, copy));
}

TEST_CASE("arrays outlive the function that they were copied from", "[ir]") {
  Workspace target;
  const Constant* copy = nullptr;
  {
    Workspace source;
    auto array = NDArray::Make(DataType::Float(32), {1});
    array->MutableAs<float>()[0] = 5;
    source.arena().Retain(array);
    copy = Cloner(target).Clone(source.New<Constant>(array.get(), Tensor({Int(1)})));
  }
  CHECK(copy->data->As<float>()[0] == 5);
}

TEST_CASE("compaction copies only functions that are mostly garbage", "[ir]") {
  Module module;
  for (const char* name : {"small", "big"}) {
    Workspace workspace;
    const Function* func = NewChain(workspace, 10);
    module.Set(GlobalVar::Get(name), func, workspace.Finish());
  }
  // Garbage in the second function only.
  const ModuleEntry& entry = module.functions()[1];
  Workspace workspace(module, entry.storage);
  for (int i = 0; i < 2000; ++i) NewChain(workspace, 10);
  module.SetAt(1, entry.func, workspace.Finish());
  const Module before = module;
  const size_t bytes = module.functions()[1].storage->bytes();
  CompactStorage(module, 2);
  CHECK(module.functions()[0].func == before.functions()[0].func);
  CHECK(module.functions()[1].func != before.functions()[1].func);
  CHECK(StructuralEqual(module, before));
  const FuncStorageRef& storage = module.functions()[1].storage;
  CHECK(storage->bytes() * 10 < bytes);
  CHECK(storage->live_bytes == storage->bytes());
  CHECK(storage->num_vars == 12);
  CHECK(storage->arenas.size() == 1);
  const Module compacted = module;
  CompactStorage(module, 2);
  CHECK(module.functions()[1].func == compacted.functions()[1].func);
}

}  // namespace
}  // namespace iropt

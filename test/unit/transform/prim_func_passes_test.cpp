// Passes over PrimFuncs that C++ programs make of functions, and modules that text cannot express.
#include "iropt/transform/tir/prim_func_passes.h"

#include <utility>

#include "../catch.h"
#include "iropt/analysis/tir/complete_prim_func.h"
#include "iropt/analysis/well_formed.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/transform/passes.h"

namespace iropt {

namespace {

// for i in range(4): A[i] = 0
ModuleEntry Zeros(std::string_view name) {
  Workspace workspace;
  const arith::PrimBuilder make(workspace);
  tir::FuncBuilder b(workspace);
  const PrimExpr* size = make.Int(4, DataType::Int(32));
  const tir::Buffer* A = b.BufferParam("A", {size}, DataType::Float(32));
  {
    const tir::LoopFrame loop = b.For("i", size);
    b.Store(A, {loop.vars[0]}, make.Float(0, DataType::Float(32)));
  }
  const PrimFunc* func = CompletePrimFunc(b);
  return {GlobalVar::Get(name), func, workspace.Finish()};
}

Module ModuleOf(std::initializer_list<std::string_view> names) {
  Module module;
  for (const std::string_view name : names) {
    const ModuleEntry entry = Zeros(name);
    module.Set(entry.var, entry.func, entry.storage);
  }
  return module;
}

bool IsWellFormed(const Module& module) {
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  return VerifyModule(module, {}, diagnostics);
}

}  // namespace

TEST_CASE("a function is applied to every PrimFunc", "[prim_func_passes]") {
  const Pass mark = ApplyToPrimFuncs([](const PrimFunc* func, Workspace& workspace) -> const PrimFunc* {
    auto* copy = workspace.New<PrimFunc>(*func);
    copy->attrs = func->attrs->With("marked", IntAttr::Bool(true));
    return copy;
  });
  CHECK(mark.info().name == "tir.Apply");
  const Result<PassResult> result = mark(ModuleOf({"f", "g"}));
  REQUIRE(result.ok());
  CHECK(result->changed);
  for (const ModuleEntry& entry : result->module.functions()) CHECK(entry.func->attrs->Find("marked") != nullptr);
}

TEST_CASE("a function that returns its argument changes nothing", "[prim_func_passes]") {
  const Pass same = ApplyToPrimFuncs([](const PrimFunc* func, Workspace&) { return func; });
  const Result<PassResult> result = same(ModuleOf({"f"}));
  REQUIRE(result.ok());
  CHECK_FALSE(result->changed);
}

TEST_CASE("functions stay for which a condition holds", "[prim_func_passes]") {
  const Pass filter = FilterPrimFuncs([](std::string_view name, const PrimFunc&) { return name != "g"; });
  const Result<PassResult> result = filter(ModuleOf({"f", "g", "h"}));
  REQUIRE(result.ok());
  CHECK(result->module.size() == 2);
  CHECK(result->module.Find("g") == nullptr);
}

TEST_CASE("functions that share their nodes become copies", "[prim_func_passes]") {
  const ModuleEntry entry = Zeros("f");
  Module module;
  module.Set(entry.var, entry.func, entry.storage);
  module.Set(GlobalVar::Get("g"), entry.func, entry.storage);
  REQUIRE_FALSE(IsWellFormed(module));
  const Result<PassResult> result = transform::ConvertSSA()(std::move(module));
  REQUIRE(result.ok());
  CHECK(result->module.Find("f")->func == entry.func);
  CHECK(result->module.Find("g")->func != entry.func);
  CHECK(IsWellFormed(result->module));
  CHECK_FALSE(transform::ConvertSSA()(result->module)->changed);
}

}  // namespace iropt

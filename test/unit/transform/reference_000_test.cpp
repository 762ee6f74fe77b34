// The rules of docs/pass_infrastructure.md on single passes.
#include "iropt/transform/passes.h"
#include "pass_tester.h"

namespace iropt {

TEST_CASE("FoldConstant is a function pass of level 2 that requires nothing") {
  const PassInfo info = transform::FoldConstant().info();
  CHECK(info.kind == PassKind::Function);
  CHECK(info.opt_level == 2);
  CHECK(info.required.empty());
}

TEST_CASE("EliminateCommonSubexpr is a function pass") {
  CHECK(transform::EliminateCommonSubexpr().info().kind == PassKind::Function);
}

TEST_CASE_METHOD(PassTester, "dead code elimination is a module pass that removes unused functions") {
  CHECK(transform::DeadCodeElimination().info().kind == PassKind::Module);
  const Var* x = NewVar("x", F23());
  Add("unused", MakeFunction({x}, Seq({}, x)));
  const Var* y = NewVar("y", F23());
  AddMain({y}, {}, y, true, DictAttr::Empty()->With(attr::kGlobalSymbol, StrAttr::Get("main")));
  const Result<PassResult> result = transform::DeadCodeElimination()(module());
  REQUIRE(result.ok());
  CHECK(result->module.Find("unused") == nullptr);
  CHECK(result->module.Find("main") != nullptr);
}

}  // namespace iropt

// Types inferred again without the pass manager. The pass is tested on programs in test/transform/infer_type.
#include "iropt/transform/relax/structure/infer_types.h"

#include "pass_tester.h"

namespace iropt {

TEST_CASE_METHOD(PassTester, "parameters that get other types change what depends on them", "[infer_types]") {
  const Var* x = NewVar("x", F23());
  const Var* lv = NewLocal("lv", F23());
  const Var* gv = NewVar("gv", F23());
  AddMain({x}, {Dataflow({Bind(lv, CallOp("relax.exp", {x}, F23())), Bind(gv, CallOp("relax.abs", {lv}, F23()))})}, gv);
  const Type* wide = Tensor({4, 5});
  // The parameter of the result is another variable, which has the type already.
  const auto type_of = [&](const Var* param) { return param == x ? wide : nullptr; };
  const auto pass = [&](const Function* f, const Module* m, Workspace& ws, DiagnosticEngine& diagnostics) {
    return InferTypes(f, type_of, *m, ws, diagnostics);
  };
  CHECK(Run(pass));
  CHECK(function()->ret_type == wide);
  CHECK(function()->params[0]->type == wide);
}

TEST_CASE_METHOD(PassTester, "types that are as they should be stay", "[infer_types]") {
  const Var* x = NewVar("x", F23());
  AddMain({x}, {}, x);
  const auto pass = [](const Function* f, const Module* m, Workspace& ws, DiagnosticEngine& diagnostics) {
    return InferTypes(f, nullptr, *m, ws, diagnostics);
  };
  CHECK_FALSE(Run(pass));
}

}  // namespace iropt

#include "driver/check/verify_result.h"

#include "../catch.h"
#include "analysis/graph_maker.h"
#include "pass/helpers.h"

namespace iropt {

namespace {

struct Check {
  Reports reports;
  CompilerInstance compiler{{}, reports.consumer()};
  ResultVerifier verifier{compiler};
};

// @R.function def main(x): with R.dataflow(): lv = value; R.output(lv) ...
Module ModuleOf(GraphMaker& m, const Var* x, const Expr* value) {
  const Var* out = m.NewVar("out", value->type);
  m.AddMain({x}, {m.Block({m.Bind(out, value)})}, out);
  return m.module();
}

// Names the outermost function again in every run.
Pass RenameAll() {
  return CreateModulePass({.name = "Rename"}, [](Module module, ModulePassContext&) -> Result<Module> {
    Module renamed;
    for (const ModuleEntry& entry : module.functions()) {
      renamed.Set(GlobalVar::Get(std::string(entry.var->name) + "_again"), entry.func, entry.storage);
    }
    return renamed;
  });
}

}  // namespace

TEST_CASE("a module reads back as itself", "[driver]") {
  GraphMaker m;
  const Var* x = m.NewVar("x", m.Tensor({2}));
  Check check;
  CHECK(check.verifier.CheckRoundTrip(ModuleOf(m, x, m.CallOp("relax.exp", {x}, x->type))).ok());
  CHECK(check.reports.texts().empty());
}

TEST_CASE("nested calls are split when they are read", "[driver]") {
  GraphMaker m;
  const Var* x = m.NewVar("x", m.Tensor({2}));
  const Expr* nested = m.CallOp("relax.exp", {m.CallOp("relax.exp", {x}, x->type)}, x->type);
  Check check;
  const Status status = check.verifier.CheckRoundTrip(ModuleOf(m, x, nested));
  REQUIRE(!status.ok());
  CHECK(status.error().code == ErrorCode::Rejected);
  REQUIRE(check.reports.texts().size() == 1);
  CHECK(check.reports.texts()[0].starts_with("roundtrip-mismatch: the output reads back as another module: "));
}

TEST_CASE("text that does not read back is reported with the errors of reading", "[driver]") {
  GraphMaker m;
  const Var* x = m.NewVar("x", m.Tensor({2}));
  const Expr* unknown = m.NewVar("y", m.Tensor({2}));
  Check check;
  const Status status = check.verifier.CheckRoundTrip(ModuleOf(m, x, unknown));
  REQUIRE(!status.ok());
  CHECK(status.error().code == ErrorCode::Rejected);
  REQUIRE(check.reports.texts().size() == 2);
  CHECK(check.reports.texts()[1] == "roundtrip-mismatch: the output does not read back");
}

TEST_CASE("a pass that changes its own result is not idempotent", "[driver]") {
  GraphMaker m;
  const Var* x = m.NewVar("x", m.Tensor({2}));
  const Module module = ModuleOf(m, x, m.CallOp("relax.exp", {x}, x->type));
  Check check;
  const Status status = check.verifier.CheckIdempotent(module, RenameAll(), PassContext());
  REQUIRE(!status.ok());
  CHECK(status.error().code == ErrorCode::Rejected);
  REQUIRE(check.reports.all().size() == 1);
  CHECK(
      check.reports.texts()[0].starts_with("not-idempotent: a second run of the passes changes the module; the first"));
  CHECK(check.reports.all()[0].notes.size() == 2);
}

}  // namespace iropt

#include "driver/check/verify_each.h"

#include "../catch.h"
#include "analysis/graph_maker.h"
#include "driver/check/round_trip_audit.h"
#include "pass/helpers.h"

namespace iropt {

namespace {

// The messages of the instrument for a pass that turned one module into the other.
class Run {
 public:
  Run() : audit_(std::make_shared<ChangeAudit>()), check_({}, audit_, reports_.engine()) {}

  Status Of(const Module& before, const Module& after, PassOutcome outcome, const PassInfo& info = {.name = "Mine"}) {
    IROPT_RETURN_IF_ERROR(audit_->EnterPassContext());
    IROPT_RETURN_IF_ERROR(audit_->RunBeforePass(before, info));
    IROPT_RETURN_IF_ERROR(audit_->RunAfterPass(after, info, outcome));
    return check_.RunAfterPass(after, info, outcome);
  }
  // The same for the audit of the text.
  Status OfText(const Module& before, const Module& after) {
    static_cast<void>(Of(before, after, PassOutcome::Changed));
    return RoundTripAudit(audit_, 1, reports_.engine()).RunAfterPass(after, {.name = "Mine"}, PassOutcome::Changed);
  }
  Log texts() const { return reports_.texts(); }

 private:
  Reports reports_;
  std::shared_ptr<ChangeAudit> audit_;
  VerifyEach check_;
};

}  // namespace

TEST_CASE("a pass may change a module or return it unchanged", "[driver]") {
  IRContext context;
  const IRContext::Scope scope(context);
  Run run;
  CHECK(run.Of(MakeModule({"main"}), MakeModule({"main"}), PassOutcome::Unchanged).ok());
  CHECK(run.Of(MakeModule({"main"}), MakeModule({"other"}), PassOutcome::Changed).ok());
  CHECK(run.texts().empty());
}

TEST_CASE("a pass must report its changes", "[driver]") {
  IRContext context;
  const IRContext::Scope scope(context);
  Run run;
  const Status status = run.Of(MakeModule({"main"}), MakeModule({"other"}), PassOutcome::Unchanged);
  REQUIRE(!status.ok());
  CHECK(status.error().code == ErrorCode::Rejected);
  CHECK(run.texts() == Log{"wrong-change-claim: pass 'Mine' reported no change, but the module has changed"});
}

TEST_CASE("a pass must make well-formed modules", "[driver]") {
  GraphMaker m;
  m.AddMain({}, {}, m.NewVar("x", m.Tensor({2})));
  Run run;
  const Status status = run.Of(Module(), m.module(), PassOutcome::Changed);
  REQUIRE(!status.ok());
  CHECK(status.error().code == ErrorCode::Rejected);
  REQUIRE(run.texts().size() == 2);
  CHECK(run.texts()[0] == "ill-formed-result: pass 'Mine' made an ill-formed module");
  CHECK(run.texts()[1].starts_with("undefined-variable: "));
}

TEST_CASE("a pass must not lose the definition of a scalar variable", "[driver]") {
  IRContext context;
  const IRContext::Scope scope(context);
  const auto make = [&](bool is_defined) {
    Workspace workspace;
    const tir::Var* n = workspace.NewPrimVar("n", DataType::Int(32));
    std::vector<const tir::Var*> params;
    if (is_defined) params.push_back(n);
    const std::vector<const tir::Buffer*> buffers(params.size());
    const auto* func =
        workspace.New<PrimFunc>(workspace.Copy(params), workspace.Copy(buffers), workspace.New<tir::Evaluate>(n),
                                TupleType::Get({}), DictAttr::Empty(), nullptr);
    Module module;
    module.Set(GlobalVar::Get("main"), func, workspace.Finish());
    return module;
  };
  Run run;
  CHECK(run.Of(make(true), make(true), PassOutcome::Changed).ok());
  CHECK(run.Of(make(false), make(false), PassOutcome::Changed).ok());
  const Status status = run.Of(make(true), make(false), PassOutcome::Changed);
  REQUIRE(!status.ok());
  CHECK(status.error().code == ErrorCode::Rejected);
  CHECK(run.texts().back() == "undefined-variable: variable 'n' is not defined");
}

TEST_CASE("a pass must not put one statement at two places", "[driver]") {
  IRContext context;
  const IRContext::Scope scope(context);
  const auto make = [&](bool is_repeated) {
    Workspace workspace;
    const auto evaluate = [&] { return workspace.New<tir::Evaluate>(context.Int(0, DataType::Int(32))); };
    const tir::Stmt* first = evaluate();
    const std::vector<const tir::Stmt*> statements{first, is_repeated ? first : evaluate()};
    const auto* func = workspace.New<PrimFunc>(List<const tir::Var*>(), List<const tir::Buffer*>(),
                                               workspace.New<tir::SeqStmt>(workspace.Copy(statements)),
                                               TupleType::Get({}), DictAttr::Empty(), nullptr);
    Module module;
    module.Set(GlobalVar::Get("main"), func, workspace.Finish());
    return module;
  };
  Run run;
  CHECK(run.Of(Module(), make(false), PassOutcome::Changed).ok());
  const Status status = run.Of(Module(), make(true), PassOutcome::Changed);
  REQUIRE(!status.ok());
  CHECK(status.error().code == ErrorCode::Rejected);
  CHECK(run.texts() == Log{"ill-formed-result: pass 'Mine' put one statement at two places"});
}

TEST_CASE("the text of changed functions must read back", "[driver]") {
  GraphMaker m;
  const Var* x = m.NewVar("x", m.Tensor({2}));
  m.AddMain({x}, {}, x);
  const Module good = m.module();
  Run run;
  CHECK(run.OfText(Module(), good).ok());
  CHECK(run.texts().empty());
  // The text of an ill-formed function, which is not read at all if it has not changed.
  m.AddMain({}, {}, m.NewVar("y", m.Tensor({2})));
  const Module& broken = m.module();
  const Status status = run.OfText(good, broken);
  REQUIRE(!status.ok());
  CHECK(status.error().code == ErrorCode::Rejected);
  CHECK(
      run.texts().back().starts_with("roundtrip-mismatch: pass 'Mine' made a module whose text does not read back: "));
  CHECK(run.OfText(broken, broken).ok());
}

TEST_CASE("a pass is not blamed for a function whose text did not read back before", "[driver]") {
  GraphMaker m;
  m.AddMain({}, {}, m.NewVar("y", m.Tensor({2})));
  const Module before = m.module();
  m.AddMain({}, {}, m.NewVar("z", m.Tensor({3})));
  Run run;
  CHECK(run.OfText(before, m.module()).ok());
  REQUIRE(!run.texts().empty());
  CHECK(run.texts().back().starts_with("roundtrip-mismatch: the text of function 'main' does not read back: "));
  CHECK(run.texts().back().find("already before pass 'Mine'") != std::string::npos);
}

TEST_CASE("the module of a failed pass is not checked", "[driver]") {
  GraphMaker m;
  m.AddMain({}, {}, m.NewVar("x", m.Tensor({2})));
  Run run;
  CHECK(run.Of(Module(), m.module(), PassOutcome::Failed).ok());
  CHECK(run.texts().empty());
}

}  // namespace iropt

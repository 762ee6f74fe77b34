// Forms of the module: what passes need of it, checked when a pipeline is built.
#include "catch.h"
#include "helpers.h"
#include "iropt/pass/ir_form.h"
#include "iropt/pass/pipeline.h"

using namespace iropt;

namespace {

Pass CreateNothing(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext&) -> Result<Module> { return module; });
}

constexpr IRForms kBoth = {IRForm::NormalForm, IRForm::NoDataflow};

// Passes like those that turn dataflow blocks into others and back.
struct FormPasses {
  FormPasses() {
    Add({.name = "Flatten", .opt_level = 1, .establishes = {IRForm::NoDataflow}});
    Add({.name = "Group", .needs = {IRForm::NormalForm}});
    Add({.name = "Keep", .preserves = kBoth});
    Add({.name = "Lower", .needs = kBoth, .preserves = kBoth});
    Add({.name = "Once", .needs = {IRForm::NoDataflow}});
    Add({.name = "Ruin", .preserves = {}});
    Add({.name = "Tidy", .establishes = {IRForm::NormalForm}, .preserves = kBoth});
    registry.set_default_pipeline({"Flatten", "Keep"});
  }
  void Add(PassInfo info) { REQUIRE(registry.Add({std::move(info), {}, "", &CreateNothing}).ok()); }

  // What building the pipeline reports; the place of each message as "begin-end: ".
  Log Build(std::string_view text, const PassContext* context = nullptr) {
    Reports reports;
    const std::optional<Pipeline> pipeline = ParsePipeline(text, 1, reports.engine());
    REQUIRE(pipeline);
    const Result<Pass> pass = BuildPipeline(*pipeline, registry, reports.engine(), context);
    CHECK(pass.ok() == reports.all().empty());
    if (!pass.ok()) CHECK(pass.error().code == ErrorCode::Usage);
    Log log;
    for (const Diagnostic& d : reports.all()) {
      log.push_back(std::to_string(d.span.begin - 1) + "-" + std::to_string(d.span.end - 1) + ": " + d.message);
      for (const DiagnosticNote& note : d.notes) log.push_back("  " + note.message);
    }
    return log;
  }

  PassRegistry registry;
};

const std::string kMeaning = "  no_dataflow: no function has a dataflow block";

}  // namespace

TEST_CASE("forms have names and meanings") {
  CHECK(IRFormName(IRForm::NormalForm) == "normal_form");
  CHECK(IRFormRows().size() == 4);
  CHECK(FormsOfInput() == IRForms{IRForm::NormalForm});
}

TEST_CASE("sets of forms") {
  const IRForms normal = {IRForm::NormalForm};
  CHECK((kBoth - normal) == IRForms{IRForm::NoDataflow});
  CHECK((kBoth & normal) == normal);
  CHECK((normal | IRForms{IRForm::NoDataflow}) == kBoth);
  CHECK(kBoth.List() == std::vector{IRForm::NoDataflow, IRForm::NormalForm});
  CHECK(IRForms().empty());
  CHECK_FALSE(normal.Has(IRForm::NoDataflow));
}

TEST_CASE("a pipeline begins with a module in A-normal form") {
  FormPasses passes;
  CHECK(passes.Build("Group").empty());
}

TEST_CASE("a form that nothing guarantees is an error at the pass that needs it, which names the one to run before") {
  FormPasses passes;
  CHECK(passes.Build("Keep,Lower") ==
        Log{"5-10: pass 'Lower' needs the form 'no_dataflow', which 'Flatten' before it would establish", kMeaning});
  CHECK(passes.Build("Flatten,Keep,Lower").empty());
}

TEST_CASE("a missing form is a diagnostic of its own kind") {
  FormPasses passes;
  Reports reports;
  const Pipeline pipeline = *ParsePipeline("Lower", 1, reports.engine());
  REQUIRE_FALSE(BuildPipeline(pipeline, passes.registry, reports.engine()).ok());
  CHECK(reports.all()[0].kind == "missing-form");
}

TEST_CASE("a pass that does not preserve a form ends it") {
  FormPasses passes;
  CHECK(passes.Build("Flatten,Group,Lower") ==
        Log{"14-19: pass 'Lower' needs the form 'no_dataflow', which 'Flatten' before it would establish", kMeaning,
            "  the form is not preserved here"});
  CHECK(passes.Build("Ruin,Group")[0] ==
        "5-10: pass 'Group' needs the form 'normal_form', which 'Tidy' before it would establish");
  CHECK(passes.Build("Ruin,Tidy,Group").empty());
}

TEST_CASE("a pass may need a form and end it") {
  FormPasses passes;
  CHECK(passes.Build("Flatten,Once").empty());
  CHECK(passes.Build("Flatten,Once,Once")[0] ==
        "13-17: pass 'Once' needs the form 'no_dataflow', which 'Flatten' before it would establish");
  CHECK(passes.Build("Flatten,Once,Flatten,Once").empty());
}

TEST_CASE("all passes that lack a form are reported, deep inside, too") {
  FormPasses passes;
  CHECK(passes.Build("Lower,Sequential(fixpoint(Keep,Sequential(Lower)))").size() == 4);
}

TEST_CASE("what a round of a fixpoint ends does not hold in the next one") {
  FormPasses passes;
  CHECK(passes.Build("Flatten,fixpoint(Lower)").empty());
  CHECK(passes.Build("Flatten,fixpoint(Lower,Group)")[0] ==
        "17-22: pass 'Lower' needs the form 'no_dataflow', which 'Flatten' before it would establish");
  CHECK(passes.Build("Flatten,repeat<1>(Lower,Group)").empty());
  CHECK(passes.Build("Flatten,repeat<2>(Lower,Group)").size() == 3);
  CHECK(passes.Build("fixpoint(Flatten,Lower,Group)").empty());
}

TEST_CASE("a form that the last round of a fixpoint establishes holds after it") {
  FormPasses passes;
  CHECK(passes.Build("fixpoint(Group,Flatten),Lower").empty());
}

TEST_CASE("passes that do not run establish nothing and need nothing") {
  FormPasses passes;
  PassContext context;
  context.opt_level = 0;
  CHECK(passes.Build("Flatten,Lower", &context) ==
        Log{"8-13: pass 'Lower' needs the form 'no_dataflow', which 'Flatten' before it would establish", kMeaning,
            "  'Flatten' does not run, because its level 1 is above 0"});
  context.disabled_pass = {"Lower"};
  CHECK(passes.Build("Flatten,Lower", &context).empty());
  context.opt_level = 1;
  context.disabled_pass = {"Flatten"};
  CHECK(passes.Build("Flatten,Lower", &context)[2] == "  'Flatten' is disabled");
}

TEST_CASE("a sequential that does not run establishes nothing and needs nothing") {
  FormPasses passes;
  PassContext context;
  CHECK(passes.Build("Sequential<opt_level=4>(Lower)", &context).empty());
  CHECK(passes.Build("Sequential<opt_level=4>(Flatten),Lower", &context).size() == 2);
  CHECK(passes.Build("Sequential<opt_level=2>(Flatten),Lower", &context).empty());
}

TEST_CASE("a default pipeline establishes what its passes do at its level") {
  FormPasses passes;
  CHECK(passes.Build("default<O1>,Lower").empty());
  CHECK(passes.Build("default<O0>,Lower").size() == 3);
}

TEST_CASE("a required pass can establish a form, and lack one") {
  FormPasses passes;
  passes.Add({.name = "Late", .required = {"Flatten"}, .needs = {IRForm::NoDataflow}});
  CHECK(passes.Build("Late").empty());
  passes.Add({.name = "Later", .required = {"Once"}});
  CHECK(passes.Build("Later")[0] ==
        "0-5: pass 'Once', which 'Later' requires, needs the form 'no_dataflow', which 'Flatten' before it would "
        "establish");
}

TEST_CASE("a requirement that nobody registered is found when the pipeline is built") {
  FormPasses passes;
  passes.Add({.name = "Odd", .required = {"Nothing"}});
  CHECK(passes.Build("Keep,Odd") == Log{"5-8: pass 'Odd' requires 'Nothing', which is no known pass"});
}

TEST_CASE("a form that no pass establishes") {
  FormPasses passes;
  passes.Add({.name = "Codegen", .needs = {IRForm::Legalized}});
  CHECK(passes.Build("Codegen")[0] ==
        "0-7: pass 'Codegen' needs the form 'legalized', which no known pass establishes");
}

namespace {

// The functions of MakeModule have a dataflow block each.
Pass Doing(PassInfo info, bool removes_dataflow) {
  return CreateFunctionPass(std::move(info), [=](const Function* f, FunctionPassContext& context) {
    if (!removes_dataflow) return Result<const Function*>(WithAttribute(f, "seen", context.workspace()));
    const Expr* body = context.workspace().New<SeqExpr>(List<const BindingBlock*>(), f->params[0], f->params[0]->type);
    return Result<const Function*>(
        context.workspace().New<Function>(f->params, body, f->ret_type, f->is_pure, f->attrs, f->type));
  });
}

std::string AuditOf(const Pass& pass, const Module& module = MakeModule({"main"})) {
  Reports reports;
  PassContext context;
  REQUIRE(context.SetConfig("testing.verify_forms", true, reports.engine()));
  const Result<PassResult> result = pass(module, context);
  if (!result.ok()) CHECK(result.error().code == ErrorCode::Rejected);
  return result.ok() ? "" : result.error().message;
}

}  // namespace

TEST_CASE("an audit catches a pass that does not establish what it says") {
  CHECK(AuditOf(Doing({.name = "P", .establishes = {IRForm::NoDataflow}}, true)) == "");
  CHECK(AuditOf(Doing({.name = "P", .establishes = {IRForm::NoDataflow}}, false)) ==
        "pass 'P' says that it establishes the form 'no_dataflow', but the module is not in it");
}

TEST_CASE("an audit catches a pass that does not preserve what it says") {
  const Result<PassResult> without = Doing({.name = "P"}, true)(MakeModule({"main"}));
  REQUIRE(without.ok());
  const auto regroup = [](PassInfo info) {
    return CreateModulePass(std::move(info), [](Module, ModulePassContext&) -> Result<Module> {
      return MakeModule({"main"});  // with a block again
    });
  };
  CHECK(AuditOf(regroup({.name = "P", .preserves = kBoth}), without->module) ==
        "pass 'P' says that it preserves the form 'no_dataflow', but the module is not in it");
  CHECK(AuditOf(regroup({.name = "P"}), without->module) == "");
  // What did not hold before need not hold afterwards.
  CHECK(AuditOf(regroup({.name = "P", .preserves = kBoth})) == "");
}

TEST_CASE("functions that passes leave alone do not count for forms") {
  Module module = MakeModule({"main"});
  AddFunction(module, "left", DictAttr::Empty()->With("SkipOptimization", IntAttr::Get(1)));
  CHECK(AuditOf(Doing({.name = "P", .establishes = {IRForm::NoDataflow}}, true), module) == "");
}

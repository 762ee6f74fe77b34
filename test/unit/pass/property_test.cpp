// Properties of PrimFuncs: what passes require, establish and break.
#include "iropt/pass/property.h"

#include "catch.h"
#include "helpers.h"
#include "iropt/pass/property_audit.h"

using namespace iropt;

namespace {

bool Always(const PrimFunc&) { return true; }
bool Never(const PrimFunc&) { return false; }
bool IsSeq(const Node& node) { return node.kind == NodeKind::kSeqStmt; }

constexpr FunctionProperty kNoSeq = {"no_seq", "no statement is a sequence", &Always, &IsSeq};
constexpr FunctionProperty kNoSeqOfStatements = {"no_seq", "no statement is a sequence", &Always, &IsSeq,
                                                 FunctionProperty::Nodes::kStatements};
bool IsNumber(const Node& node) { return node.kind == NodeKind::kIntImm; }
constexpr FunctionProperty kNoNumber = {"no_number", "no expression is a number", &Always, &IsNumber};
constexpr FunctionProperty kElsewhere = {"elsewhere", "no statement is a sequence", &Never, &IsSeq};

const PrimFunc* WithTwoStatements(const PrimFunc* func, Workspace& workspace) {
  const tir::Stmt* statements[] = {func->body, func->body};
  auto* copy = workspace.New<PrimFunc>(*func);
  copy->body = workspace.New<tir::SeqStmt>(workspace.Copy(std::span<const tir::Stmt* const>(statements)));
  return copy;
}

// A pass that makes the body a sequence if it is `wrong`, and else changes nothing.
Pass Make(PassInfo info, bool wrong) {
  return CreatePrimFuncPass(std::move(info), [wrong](const PrimFunc* func, FunctionPassContext& context) {
    return Result<const PrimFunc*>(wrong ? WithTwoStatements(func, context.workspace()) : func);
  });
}

struct Audited {
  Audited() {
    AddPrimFunc(module, "loops");
    context.diagnostics = &reports.engine();
    context.registry = &registry;
    context.instruments = {audit};
  }

  bool Run(const Pass& pass) {
    With<PassContext> scope(context);
    return pass(module, context).ok();
  }

  Module module;
  PassRegistry registry;
  Reports reports;
  bool option = true;
  std::shared_ptr<PropertyAudit> audit =
      std::make_shared<PropertyAudit>([this](std::string_view) { return option; }, reports.engine());
  PassContext context;
};

}  // namespace

TEST_CASE("the first counterexample to a property that applies is found") {
  Module module;
  AddPrimFunc(module, "loops");
  Workspace workspace;
  const auto* func = To<PrimFunc>(module.functions()[0].func);
  CHECK_FALSE(FindCounterexample(*func, {&kNoSeq}));
  const PrimFunc* two = WithTwoStatements(func, workspace);
  const std::optional<Counterexample> found = FindCounterexample(*two, {&kElsewhere, &kNoSeq});
  REQUIRE(found);
  CHECK(found->property == &kNoSeq);
  CHECK(found->node == two->body);
  CHECK_FALSE(FindCounterexample(*two, {&kElsewhere}));
  CHECK_FALSE(FindCounterexample(*func, {&kNoSeqOfStatements}));
  CHECK(FindCounterexample(*two, {&kNoSeqOfStatements})->node == two->body);
  // Expressions are visited if one of the properties is about them.
  CHECK(FindCounterexample(*two, {&kNoSeqOfStatements, &kNoNumber})->property == &kNoNumber);
}

TEST_CASE("a pass does not run on a function without a property that it requires") {
  Audited a;
  REQUIRE(a.registry
              .Add({.info = {.name = "Flatten", .established_properties = {{.property = &kNoSeq}}},
                    .create = [](const PassOptions& options) { return Make(options.info(), false); }})
              .ok());
  CHECK(a.Run(Make({.name = "Needy", .required_properties = {&kNoSeq}}, false)));
  CHECK_FALSE(a.Run(
      Sequential({Make({.name = "Break"}, true), Make({.name = "Needy", .required_properties = {&kNoSeq}}, false)})));
  CHECK(a.reports.texts() == Log{"missing-property: pass 'Needy' requires the property 'no_seq': no statement is a "
                                 "sequence; run Flatten first"});
}

TEST_CASE("a module pass requires properties of all PrimFuncs") {
  Audited a;
  const Pass needy = CreateModulePass({.name = "Needy", .required_properties = {&kNoSeq}},
                                      [](Module module, ModulePassContext&) -> Result<Module> { return module; });
  CHECK(a.Run(needy));
  CHECK_FALSE(a.Run(Sequential({Make({.name = "Break"}, true), needy})));
  CHECK(a.reports.texts() ==
        Log{"missing-property: pass 'Needy' requires the property 'no_seq': no statement is a sequence"});
}

TEST_CASE("the audit finds a pass that breaks a property") {
  Audited a;
  const Pass establish =
      Make({.name = "Establish", .established_properties = {{.property = &kNoSeq}, {.property = &kElsewhere}}}, false);
  CHECK_FALSE(a.Run(Sequential({establish, Make({.name = "Break"}, true)})));
  CHECK(a.reports.texts() == Log{"broken-property: pass 'Break' breaks the property 'no_seq' of function 'loops': no "
                                 "statement is a sequence"});
}

TEST_CASE("a pass may break the properties that it declares") {
  Audited a;
  const Pass establish = Make({.name = "Establish", .established_properties = {{.property = &kNoSeq}}}, false);
  CHECK(a.Run(establish));
  CHECK(a.audit->PropertiesOf("loops") == FunctionProperties{&kNoSeq});
  CHECK(a.Run(Sequential({establish, Make({.name = "Break", .broken_properties = {&kNoSeq}}, true)})));
  CHECK(a.audit->PropertiesOf("loops").empty());
}

TEST_CASE("the audit finds a pass that does not establish what it says") {
  Audited a;
  CHECK_FALSE(a.Run(Make({.name = "Liar", .established_properties = {{.property = &kNoSeq}}}, true)));
  CHECK(a.reports.texts() == Log{"broken-property: pass 'Liar' does not establish the property 'no_seq' of function "
                                 "'loops': no statement is a sequence"});
}

TEST_CASE("an option may decide whether a pass establishes a property") {
  Audited a;
  const Pass pass =
      Make({.name = "Sometimes", .established_properties = {{.property = &kNoSeq, .config = "some.option"}}}, true);
  a.option = false;
  CHECK(a.Run(pass));
  a.option = true;
  CHECK_FALSE(a.Run(pass));
}

TEST_CASE("a property of the function before the pass may decide, too") {
  Audited a;
  const Pass pass =
      Make({.name = "Sometimes", .established_properties = {{.property = &kNoSeq, .given = &kNoSeq}}}, true);
  CHECK_FALSE(a.Run(pass));
  CHECK(a.Run(Sequential({Make({.name = "Break"}, true), pass})));
}

TEST_CASE("what holds is forgotten with the context, and with the function") {
  Audited a;
  const Pass establish = Make({.name = "Establish", .established_properties = {{.property = &kNoSeq}}}, false);
  CHECK(a.Run(establish));
  CHECK(a.Run(Make({.name = "Break"}, true)));  // in another scope
  const Pass rename = CreateModulePass({.name = "Rename"}, [](const Module&, ModulePassContext&) -> Result<Module> {
    Module other;
    AddPrimFunc(other, "others");
    return other;
  });
  CHECK(a.Run(Sequential({establish, rename})));
  CHECK(a.audit->PropertiesOf("loops").empty());
  CHECK(a.audit->PropertiesOf("others").empty());
}

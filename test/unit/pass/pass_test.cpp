// The kinds of passes, called directly.
#include "iropt/pass/pass.h"

#include <fmt/format.h>

#include <atomic>
#include <new>
#include <stdexcept>

#include "catch.h"
#include "helpers.h"

using namespace iropt;

namespace {

Pass FailingWith(std::function<Result<Module>(Module, ModulePassContext&)> run) {
  return CreateModulePass({.name = "Failing"}, std::move(run));
}

std::string ErrorOf(const Pass& pass) {
  const Result<PassResult> result = pass(MakeModule({"main"}));
  return result.ok() ? "no error" : result.error().message;
}

Pass Marking(std::string_view key) {
  return CreateFunctionPass({.name = "Marking"}, [key](const Function* f, FunctionPassContext& context) {
    return Result<const Function*>(WithAttribute(f, key, context.workspace()));
  });
}

}  // namespace

TEST_CASE("a pass works from module to module") {
  const Result<PassResult> result = Counting(1)(MakeModule({"main"}));
  REQUIRE(result.ok());
  CHECK(result->changed);
  CHECK(CountOf(result->module) == 1);
}

TEST_CASE("a pass that returns its input has changed nothing") {
  Log log;
  const Result<PassResult> result = Tracer(log, "A")(MakeModule({"main"}));
  REQUIRE(result.ok());
  CHECK_FALSE(result->changed);
}

TEST_CASE("a pass that is called directly runs whatever the level is") {
  Log log;
  PassContext context;
  context.opt_level = 0;
  context.disabled_pass = {"A"};
  REQUIRE(Tracer(log, "A", 4)(Module(), context).ok());
  CHECK(log == Log{"A"});
}

TEST_CASE("a pass that is called directly does not run what it requires") {
  Log log;
  REQUIRE(Tracer(log, "A", 0, {"B"})(Module()).ok());
  CHECK(log == Log{"A"});
}

TEST_CASE("module passes may add and delete functions") {
  const Pass pass = CreateModulePass({.name = "Swap"}, [](Module module, ModulePassContext&) -> Result<Module> {
    module.Remove(GlobalVar::Get("f"));
    AddFunction(module, "g");
    return module;
  });
  const Result<PassResult> result = pass(MakeModule({"f"}));
  REQUIRE(result.ok());
  CHECK(result->changed);
  CHECK(result->module.Find("f") == nullptr);
  CHECK(result->module.Find("g") != nullptr);
}

TEST_CASE("the kind of a pass is part of its info") {
  Log log;
  CHECK(Tracer(log, "A").info().kind == PassKind::Module);
  CHECK(Marking("x").info().kind == PassKind::Function);
  CHECK(Sequential({}).info().kind == PassKind::Sequential);
  CHECK(Fixpoint({}, 1).info().is_composite());
  CHECK_FALSE(Marking("x").info().is_composite());
}

TEST_CASE("the error of a pass names the pass") {
  CHECK(ErrorOf(FailingWith([](Module, ModulePassContext&) -> Result<Module> {
          return Error{ErrorCode::PassFailed, "no idea"};
        })) == "pass 'Failing' failed: no idea");
  CHECK(ErrorOf(FailingWith([](Module, ModulePassContext&) -> Result<Module> {
          return Failure{ErrorCode::PassFailed};
        })) == "pass 'Failing' failed");
}

TEST_CASE("a pass that reports an error has failed") {
  const Pass pass = FailingWith([](Module module, ModulePassContext& context) -> Result<Module> {
    context.diagnostics.Error({}, "pass-failed", "bad operand");
    return module;
  });
  SECTION("without an engine its reports are part of the error") {
    CHECK(ErrorOf(pass) == "pass 'Failing' failed: bad operand");
  }
  SECTION("with one they go there") {
    Reports reports;
    PassContext context;
    context.diagnostics = &reports.engine();
    const Result<PassResult> result = pass(Module(), context);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().message == "pass 'Failing' failed");
    CHECK(reports.texts() == Log{"pass-failed: bad operand"});
  }
  SECTION("an earlier error of somebody else does not count") {
    Reports reports;
    reports.engine().Error({}, "pass-failed", "something else");
    PassContext context;
    context.diagnostics = &reports.engine();
    CHECK(Counting(1)(Module(), context).ok());
  }
}

TEST_CASE("exceptions of a pass become errors") {
  CHECK(ErrorOf(FailingWith([](Module, ModulePassContext&) -> Result<Module> { throw std::runtime_error("oops"); })) ==
        "pass 'Failing' threw an exception: oops");
  CHECK(ErrorOf(FailingWith([](Module, ModulePassContext&) -> Result<Module> { throw 3; })) ==
        "pass 'Failing' threw an exception");
  const Result<PassResult> result =
      FailingWith([](Module, ModulePassContext&) -> Result<Module> { throw std::bad_alloc(); })(Module());
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::Budget);
  CHECK(result.error().message == "pass 'Failing' ran out of memory");
}

TEST_CASE("a function pass rewrites the Relax functions") {
  Module module = MakeModule({"f", "g"});
  AddPrimFunc(module, "loops");
  const BaseFunc* loops = module.Find("loops")->func;
  const Result<PassResult> result = Marking("seen")(module);
  REQUIRE(result.ok());
  CHECK(result->changed);
  REQUIRE(result->module.size() == 3);
  CHECK(result->module.Find("f")->func->attrs->Find("seen") != nullptr);
  CHECK(result->module.Find("g")->func->attrs->Find("seen") != nullptr);
  CHECK(result->module.Find("loops")->func == loops);
  // The module passed in is another value.
  CHECK(module.Find("f")->func->attrs->Find("seen") == nullptr);
}

TEST_CASE("a function pass that gives back all functions has changed nothing") {
  const Module module = MakeModule({"f", "g"});
  const Pass pass = CreateFunctionPass(
      {.name = "Keep"}, [](const Function* f, FunctionPassContext&) { return Result<const Function*>(f); });
  const Result<PassResult> result = pass(module);
  REQUIRE(result.ok());
  CHECK_FALSE(result->changed);
  CHECK(result->module.Find("f")->func == module.Find("f")->func);
  CHECK(result->module.Find("f")->storage == module.Find("f")->storage);
}

TEST_CASE("a function pass skips functions with SkipOptimization") {
  Module module = MakeModule({"f"});
  const auto attrs = [](std::string_view key, const Attr* value) { return DictAttr::Empty()->With(key, value); };
  AddFunction(module, "skipped", attrs("SkipOptimization", IntAttr::Get(1)));
  AddFunction(module, "skipped_bool", attrs("SkipOptimization", IntAttr::Bool(true)));
  AddFunction(module, "not_skipped", attrs("SkipOptimization", IntAttr::Get(0)));
  AddFunction(module, "external", attrs("Compiler", StrAttr::Get("dnnl")));
  const Result<PassResult> result = Marking("seen")(module);
  REQUIRE(result.ok());
  const auto seen = [&](std::string_view name) {
    return result->module.Find(name)->func->attrs->Find("seen") != nullptr;
  };
  CHECK(seen("f"));
  CHECK_FALSE(seen("skipped"));
  CHECK_FALSE(seen("skipped_bool"));
  CHECK(seen("not_skipped"));
  CHECK_FALSE(seen("external"));
}

TEST_CASE("a function pass sees the module as it was before the pass") {
  std::atomic<int> marked = 0;
  const Pass pass = CreateFunctionPass({.name = "Look"}, [&](const Function* f, FunctionPassContext& context) {
    for (const ModuleEntry& entry : context.module().functions()) {
      if (entry.func->attrs->Find("seen") != nullptr) ++marked;
    }
    CHECK(context.module().Find(context.var())->func == f);
    return Result<const Function*>(WithAttribute(f, "seen", context.workspace()));
  });
  REQUIRE(pass(MakeModule({"f", "g", "h"})).ok());
  CHECK(marked == 0);
}

TEST_CASE("diagnostics of a function pass come in the order of the functions") {
  std::vector<std::string> names;
  for (int i = 0; i < 64; ++i) names.push_back(fmt::format("f{}", i));
  const Pass pass = CreateFunctionPass({.name = "Remarks"}, [](const Function* f, FunctionPassContext& context) {
    context.diagnostics().Remark({}, "no-fixpoint", std::string(context.var()->name));
    return Result<const Function*>(f);
  });
  const Module module = MakeModule(names);
  for (const int threads : {1, 4}) {
    Reports reports;
    PassContext context;
    context.diagnostics = &reports.engine();
    context.threads = threads;
    REQUIRE(pass(module, context).ok());
    REQUIRE(reports.all().size() == names.size());
    for (size_t i = 0; i < names.size(); ++i) CHECK(reports.all()[i].message == names[i]);
  }
}

TEST_CASE("a function pass reports the errors of all functions and fails") {
  Reports reports;
  PassContext context;
  context.diagnostics = &reports.engine();
  const Pass pass = CreateFunctionPass({.name = "Picky"}, [](const Function* f, FunctionPassContext& inner) {
    inner.diagnostics().Error({}, "pass-failed", fmt::format("in {}", inner.var()->name));
    return Result<const Function*>(f);
  });
  const Result<PassResult> result = pass(MakeModule({"f", "g"}), context);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message == "pass 'Picky' failed");
  CHECK(reports.texts() == Log{"pass-failed: in f", "pass-failed: in g"});
}

TEST_CASE("an error at one location for several functions is shown once") {
  Reports reports;
  PassContext context;
  context.diagnostics = &reports.engine();
  const Pass pass = CreateFunctionPass({.name = "Option"}, [](const Function*, FunctionPassContext& inner) {
    inner.diagnostics().Error({7, 9}, "wrong-option-type", "the option is wrong");
    inner.diagnostics().Error({}, "pass-failed", "a function is wrong");
    return Result<const Function*>(Failure{ErrorCode::PassFailed});
  });
  CHECK_FALSE(pass(MakeModule({"a", "b"}), context).ok());
  CHECK(reports.texts() == Log{"wrong-option-type: the option is wrong", "pass-failed: a function is wrong",
                               "pass-failed: a function is wrong"});
}

TEST_CASE("an exception in a function pass names the function") {
  const Pass pass = CreateFunctionPass({.name = "Throws"},
                                       [](const Function* f, FunctionPassContext& context) -> Result<const Function*> {
                                         if (context.var()->name == "g") throw std::runtime_error("oops");
                                         return f;
                                       });
  const Result<PassResult> result = pass(MakeModule({"f", "g"}));
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message == "pass 'Throws' failed: the run on function 'g' threw an exception: oops");
}

TEST_CASE("a primfunc pass rewrites the PrimFuncs only") {
  Module module = MakeModule({"f"});
  AddPrimFunc(module, "loops");
  const Pass pass = CreatePrimFuncPass({.name = "Mark"}, [](const PrimFunc* f, FunctionPassContext& context) {
    const DictAttr* attrs = f->attrs->With("seen", IntAttr::Get(1));
    return Result<const PrimFunc*>(
        context.workspace().New<PrimFunc>(f->params, f->param_buffers, f->body, f->ret_type, attrs, f->type));
  });
  CHECK(pass.info().kind == PassKind::PrimFunc);
  const Result<PassResult> result = pass(module);
  REQUIRE(result.ok());
  CHECK(result->changed);
  CHECK(result->module.Find("f")->func == module.Find("f")->func);
  CHECK(result->module.Find("loops")->func->attrs->Find("seen") != nullptr);
}

TEST_CASE("an audit catches a pass that modifies its input") {
  // Passes must not do this, but const alone does not prevent it.
  const Pass pass = CreateModulePass({.name = "Vandal"}, [](Module module, ModulePassContext&) -> Result<Module> {
    auto* function = const_cast<Function*>(To<Function>(module.functions()[0].func));
    function->is_pure = !function->is_pure;
    return module;
  });
  Reports reports;
  PassContext context;
  REQUIRE(context.SetConfig("testing.immutable_module", true, reports.engine()));
  const Result<PassResult> result = pass(MakeModule({"main"}), context);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::Rejected);
  CHECK(result.error().message == "pass 'Vandal' modified its input module");
  CHECK(Marking("seen")(MakeModule({"main"}), context).ok());
}

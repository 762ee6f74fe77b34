// Observers of pipelines, and the instrument that bisects them.
#include "iropt/pass/observer.h"

#include "catch.h"
#include "helpers.h"
#include "iropt/pass/bisect.h"

using namespace iropt;

namespace {

// Writes what it hears into a log.
class Listener : public PassObserver {
 public:
  void BeginRound() override { log.push_back("round"); }
  void Skip(const Pass& pass, SkipReason reason, int level) override {
    const std::string why = reason == SkipReason::Disabled ? "disabled" : "level " + std::to_string(level);
    log.push_back("skip " + pass.info().name + ": " + why);
  }
  void RunRequirement(const Pass& pass, const Pass& requirement) override {
    log.push_back(pass.info().name + " requires " + requirement.info().name);
  }
  void SkipFunction(std::string_view function, std::string_view attribute) override {
    log.push_back("leave " + std::string(function) + ": " + std::string(attribute));
  }
  void Veto(const Pass& pass, const PassInstrument& by) override {
    log.push_back("veto " + pass.info().name + ": " + by.name() + ": " + by.VetoReason());
  }
  void Begin(const Pass& pass) override { log.push_back("begin " + pass.info().name); }
  void End(const Pass& pass, PassOutcome outcome) override {
    const char* const kNames[] = {"failed", "unchanged", "changed"};
    log.push_back("end " + pass.info().name + ": " + kNames[static_cast<int>(outcome)]);
  }

  Log log;
};

class Veto : public PassInstrument {
 public:
  explicit Veto(std::string name) : PassInstrument("veto"), pass_(std::move(name)) {}
  bool ShouldRun(const Module&, const PassInfo& info) override { return info.name != pass_; }

 private:
  std::string pass_;
};

Pass Failing() {
  return CreateModulePass({.name = "Failing"}, [](Module, ModulePassContext&) -> Result<Module> {
    return Error{ErrorCode::PassFailed, "no"};
  });
}

struct Observed {
  Observed() { context.observer = &listener; }

  Listener listener;
  PassContext context;
  Log ran;
};

}  // namespace

TEST_CASE("an observer hears what a sequential runs and leaves out") {
  Observed o;
  o.context.disabled_pass = {"B"};
  CHECK(Sequential({Tracer(o.ran, "A"), Tracer(o.ran, "B"), Tracer(o.ran, "C", 3), Counting(1)})(Module(), o.context)
            .ok());
  CHECK(o.listener.log == Log{"begin sequential", "round", "begin A", "end A: unchanged", "skip B: disabled",
                              "skip C: level 2", "begin Counting", "end Counting: changed", "end sequential: changed"});
}

TEST_CASE("an observer hears the rounds of a fixpoint") {
  Observed o;
  CHECK(Fixpoint({Counting(1)}, 8)(Module(), o.context).ok());
  CHECK(o.listener.log == Log{"begin fixpoint", "round", "begin Counting", "end Counting: changed", "round",
                              "begin Counting", "end Counting: unchanged", "end fixpoint: changed"});
}

TEST_CASE("an observer hears which instrument vetoed a pass") {
  Observed o;
  o.context.instruments = {std::make_shared<Veto>("A")};
  CHECK(Sequential({Tracer(o.ran, "A")})(Module(), o.context).ok());
  CHECK(o.listener.log == Log{"begin sequential", "round", "begin A", "veto A: veto: ", "end sequential: unchanged"});
  CHECK(o.ran.empty());
}

TEST_CASE("an observer hears that a pass failed, and so did those around it") {
  Observed o;
  CHECK_FALSE(Sequential({Failing(), Tracer(o.ran, "A")})(Module(), o.context).ok());
  CHECK(o.listener.log ==
        Log{"begin sequential", "round", "begin Failing", "end Failing: failed", "end sequential: failed"});
}

TEST_CASE("an observer hears why a requirement runs") {
  Observed o;
  PassRegistry registry;
  PassEntry row;
  row.info = {.name = "Base"};
  row.create = [](const PassOptions& options) {
    return CreateModulePass(options.info(), [](Module module, ModulePassContext&) -> Result<Module> { return module; });
  };
  REQUIRE(registry.Add(row).ok());
  o.context.registry = &registry;
  CHECK(Sequential({Tracer(o.ran, "A", 0, {"Base"})})(Module(), o.context).ok());
  CHECK(o.listener.log == Log{"begin sequential", "round", "A requires Base", "begin Base", "end Base: unchanged",
                              "begin A", "end A: unchanged", "end sequential: unchanged"});
}

TEST_CASE("an observer hears which functions a pass leaves alone") {
  Observed o;
  Module module = MakeModule({"f"});
  AddFunction(module, "g", DictAttr::Empty()->With(attr::kSkipOptimization, IntAttr::Get(1)));
  const Pass pass = CreateFunctionPass(
      {.name = "P"}, [](const Function* f, FunctionPassContext&) -> Result<const Function*> { return f; });
  CHECK(pass(module, o.context).ok());
  CHECK(o.listener.log == Log{"begin P", "leave g: SkipOptimization", "end P: unchanged"});
}

TEST_CASE("bisection runs the first passes and says of each whether it runs") {
  Observed o;
  std::string said;
  o.context.instruments = {std::make_shared<OptBisect>(1, [&](std::string_view line) { said += line; })};
  const Pass pass = Sequential({Tracer(o.ran, "A"), Repeat({Tracer(o.ran, "B")}, 2), Tracer(o.ran, "C")});
  o.context.required_pass = {"C"};
  {
    With<PassContext> scope(o.context);
    CHECK(pass(Module(), o.context).ok());
  }
  CHECK(o.ran == Log{"A", "C"});
  CHECK(said ==
        "BISECT: running pass (1) A on module\n"
        "BISECT: NOT running pass (2) B on module\n"
        "BISECT: NOT running pass (3) B on module\n");
  // Another scope begins to count anew.
  o.ran.clear();
  {
    With<PassContext> scope(o.context);
    CHECK(pass(Module(), o.context).ok());
  }
  CHECK(o.ran == Log{"A", "C"});
  CHECK(o.listener.log.back() == "end sequential: unchanged");
}

TEST_CASE("a bisection without a limit runs everything") {
  Log ran;
  PassContext context;
  std::string said;
  context.instruments = {std::make_shared<OptBisect>(-1, [&](std::string_view line) { said += line; })};
  CHECK(Sequential({Tracer(ran, "A"), Tracer(ran, "B")})(Module(), context).ok());
  CHECK(ran == Log{"A", "B"});
  CHECK(said == "BISECT: running pass (1) A on module\nBISECT: running pass (2) B on module\n");
}

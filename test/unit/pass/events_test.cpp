// The events of the pass manager, as instruments receive them, and the instrument that bisects pipelines.
#include <algorithm>
#include <stdexcept>

#include "catch.h"
#include "helpers.h"
#include "iropt/pass/bisect.h"
#include "iropt/pass/instrument.h"

using namespace iropt;

namespace {

std::string NameOf(PassOutcome outcome) {
  const char* const kNames[] = {"failed", "unchanged", "changed"};
  return kNames[static_cast<int>(outcome)];
}

// Logs the events that it receives. `fails_in` is an entry after which it fails.
class Listener : public PassInstrument {
 public:
  Listener() : PassInstrument("listener") {}

  Status RunBeforePass(const Module&, const PassInfo& info) override { return Record("begin " + info.name); }
  Status RunAfterPass(const Module&, const PassInfo& info, PassOutcome outcome) override {
    return Record("end " + info.name + ": " + NameOf(outcome));
  }
  Status OnSkippedPass(const PassInfo& info, const PassSkip& skip) override {
    switch (skip.reason) {
      case PassSkip::Reason::Disabled: return Record("skip " + info.name + ": disabled");
      case PassSkip::Reason::Level: return Record("skip " + info.name + ": level " + std::to_string(skip.level));
      case PassSkip::Reason::Veto:
        return Record("skip " + info.name + ": " + skip.veto->name() + " " + skip.veto->VetoReason());
    }
    return {};
  }
  Status OnRound(const PassInfo& info) override { return Record("round of " + info.name); }
  Status OnRequiredPass(const PassInfo& requiring, const PassInfo& required) override {
    return Record(requiring.name + " requires " + required.name);
  }
  Status RunBeforeFunction(const GlobalVar& name, const BaseFunc&, const PassInfo& info) override {
    return Record(info.name + " begins " + std::string(name.name));
  }
  Status RunAfterFunction(const GlobalVar& name, const BaseFunc& function, const PassInfo& info,
                          PassOutcome outcome) override {
    functions.push_back(&function);
    return Record(info.name + " ends " + std::string(name.name) + ": " + NameOf(outcome));
  }
  Status OnSkippedFunction(const GlobalVar& name, std::string_view attribute, const PassInfo& info) override {
    return Record(info.name + " leaves " + std::string(name.name) + ": " + std::string(attribute));
  }

  Log log;
  std::vector<const BaseFunc*> functions;
  std::string fails_in;

 private:
  Status Record(std::string entry) {
    log.push_back(std::move(entry));
    if (log.back() != fails_in) return {};
    return Error{ErrorCode::PassFailed, "broken"};
  }
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

// Its lines are added to `said`.
std::shared_ptr<OptBisect> MakeBisect(int64_t limit, std::string& said) {
  return std::make_shared<OptBisect>(limit, [&](const BisectStep& step, bool runs) { said += BisectLine(step, runs); });
}

// Logs the functions that it gets.
Pass FunctionTracer(Log& ran, PassInfo info) {
  return CreateFunctionPass(std::move(info), [&ran](const Function* function, FunctionPassContext& context) {
    ran.emplace_back(context.var()->name);
    return Result<const Function*>(function);
  });
}

struct Observed {
  Observed() { context.instruments = {listener}; }

  std::shared_ptr<Listener> listener = std::make_shared<Listener>();
  const Log& log = listener->log;
  PassContext context;
  Log ran;
};

// Marks the functions with these names, and fails in `failing`.
Pass MarkFunctions(std::vector<std::string> names, std::string failing = "", bool throws = false) {
  const auto mark = [=](const Function* f, FunctionPassContext& context) -> Result<const Function*> {
    const std::string name(context.var()->name);
    if (name == failing && throws) throw std::runtime_error("broken");
    if (name == failing) return Error{ErrorCode::PassFailed, "no"};
    if (std::ranges::find(names, name) == names.end()) return f;
    return WithAttribute(f, "seen", context.workspace());
  };
  return CreateFunctionPass({.name = "Mark"}, mark);
}

}  // namespace

TEST_CASE("an instrument receives the passes that a sequential runs and skips") {
  Observed o;
  o.context.disabled_pass = {"B"};
  CHECK(Sequential({Tracer(o.ran, "A"), Tracer(o.ran, "B"), Tracer(o.ran, "C", 3), Counting(1)})(Module(), o.context)
            .ok());
  CHECK(o.log == Log{"begin sequential", "round of sequential", "begin A", "end A: unchanged", "skip B: disabled",
                     "skip C: level 2", "begin Counting", "end Counting: changed", "end sequential: changed"});
}

TEST_CASE("an instrument hears the rounds of a fixpoint") {
  Observed o;
  CHECK(Fixpoint({Counting(1)}, 8)(Module(), o.context).ok());
  CHECK(o.log == Log{"begin fixpoint", "round of fixpoint", "begin Counting", "end Counting: changed",
                     "round of fixpoint", "begin Counting", "end Counting: unchanged", "end fixpoint: changed"});
}

TEST_CASE("every instrument hears which instrument vetoed a pass") {
  Observed o;
  o.context.instruments = {std::make_shared<Veto>("A"), o.listener};
  CHECK(Sequential({Tracer(o.ran, "A")})(Module(), o.context).ok());
  CHECK(o.log == Log{"begin sequential", "round of sequential", "skip A: veto ", "end sequential: unchanged"});
  CHECK(o.ran.empty());
}

TEST_CASE("an instrument hears that a pass failed, and so did those around it") {
  Observed o;
  CHECK_FALSE(Sequential({Failing(), Tracer(o.ran, "A")})(Module(), o.context).ok());
  CHECK(o.log == Log{"begin sequential", "round of sequential", "begin Failing", "end Failing: failed",
                     "end sequential: failed"});
}

TEST_CASE("an instrument hears why a requirement runs") {
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
  CHECK(o.log == Log{"begin sequential", "round of sequential", "A requires Base", "begin Base", "end Base: unchanged",
                     "begin A", "end A: unchanged", "end sequential: unchanged"});
}

TEST_CASE("an instrument receives the functions that a pass skips") {
  Observed o;
  Module module = MakeModule({"f"});
  AddFunction(module, "g", DictAttr::Empty()->With(attr::kSkipOptimization, IntAttr::Get(1)));
  CHECK(MarkFunctions({})(module, o.context).ok());
  CHECK(o.log == Log{"begin Mark", "Mark leaves g: SkipOptimization", "Mark begins f", "Mark ends f: unchanged",
                     "end Mark: unchanged"});
}

TEST_CASE("an instrument receives the result of a pass for each function") {
  Observed o;
  const Result<PassResult> result = MarkFunctions({"g"})(MakeModule({"f", "g"}), o.context);
  REQUIRE(result.ok());
  CHECK(o.log == Log{"begin Mark", "Mark begins f", "Mark ends f: unchanged", "Mark begins g", "Mark ends g: changed",
                     "end Mark: changed"});
  CHECK(o.listener->functions[0] == result->module.Find("f")->func);
}

TEST_CASE("an instrument that saw a function begin sees it end, whatever fails") {
  for (const bool throws : {false, true}) {
    Observed o;
    CHECK_FALSE(MarkFunctions({}, "f", throws)(MakeModule({"f"}), o.context).ok());
    CHECK(o.log == Log{"begin Mark", "Mark begins f", "Mark ends f: failed", "end Mark: failed"});
  }
  Observed o;
  const auto second = std::make_shared<Listener>();
  second->fails_in = "Mark begins f";
  o.context.instruments.push_back(second);
  const Result<PassResult> result = MarkFunctions({"f"})(MakeModule({"f"}), o.context);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message ==
        "pass 'Mark' failed: instrument 'listener' around function 'f' of pass 'Mark': broken");
  CHECK(o.log == Log{"begin Mark", "Mark begins f", "Mark ends f: failed", "end Mark: failed"});
}

TEST_CASE("several threads tell instruments of one function at a time") {
  // Big enough for threads.
  std::vector<std::string> names;
  for (int i = 0; i < 2'000; ++i) names.push_back("f" + std::to_string(i));
  Observed o;
  o.context.threads = 4;
  REQUIRE(MarkFunctions(names)(MakeModule(names), o.context).ok());
  CHECK(o.log.size() == 2 + 2 * names.size());
  Log sorted = o.log;
  std::ranges::sort(sorted);
  CHECK(std::ranges::adjacent_find(sorted) == sorted.end());
  const auto at = [&](const std::string& entry) { return std::ranges::find(o.log, entry); };
  CHECK(at("Mark begins f7") < at("Mark ends f7: changed"));
}

TEST_CASE("an instrument that fails in a hook fails the run") {
  for (const std::string entry : {"round of sequential", "skip B: level 2"}) {
    Observed o;
    o.listener->fails_in = entry;
    const Result<PassResult> result = Sequential({Tracer(o.ran, "B", 3), Tracer(o.ran, "A")})(Module(), o.context);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().message.find("instrument 'listener' around pass '") != std::string::npos);
    CHECK(o.ran.empty());
  }
}

TEST_CASE("bisection runs the first passes and prints for each whether it runs") {
  Observed o;
  std::string said;
  o.context.instruments.push_back(MakeBisect(1, said));
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
  // Another scope starts to count again.
  o.ran.clear();
  {
    With<PassContext> scope(o.context);
    CHECK(pass(Module(), o.context).ok());
  }
  CHECK(o.ran == Log{"A", "C"});
  CHECK(o.log.back() == "end sequential: unchanged");
}

TEST_CASE("a bisection without a limit runs everything") {
  Log ran;
  PassContext context;
  std::string said;
  context.instruments = {MakeBisect(-1, said)};
  CHECK(Sequential({Tracer(ran, "A"), Tracer(ran, "B")})(Module(), context).ok());
  CHECK(ran == Log{"A", "B"});
  CHECK(said == "BISECT: running pass (1) A on module\nBISECT: running pass (2) B on module\n");
}

TEST_CASE("a bisection counts a pass over functions once for each function, in the order of the module") {
  IRContext ir;
  const IRContext::Scope scope(ir);
  Module module;
  for (const char* name : {"c", "a", "b"}) AddFunction(module, name);
  Observed o;
  Log ran;
  std::string said;
  o.context.instruments.push_back(MakeBisect(3, said));
  o.context.threads = 4;
  const Pass pass = Sequential({Tracer(o.ran, "M"), FunctionTracer(ran, {.name = "F"}), Tracer(o.ran, "N")});
  CHECK(pass(module, o.context).ok());
  CHECK(ran == Log{"c", "a"});
  CHECK(o.ran == Log{"M"});
  CHECK(said ==
        "BISECT: running pass (1) M on module\n"
        "BISECT: running pass (2) F on function c\n"
        "BISECT: running pass (3) F on function a\n"
        "BISECT: NOT running pass (4) F on function b\n"
        "BISECT: NOT running pass (5) N on module\n");
  CHECK(std::ranges::find(o.log, "F leaves b: bisected away: it has number 4, and the limit is 3") != o.log.end());
}

TEST_CASE("a bisection skips neither mandatory passes nor those that the context requires") {
  IRContext ir;
  const IRContext::Scope scope(ir);
  Module module;
  AddFunction(module, "f");
  Log ran;
  std::string said;
  PassContext context;
  const auto bisect = MakeBisect(0, said);
  context.instruments = {bisect};
  context.required_pass = {"Required"};
  const Pass pass = Sequential({FunctionTracer(ran, {.name = "Mandatory", .is_mandatory = true}),
                                FunctionTracer(ran, {.name = "Required"}), FunctionTracer(ran, {.name = "Other"})});
  CHECK(pass(module, context).ok());
  CHECK(ran == Log{"f", "f"});
  CHECK(said == "BISECT: NOT running pass (1) Other on function f\n");
  CHECK(bisect->num_steps() == 1);

  bisect->CountMandatory();
  CHECK(bisect->EnterPassContext().ok());
  ran.clear();
  CHECK(pass(module, context).ok());
  CHECK(ran == Log{"f"});
  CHECK(bisect->num_steps() == 2);
}

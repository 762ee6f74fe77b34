// Instruments: the order of calls, vetoes, and what happens when one of them fails.
#include "iropt/pass/instrument.h"

#include <stdexcept>

#include "catch.h"
#include "helpers.h"
#include "iropt/pass/print_instruments.h"
#include "iropt/pass/timing.h"
#include "recorder.h"

using namespace iropt;

namespace {

const Pass& FailingPass() {
  static const Pass pass = CreateModulePass({.name = "Failing"}, [](Module, ModulePassContext&) -> Result<Module> {
    return Error{ErrorCode::PassFailed, "no"};
  });
  return pass;
}

}  // namespace

TEST_CASE("the calls of one instrument around two passes") {
  Watched w;
  w.Add("i");
  {
    With<PassContext> scope(w.context);
    REQUIRE(scope.status().ok());
    REQUIRE(Tracer(w.log, "A")(Module()).ok());
    REQUIRE(Tracer(w.log, "B")(Module()).ok());
  }
  CHECK(w.log == Log{"i.enter", "i.should(A)", "i.before(A)", "A", "i.after(A)", "i.should(B)", "i.before(B)", "B",
                     "i.after(B)", "i.exit"});
}

TEST_CASE("several instruments are called in the order of the context") {
  Watched w;
  w.Add("i");
  w.Add("j");
  {
    With<PassContext> scope(w.context);
    REQUIRE(Tracer(w.log, "A")(Module()).ok());
  }
  CHECK(w.log == Log{"i.enter", "j.enter", "i.should(A)", "j.should(A)", "i.before(A)", "j.before(A)", "A",
                     "i.after(A)", "j.after(A)", "i.exit", "j.exit"});
}

TEST_CASE("one veto is enough, and all instruments are asked") {
  Watched w;
  w.Add("i")->vetoed = "A";
  w.Add("j");
  const Module module = MakeModule({"main"});
  const Result<PassResult> result = Counting(1)(module, w.context);
  REQUIRE(result.ok());
  w.log.clear();
  const Result<PassResult> vetoed = Tracer(w.log, "A")(module, w.context);
  REQUIRE(vetoed.ok());
  CHECK_FALSE(vetoed->changed);
  CHECK(vetoed->module.Find("main") != nullptr);
  CHECK(w.log == Log{"i.should(A)", "j.should(A)"});
}

TEST_CASE("a pass that the context requires is not subject to a veto") {
  Watched w;
  w.Add("i")->vetoed = "A";
  w.context.required_pass = {"A"};
  REQUIRE(Tracer(w.log, "A")(Module(), w.context).ok());
  CHECK(w.log == Log{"i.before(A)", "A", "i.after(A)"});
}

TEST_CASE("instruments see a sequential and the passes in it") {
  Watched w;
  w.Add("i");
  REQUIRE(Sequential({Tracer(w.log, "A")}, SequentialInfo("seq"))(Module(), w.context).ok());
  CHECK(w.log ==
        Log{"i.should(seq)", "i.before(seq)", "i.should(A)", "i.before(A)", "A", "i.after(A)", "i.after(seq)"});
}

TEST_CASE("instruments do not see passes that are not enabled") {
  Watched w;
  w.Add("i");
  REQUIRE(Sequential({Tracer(w.log, "A", 4)}, SequentialInfo("seq"))(Module(), w.context).ok());
  CHECK(w.log == Log{"i.should(seq)", "i.before(seq)", "i.after(seq)"});
}

TEST_CASE("instruments receive the outcome of a pass") {
  Watched w;
  const auto recorder = w.Add("i");
  REQUIRE(Counting(1)(Module(), w.context).ok());
  REQUIRE(Tracer(w.log, "A")(Module(), w.context).ok());
  REQUIRE_FALSE(FailingPass()(Module(), w.context).ok());
  CHECK(recorder->outcomes == std::vector{PassOutcome::Changed, PassOutcome::Unchanged, PassOutcome::Failed});
}

TEST_CASE("an instrument that saw a pass begin sees it end when the pass throws") {
  Watched w;
  w.Add("i");
  const Pass pass = CreateModulePass(
      {.name = "T"}, [](Module, ModulePassContext&) -> Result<Module> { throw std::runtime_error("oops"); });
  REQUIRE_FALSE(Sequential({pass}, SequentialInfo("seq"))(Module(), w.context).ok());
  CHECK(w.log == Log{"i.should(seq)", "i.before(seq)", "i.should(T)", "i.before(T)", "i.after(T)", "i.after(seq)"});
}

TEST_CASE("a failing instrument names itself and the pass") {
  for (const bool throws : {false, true}) {
    Watched w;
    w.Add("i", "before", throws);
    const Result<PassResult> result = Tracer(w.log, "A")(Module(), w.context);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().message == (throws ? "instrument 'i' around pass 'A' threw an exception: broken"
                                            : "instrument 'i' around pass 'A': broken"));
    CHECK(w.log == Log{"i.should(A)", "i.before(A)"});
  }
}

TEST_CASE("if should-run throws, the pass does not run and no instrument sees it begin") {
  Watched w;
  w.Add("i", "should", true);
  w.Add("j");
  REQUIRE_FALSE(Tracer(w.log, "A")(Module(), w.context).ok());
  CHECK(w.log == Log{"i.should(A)"});
}

TEST_CASE("if a before hook fails, the pass does not run, and those that saw it begin see it end") {
  Watched w;
  const auto first = w.Add("i");
  w.Add("j", "before");
  w.Add("k");
  REQUIRE_FALSE(Tracer(w.log, "A")(Module(), w.context).ok());
  CHECK(w.log == Log{"i.should(A)", "j.should(A)", "k.should(A)", "i.before(A)", "j.before(A)", "i.after(A)"});
  CHECK(first->outcomes == std::vector{PassOutcome::Failed});
}

TEST_CASE("if an after hook fails, the run fails, and the others still see the end") {
  Watched w;
  const auto first = w.Add("i");
  w.Add("j", "after");
  const auto last = w.Add("k");
  const Result<PassResult> result = Counting(1)(Module(), w.context);
  REQUIRE_FALSE(result.ok());
  CHECK(first->outcomes == std::vector{PassOutcome::Changed});
  CHECK(last->outcomes == std::vector{PassOutcome::Failed});
}

TEST_CASE("a failing enter clears the instruments, those that entered exit, later ones are never called") {
  for (const bool throws : {false, true}) {
    Watched w;
    w.Add("a");
    w.Add("b");
    w.Add("c", "enter", throws);
    w.Add("d");
    const PassContext& before = PassContext::Current();
    const With<PassContext> scope(w.context);
    CHECK_FALSE(scope.status().ok());
    CHECK(w.log == Log{"a.enter", "b.enter", "c.enter", "a.exit", "b.exit"});
    CHECK(w.context.instruments.empty());
    CHECK(&PassContext::Current() == &before);
  }
}

TEST_CASE("a failing exit clears the instruments, and later ones do not exit") {
  for (const bool throws : {false, true}) {
    Watched w;
    w.Add("a");
    w.Add("b", "exit", throws);
    w.Add("c");
    With<PassContext> scope(w.context);
    REQUIRE(scope.status().ok());
    w.log.clear();
    const Status left = scope.Exit();
    REQUIRE_FALSE(left.ok());
    CHECK(left.error().message == (throws ? "instrument 'b' threw an exception: broken" : "instrument 'b': broken"));
    CHECK(w.log == Log{"a.exit", "b.exit"});
    CHECK(w.context.instruments.empty());
  }
}

TEST_CASE("instruments exit once, also if a pass failed") {
  Watched w;
  w.Add("i");
  {
    With<PassContext> scope(w.context);
    REQUIRE_FALSE(FailingPass()(Module()).ok());
  }
  CHECK(w.log == Log{"i.enter", "i.should(Failing)", "i.before(Failing)", "i.after(Failing)", "i.exit"});
}

TEST_CASE("overriding instruments: the old ones exit, then the new ones enter") {
  Watched w;
  w.Add("old");
  With<PassContext> scope(w.context);
  w.log.clear();
  const auto replacement = std::make_shared<Recorder>("new", w.log);
  REQUIRE(PassContext::Current().OverrideInstruments({replacement}).ok());
  CHECK(w.log == Log{"old.exit", "new.enter"});
  w.log.clear();
  REQUIRE(Tracer(w.log, "A")(Module()).ok());
  CHECK(w.log == Log{"new.should(A)", "new.before(A)", "A", "new.after(A)"});
}

TEST_CASE("instruments of a context without a scope can be overridden, too") {
  Log log;
  PassContext& current = PassContext::Current();
  REQUIRE(current.OverrideInstruments({std::make_shared<Recorder>("i", log)}).ok());
  REQUIRE(Tracer(log, "A")(Module()).ok());
  REQUIRE(current.OverrideInstruments({}).ok());
  CHECK(log == Log{"i.enter", "i.should(A)", "i.before(A)", "A", "i.after(A)", "i.exit"});
}

TEST_CASE("an instrument may override the instruments of its own context") {
  struct Resigning : PassInstrument {
    Resigning() : PassInstrument("resigning") {}
    Status RunBeforePass(const Module&, const PassInfo&) override {
      return PassContext::Current().OverrideInstruments({});
    }
    Status RunAfterPass(const Module&, const PassInfo&, PassOutcome) override {
      ++ends;
      return {};
    }
    int ends = 0;
  };
  Log log;
  PassContext context;
  const auto resigning = std::make_shared<Resigning>();
  context.instruments = {resigning};
  With<PassContext> scope(context);
  REQUIRE(Sequential({Tracer(log, "A"), Tracer(log, "B")})(Module()).ok());
  CHECK(log == Log{"A", "B"});
  CHECK(resigning->ends == 1);
}

TEST_CASE("timing adds up the runs of a pass at its place") {
  Log log;
  PassContext context;
  const auto timing = std::make_shared<PassTimingInstrument>();
  context.instruments = {timing};
  With<PassContext> scope(context);
  const Pass inner = Fixpoint({Counting(2), Tracer(log, "A")}, 8);
  REQUIRE(Sequential({inner, Tracer(log, "A"), Tracer(log, "A")}, SequentialInfo("all"))(Module()).ok());
  REQUIRE_FALSE(FailingPass()(Module()).ok());
  REQUIRE(timing->profiles().size() == 2);
  const PassProfile& all = timing->profiles()[0];
  CHECK(all.name == "all");
  REQUIRE(all.children.size() == 3);
  const PassProfile& fixpoint = all.children[0];
  REQUIRE(fixpoint.children.size() == 2);
  CHECK(fixpoint.children[0].name == "Counting");
  CHECK(fixpoint.children[0].runs == 3);
  CHECK(fixpoint.children[0].changed == 2);
  CHECK(fixpoint.children[1].runs == 3);
  CHECK(all.children[1].runs == 1);
  CHECK(all.children[2].runs == 1);
  CHECK(all.Self().wall_seconds <= all.time.wall_seconds - fixpoint.time.wall_seconds);
  CHECK(timing->profiles()[1].failed == 1);
  CHECK(all.time.wall_seconds >= fixpoint.time.wall_seconds);
  const std::string table = timing->Render();
  CHECK(table.find("  all\n") != std::string::npos);
  CHECK(table.find("      Counting\n") != std::string::npos);
  CHECK(table.find("Failing  (1 failed)\n") != std::string::npos);
}

TEST_CASE("totals by name add the positions of a pass, and count nested ones of the same name once") {
  PassProfile inner{.name = "S", .runs = 1, .time = {2, 2}};
  PassProfile skipped{.name = "Skipped"};
  PassProfile outer{.name = "S", .runs = 1, .changed = 1, .time = {5, 5}, .children = {inner, skipped}};
  const std::vector<PassTotal> totals = TotalsByName({{.name = "A", .runs = 2, .time = {1, 3}}, outer});
  REQUIRE(totals.size() == 2);
  CHECK(totals[0].name == "S");
  CHECK(totals[0].runs == 2);
  CHECK(totals[0].changed == 1);
  CHECK(totals[0].time.wall_seconds == 5);
  CHECK(totals[0].self.wall_seconds == 5);
  CHECK(totals[1].name == "A");
  CHECK(totals[1].self.cpu_seconds == 3);
}

TEST_CASE("the position of a pass in the pipeline counts, also if passes before it are skipped in some rounds") {
  Log log;
  PassContext context;
  const auto timing = std::make_shared<PassTimingInstrument>();
  context.instruments = {timing};
  With<PassContext> scope(context);
  const Pass pipeline = Sequential({Tracer(log, "A"), Tracer(log, "B"), Tracer(log, "A")}, SequentialInfo("all"));
  context.disabled_pass = {"A"};
  REQUIRE(pipeline(Module()).ok());
  context.disabled_pass.clear();
  REQUIRE(pipeline(Module()).ok());
  const std::vector<PassProfile>& rows = timing->profiles()[0].children;
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].runs == 1);
  CHECK(rows[1].runs == 2);
  CHECK(rows[2].runs == 1);
}

TEST_CASE("timing starts again with each context") {
  Log log;
  PassContext context;
  const auto timing = std::make_shared<PassTimingInstrument>();
  context.instruments = {timing};
  for (int i = 0; i < 2; ++i) {
    With<PassContext> scope(context);
    REQUIRE(Tracer(log, "A")(Module()).ok());
  }
  REQUIRE(timing->profiles().size() == 1);
  CHECK(timing->profiles()[0].runs == 1);
}

TEST_CASE("the module is printed around the named passes, or around all that are not composite") {
  Log shown;
  const auto print = [&](const Module&, const std::string& heading) {
    shown.push_back(heading);
    return Status();
  };
  Log log;
  const Pass pipeline = Sequential({Tracer(log, "A"), Tracer(log, "B")});
  PassContext context;
  SECTION("named") {
    context.instruments = {std::make_shared<PrintIRBefore>(std::vector<std::string>{"B"}, print),
                           std::make_shared<PrintIRAfter>(std::vector<std::string>{"A"}, print)};
    REQUIRE(pipeline(Module(), context).ok());
    CHECK(shown == Log{"IR after A", "IR before B"});
  }
  SECTION("all") {
    context.instruments = {std::make_shared<PrintIRBefore>(std::vector<std::string>(), print),
                           std::make_shared<PrintIRAfter>(std::vector<std::string>(), print)};
    REQUIRE(pipeline(Module(), context).ok());
    CHECK(shown == Log{"IR before A", "IR after A", "IR before B", "IR after B"});
  }
  SECTION("a pass that failed has nothing to show") {
    context.instruments = {std::make_shared<PrintIRAfter>(std::vector<std::string>(), print)};
    REQUIRE_FALSE(FailingPass()(Module(), context).ok());
    CHECK(shown.empty());
  }
}

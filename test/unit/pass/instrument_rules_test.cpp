// The rules of "Pass Instrument" and "Override Instruments in Current PassContext" in reference 001, one test each.
// Hooks fail by returning an error or by throwing, which is the same: each rule is tested with both.
#include <stdexcept>

#include "catch.h"
#include "helpers.h"
#include "iropt/pass/instrument.h"
#include "recorder.h"

using namespace iropt;

namespace {

const std::vector<bool> kReturnsOrThrows = {false, true};

Pass Throwing() {
  return CreateModulePass({.name = "T"},
                          [](Module, ModulePassContext&) -> Result<Module> { throw std::runtime_error("oops"); });
}

}  // namespace

TEST_CASE("001: EnterPassContext is called immediately when the scope is entered") {
  Watched w;
  w.Add("i");
  const With<PassContext> scope(w.context);
  CHECK(w.log == Log{"i.enter"});
}

TEST_CASE("001: ExitPassContext is called when the scope is left") {
  Watched w;
  w.Add("i");
  { const With<PassContext> scope(w.context); }
  CHECK(w.log == Log{"i.enter", "i.exit"});
}

TEST_CASE("001: ExitPassContext is called when an exception ends the scope") {
  Watched w;
  w.Add("i");
  const PassContext* outer = &PassContext::Current();
  try {
    const With<PassContext> scope(w.context);
    throw std::runtime_error("oops");
  } catch (const std::runtime_error&) {
    w.log.push_back("caught");
  }
  CHECK(w.log == Log{"i.enter", "i.exit", "caught"});
  CHECK(&PassContext::Current() == outer);
}

TEST_CASE("001: ExitPassContext is called when a pass throws") {
  Watched w;
  w.Add("i");
  {
    const With<PassContext> scope(w.context);
    REQUIRE_FALSE(Throwing()(Module()).ok());
  }
  CHECK(w.log == Log{"i.enter", "i.should(T)", "i.before(T)", "i.after(T)", "i.exit"});
}

TEST_CASE("001: the calls before and after a pass, which is run in between") {
  Watched w;
  w.Add("pi");
  {
    const With<PassContext> scope(w.context);
    REQUIRE(Tracer(w.log, "Pass1")(Module()).ok());
    REQUIRE(Tracer(w.log, "Pass2")(Module()).ok());
  }
  CHECK(w.log == Log{"pi.enter", "pi.should(Pass1)", "pi.before(Pass1)", "Pass1", "pi.after(Pass1)", "pi.should(Pass2)",
                     "pi.before(Pass2)", "Pass2", "pi.after(Pass2)", "pi.exit"});
}

TEST_CASE("001: a pass that should not run is not run, and RunBeforePass and RunAfterPass are not called") {
  Watched w;
  w.Add("pi")->vetoed = "Pass1";
  REQUIRE(Sequential({Tracer(w.log, "Pass1"), Tracer(w.log, "Pass2")}, SequentialInfo("s"))(Module(), w.context).ok());
  CHECK(w.log == Log{"pi.should(s)", "pi.before(s)", "pi.should(Pass1)", "pi.should(Pass2)", "pi.before(Pass2)",
                     "Pass2", "pi.after(Pass2)", "pi.after(s)"});
}

TEST_CASE("001: RunAfterPass is given the module that the pass made") {
  struct Counter : PassInstrument {
    Counter() : PassInstrument("counter") {}
    Status RunBeforePass(const Module& module, const PassInfo&) override {
      counts.push_back(CountOf(module));
      return {};
    }
    Status RunAfterPass(const Module& module, const PassInfo&, PassOutcome) override {
      counts.push_back(CountOf(module));
      return {};
    }
    std::vector<int64_t> counts;
  };
  PassContext context;
  const auto counter = std::make_shared<Counter>();
  context.instruments = {counter};
  REQUIRE(Counting(1)(Module(), context).ok());
  CHECK(counter->counts == std::vector<int64_t>{0, 1});
}

TEST_CASE("001: instruments are called in the order in which the context has them, at all four points") {
  Watched w;
  w.Add("a");
  w.Add("b");
  w.Add("c");
  {
    const With<PassContext> scope(w.context);
    REQUIRE(Tracer(w.log, "P")(Module()).ok());
  }
  CHECK(w.log == Log{"a.enter", "b.enter", "c.enter", "a.should(P)", "b.should(P)", "c.should(P)", "a.before(P)",
                     "b.before(P)", "c.before(P)", "P", "a.after(P)", "b.after(P)", "c.after(P)", "a.exit", "b.exit",
                     "c.exit"});
}

TEST_CASE("001: EnterPassContext: if A entered and B fails, C is never called, and A exits") {
  for (const bool throws : kReturnsOrThrows) {
    Watched w;
    w.Add("A");
    w.Add("B", "enter", throws);
    w.Add("C");
    const With<PassContext> scope(w.context);
    CHECK(w.log == Log{"A.enter", "B.enter", "A.exit"});
  }
}

TEST_CASE("001: EnterPassContext: if one fails, the context has no instruments, even before the others exit") {
  for (const bool throws : kReturnsOrThrows) {
    Watched w;
    struct Looker : PassInstrument {
      explicit Looker(const PassContext& c) : PassInstrument("looker"), context(c) {}
      Status ExitPassContext() override {
        seen = context.instruments.size();
        return {};
      }
      const PassContext& context;
      size_t seen = 99;
    };
    const auto looker = std::make_shared<Looker>(w.context);
    w.context.instruments.push_back(looker);
    w.Add("B", "enter", throws);
    const With<PassContext> scope(w.context);
    CHECK(looker->seen == 0);
    CHECK(w.context.instruments.empty());
  }
}

TEST_CASE("001: EnterPassContext: those that had entered exit in the order of the instruments") {
  Watched w;
  w.Add("a");
  w.Add("b");
  w.Add("c", "enter");
  const With<PassContext> scope(w.context);
  CHECK(w.log == Log{"a.enter", "b.enter", "c.enter", "a.exit", "b.exit"});
}

TEST_CASE("001: EnterPassContext: the failure propagates, and the scope does not come to be") {
  for (const bool throws : kReturnsOrThrows) {
    Watched w;
    w.Add("a", "exit", throws);  // an error during exit is not reported as the reason
    w.Add("b", "enter", throws);
    const PassContext* outer = &PassContext::Current();
    With<PassContext> scope(w.context);
    REQUIRE_FALSE(scope.status().ok());
    CHECK(scope.status().error().message ==
          (throws ? "instrument 'b' threw an exception: broken" : "instrument 'b': broken"));
    CHECK(&PassContext::Current() == outer);
    CHECK(scope.Exit().ok());
    CHECK(w.log == Log{"a.enter", "b.enter", "a.exit"});
  }
}

TEST_CASE("001: EnterPassContext: passes that run afterwards are not watched") {
  Watched w;
  w.Add("a");
  w.Add("b", "enter");
  { const With<PassContext> scope(w.context); }
  w.log.clear();
  const With<PassContext> again(w.context);
  REQUIRE(again.status().ok());
  REQUIRE(Tracer(w.log, "P")(Module()).ok());
  CHECK(w.log == Log{"P"});
}

TEST_CASE("001: ExitPassContext: if one fails, those after it are not called, and the context has no instruments") {
  for (const bool throws : kReturnsOrThrows) {
    Watched w;
    w.Add("a");
    w.Add("b", "exit", throws);
    w.Add("c");
    With<PassContext> scope(w.context);
    w.log.clear();
    REQUIRE_FALSE(scope.Exit().ok());
    CHECK(w.log == Log{"a.exit", "b.exit"});
    CHECK(w.context.instruments.empty());
  }
}

TEST_CASE("001: ExitPassContext: if one fails, the scope is left nevertheless") {
  for (const bool throws : kReturnsOrThrows) {
    Watched w;
    w.Add("a", "exit", throws);
    const PassContext* outer = &PassContext::Current();
    { const With<PassContext> scope(w.context); }
    CHECK(&PassContext::Current() == outer);
  }
}

TEST_CASE("001: InstrumentBeforePass: ShouldRun is not called for a pass that the context requires") {
  Watched w;
  w.Add("i")->vetoed = "P";
  w.context.required_pass = {"P"};
  REQUIRE(Tracer(w.log, "P")(Module(), w.context).ok());
  CHECK(w.log == Log{"i.before(P)", "P", "i.after(P)"});
}

TEST_CASE("001: InstrumentBeforePass: one veto blocks the pass for all instruments") {
  Watched w;
  w.Add("a");
  w.Add("b")->vetoed = "P";
  w.Add("c");
  const Result<PassResult> result = Tracer(w.log, "P")(MakeModule({"main"}), w.context);
  REQUIRE(result.ok());
  CHECK_FALSE(result->changed);
  CHECK(result->module.size() == 1);
  CHECK(w.log == Log{"a.should(P)", "b.should(P)", "c.should(P)"});
}

TEST_CASE("001: InstrumentBeforePass: exceptions of RunBeforePass propagate at once, and the pass does not run") {
  for (const bool throws : kReturnsOrThrows) {
    Watched w;
    w.Add("a");
    w.Add("b", "before", throws);
    w.Add("c");
    const Pass pipeline = Sequential({Tracer(w.log, "P"), Tracer(w.log, "Q")});
    w.context.required_pass = {"sequential", "P"};  // so that the log is short
    Result<PassResult> result = Tracer(w.log, "P")(Module(), w.context);
    REQUIRE_FALSE(result.ok());
    CHECK(w.log == Log{"a.before(P)", "b.before(P)", "a.after(P)"});
    w.log.clear();
    result = pipeline(Module(), w.context);
    REQUIRE_FALSE(result.ok());
    CHECK(w.log == Log{"a.before(sequential)", "b.before(sequential)", "a.after(sequential)"});
  }
}

TEST_CASE("001: InstrumentBeforePass: exceptions of ShouldRun propagate at once, and the pass does not run") {
  Watched w;
  w.Add("a", "should", true);
  w.Add("b");
  REQUIRE_FALSE(Tracer(w.log, "P")(Module(), w.context).ok());
  CHECK(w.log == Log{"a.should(P)"});
}

TEST_CASE("001: InstrumentBeforePass: after an exception the scope is left safely, by all instruments") {
  for (const bool throws : kReturnsOrThrows) {
    Watched w;
    w.Add("a");
    w.Add("b", "before", throws);
    {
      const With<PassContext> scope(w.context);
      REQUIRE_FALSE(Tracer(w.log, "P")(Module()).ok());
      w.log.clear();
    }
    CHECK(w.log == Log{"a.exit", "b.exit"});
    CHECK(w.context.instruments.size() == 2);
  }
}

TEST_CASE("001: InstrumentAfterPass: exceptions of RunAfterPass propagate, and no further pass runs") {
  for (const bool throws : kReturnsOrThrows) {
    Watched w;
    w.Add("a", "after", throws);
    const Result<PassResult> result =
        Sequential({Tracer(w.log, "P"), Tracer(w.log, "Q")}, SequentialInfo("s"))(Module(), w.context);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().message == (throws ? "instrument 'a' around pass 'P' threw an exception: broken"
                                            : "instrument 'a' around pass 'P': broken"));
    CHECK(w.log == Log{"a.should(s)", "a.before(s)", "a.should(P)", "a.before(P)", "P", "a.after(P)", "a.after(s)"});
  }
}

TEST_CASE("001: InstrumentAfterPass: after an exception the scope is left safely, by all instruments") {
  for (const bool throws : kReturnsOrThrows) {
    Watched w;
    w.Add("a", "after", throws);
    w.Add("b");
    {
      const With<PassContext> scope(w.context);
      REQUIRE_FALSE(Tracer(w.log, "P")(Module()).ok());
      w.log.clear();
    }
    CHECK(w.log == Log{"a.exit", "b.exit"});
  }
}

TEST_CASE("an instrument that saw a pass begin sees it end, whatever fails") {
  for (const bool throws : kReturnsOrThrows) {
    for (const std::string hook : {"should", "before", "after", "none"}) {
      Watched w;
      const auto first = w.Add("a");
      w.Add("b", hook, throws);
      w.Add("c");
      const Pass pass = hook == "none" ? Throwing() : Tracer(w.log, "T");
      const bool should_never_fails = hook == "should" && !throws;
      CHECK(pass(Module(), w.context).ok() == should_never_fails);
      const auto count = [&](const std::string& what) { return std::ranges::count(w.log, what); };
      CHECK(count("a.before(T)") == count("a.after(T)"));
      CHECK(count("c.before(T)") == count("c.after(T)"));
    }
  }
}

TEST_CASE("001: OverrideInstruments: the old ones exit, then the new ones enter") {
  Watched w;
  w.Add("old1");
  w.Add("old2");
  const With<PassContext> scope(w.context);
  w.log.clear();
  REQUIRE(
      w.context
          .OverrideInstruments({std::make_shared<Recorder>("new1", w.log), std::make_shared<Recorder>("new2", w.log)})
          .ok());
  CHECK(w.log == Log{"old1.exit", "old2.exit", "new1.enter", "new2.enter"});
}

TEST_CASE("001: OverrideInstruments: works on the default context of a thread, without a scope") {
  Log log;
  PassContext& current = PassContext::Current();
  const auto instrument = std::make_shared<Recorder>("i", log);
  REQUIRE(current.OverrideInstruments({instrument}).ok());
  REQUIRE(Sequential({Tracer(log, "P")}, SequentialInfo("s"))(Module()).ok());
  REQUIRE(current.OverrideInstruments({}).ok());
  CHECK(log == Log{"i.enter", "i.should(s)", "i.before(s)", "i.should(P)", "i.before(P)", "P", "i.after(P)",
                   "i.after(s)", "i.exit"});
}

TEST_CASE("001: OverrideInstruments: if an old one fails to exit, the new ones do not enter") {
  for (const bool throws : kReturnsOrThrows) {
    Watched w;
    w.Add("old1", "exit", throws);
    w.Add("old2");
    REQUIRE_FALSE(w.context.OverrideInstruments({std::make_shared<Recorder>("new", w.log)}).ok());
    CHECK(w.log == Log{"old1.exit"});
    CHECK(w.context.instruments.empty());
  }
}

TEST_CASE("001: OverrideInstruments: if a new one fails to enter, the context has no instruments") {
  for (const bool throws : kReturnsOrThrows) {
    Watched w;
    w.Add("old");
    REQUIRE_FALSE(w.context
                      .OverrideInstruments({std::make_shared<Recorder>("new1", w.log),
                                            std::make_shared<Recorder>("new2", w.log, "enter", throws)})
                      .ok());
    CHECK(w.log == Log{"old.exit", "new1.enter", "new2.enter", "new1.exit"});
    CHECK(w.context.instruments.empty());
  }
}

TEST_CASE("an instrument may override the instruments while it enters or exits") {
  struct Resigning : PassInstrument {
    explicit Resigning(PassContext& c) : PassInstrument("resigning"), context(c) {}
    Status ExitPassContext() override {
      context.instruments.clear();
      return {};
    }
    PassContext& context;
  };
  Watched w;
  w.context.instruments.push_back(std::make_shared<Resigning>(w.context));
  w.Add("b");
  { const With<PassContext> scope(w.context); }
  CHECK(w.log == Log{"b.enter", "b.exit"});
}

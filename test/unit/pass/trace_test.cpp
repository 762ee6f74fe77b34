// The trace function of reference 000, and passes that print the module.
#include <stdexcept>

#include "catch.h"
#include "helpers.h"
#include "recorder.h"

using namespace iropt;

namespace {

struct Traced {
  Traced() {
    trace = std::make_shared<TraceInstrument>([this](const Module& module, const PassInfo& info, bool is_before) {
      log.push_back((is_before ? "before " : "after ") + info.name);
      counts.push_back(CountOf(module));
    });
    context.instruments = {trace};
  }

  std::shared_ptr<TraceInstrument> trace;
  Log log;
  std::vector<int64_t> counts;
  PassContext context;
};

}  // namespace

TEST_CASE("000: a trace function is called before and after each pass") {
  Traced t;
  REQUIRE(Sequential({Tracer(t.log, "A"), Tracer(t.log, "B")})(Module(), t.context).ok());
  CHECK(t.log == Log{"before A", "A", "after A", "before B", "B", "after B"});
}

TEST_CASE("000: a trace function sees the module before and after the pass") {
  Traced t;
  REQUIRE(Sequential({Counting(1), Counting(2)})(Module(), t.context).ok());
  CHECK(t.counts == std::vector<int64_t>{0, 1, 1, 2});
}

TEST_CASE("000: a trace function is not called for lists of passes, nor for passes that do not run") {
  Traced t;
  const Pass inner = Fixpoint({Tracer(t.log, "A", 4)}, 1);
  REQUIRE(Sequential({inner, Repeat({Tracer(t.log, "B")}, 1)})(Module(), t.context).ok());
  CHECK(t.log == Log{"before B", "B", "after B"});
}

TEST_CASE("a trace is an instrument among others, and is not called for a pass that one of them vetoes") {
  Traced t;
  const auto instrument = std::make_shared<Recorder>("i", t.log);
  t.context.instruments = {instrument, t.trace};
  REQUIRE(Tracer(t.log, "A")(Module(), t.context).ok());
  CHECK(t.log == Log{"i.should(A)", "i.before(A)", "before A", "A", "i.after(A)", "after A"});
  t.log.clear();
  instrument->vetoed = "A";
  REQUIRE(Tracer(t.log, "A")(Module(), t.context).ok());
  CHECK(t.log == Log{"i.should(A)"});
}

TEST_CASE("a pass that fails has no after in the trace") {
  Traced t;
  const Pass failing = CreateModulePass({.name = "F"}, [](Module, ModulePassContext&) -> Result<Module> {
    return Error{ErrorCode::PassFailed, "no"};
  });
  REQUIRE_FALSE(failing(Module(), t.context).ok());
  CHECK(t.log == Log{"before F"});
}

TEST_CASE("an exception of a trace function is the error of the run") {
  Log log;
  PassContext context;
  context.instruments = {std::make_shared<TraceInstrument>([](const Module&, const PassInfo&, bool is_before) {
    if (is_before) throw std::runtime_error("broken");
  })};
  const Result<PassResult> result = Tracer(log, "A")(Module(), context);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message == "instrument 'trace' around pass 'A' threw an exception: broken");
  CHECK(log.empty());
}

TEST_CASE("a trace function reads in the info of a pass whether tools may record it") {
  std::vector<bool> traceable;
  PassContext context;
  context.instruments = {std::make_shared<TraceInstrument>([&](const Module&, const PassInfo& info, bool is_before) {
    if (is_before) traceable.push_back(info.traceable);
  })};
  const auto keep = [](Module module, ModulePassContext&) -> Result<Module> { return module; };
  REQUIRE(CreateModulePass({.name = "A", .traceable = true}, keep)(Module(), context).ok());
  REQUIRE(CreateModulePass({.name = "B"}, keep)(Module(), context).ok());
  CHECK(traceable == std::vector{true, false});
}

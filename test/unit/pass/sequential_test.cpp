// Passes that run other passes: enabled and required passes, and the number of runs.
#include "catch.h"
#include "helpers.h"

using namespace iropt;

namespace {

Log global_log;  // of passes that a registry makes, whose factories are plain functions

template <char Name>
Pass CreateLogged(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext&) -> Result<Module> {
    global_log.push_back(std::string(1, Name));
    return module;
  });
}

template <char Name>
PassEntry Row(std::vector<std::string> required = {}, int opt_level = 0) {
  return {{.name = std::string(1, Name), .opt_level = opt_level, .required = std::move(required)},
          {},
          "",
          &CreateLogged<Name>};
}

struct Requirements {
  Requirements() {
    global_log.clear();
    context.registry = &registry;
  }
  Pass Get(std::string_view name) {
    Reports reports;
    Result<Pass> pass = registry.Create(name, {}, reports.engine());
    REQUIRE(pass.ok());
    return *std::move(pass);
  }

  PassRegistry registry;
  PassContext context;
};

Log RunAt(int opt_level, const std::function<Pass(Log&)>& make) {
  Log log;
  PassContext context;
  context.opt_level = opt_level;
  REQUIRE(make(log)(Module(), context).ok());
  return log;
}

}  // namespace

TEST_CASE("a sequential runs its passes in the order of the list") {
  CHECK(RunAt(2, [](Log& log) {
          return Sequential({Tracer(log, "A"), Tracer(log, "B"), Tracer(log, "A")});
        }) == Log{"A", "B", "A"});
}

TEST_CASE("a pass is enabled if its level is not above that of the context") {
  const auto make = [](Log& log) {
    return Sequential({Tracer(log, "zero", 0), Tracer(log, "two", 2), Tracer(log, "three", 3)});
  };
  CHECK(RunAt(0, make) == Log{"zero"});
  CHECK(RunAt(2, make) == Log{"zero", "two"});
  CHECK(RunAt(3, make) == Log{"zero", "two", "three"});
}

TEST_CASE("the level of a context is 2 unless it is set") { CHECK(PassContext().opt_level == 2); }

TEST_CASE("a required pass runs whatever its level is") {
  Log log;
  PassContext context;
  context.opt_level = 0;
  context.required_pass = {"A"};
  REQUIRE(Sequential({Tracer(log, "A", 4), Tracer(log, "B", 4)})(Module(), context).ok());
  CHECK(log == Log{"A"});
}

TEST_CASE("a disabled pass does not run even if it is required") {
  Log log;
  PassContext context;
  context.required_pass = {"A"};
  context.disabled_pass = {"A"};
  REQUIRE(Sequential({Tracer(log, "A"), Tracer(log, "B")})(Module(), context).ok());
  CHECK(log == Log{"B"});
}

TEST_CASE("the result of a sequential is changed if one of its passes changed something") {
  Log log;
  const Result<PassResult> changed = Sequential({Counting(1), Tracer(log, "A")})(Module());
  REQUIRE(changed.ok());
  CHECK(changed->changed);
  const Result<PassResult> unchanged = Sequential({Tracer(log, "A")})(Module());
  REQUIRE(unchanged.ok());
  CHECK_FALSE(unchanged->changed);
}

TEST_CASE("a failing pass ends the sequential") {
  Log log;
  const Pass failing = CreateModulePass({.name = "Failing"}, [](Module, ModulePassContext&) -> Result<Module> {
    return Error{ErrorCode::PassFailed, "no"};
  });
  const Result<PassResult> result = Sequential({Tracer(log, "A"), failing, Tracer(log, "B")})(Module());
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message == "pass 'Failing' failed: no");
  CHECK(log == Log{"A"});
}

TEST_CASE("a nested sequential without a level of its own always runs") {
  const auto make = [](Log& log) { return Sequential({Sequential({Tracer(log, "A", 0)}, SequentialInfo("inner"))}); };
  CHECK(RunAt(0, make) == Log{"A"});
}

TEST_CASE("a nested sequential with a level is subject to it, and so are its passes to theirs") {
  const auto make = [](Log& log) {
    return Sequential({Sequential({Tracer(log, "A", 0), Tracer(log, "B", 3)}, SequentialInfo("inner", 2))});
  };
  CHECK(RunAt(1, make).empty());
  CHECK(RunAt(2, make) == Log{"A"});
  CHECK(RunAt(3, make) == Log{"A", "B"});
}

TEST_CASE("a nested sequential can be disabled and required by its name") {
  Log log;
  PassContext context;
  const Pass pipeline = Sequential({Sequential({Tracer(log, "A")}, SequentialInfo("one")),
                                    Sequential({Tracer(log, "B")}, SequentialInfo("two", 4))});
  context.disabled_pass = {"one"};
  context.required_pass = {"two"};
  REQUIRE(pipeline(Module(), context).ok());
  CHECK(log == Log{"B"});
}

TEST_CASE("a sequential that is called directly runs whatever its level is") {
  const auto make = [](Log& log) { return Sequential({Tracer(log, "A", 0)}, SequentialInfo("all", 4)); };
  CHECK(RunAt(0, make) == Log{"A"});
}

TEST_CASE("a sequential can have its own level for enabling passes") {
  const auto make = [](Log& log) {
    return Sequential({Tracer(log, "A", 3), Tracer(log, "B", 4)}, SequentialInfo("default<O3>"), 3);
  };
  CHECK(RunAt(0, make) == Log{"A"});
  CHECK(RunAt(4, make) == Log{"A"});
}

TEST_CASE("the level of a sequential is that of all groups inside of it") {
  const auto run = [](const std::function<Pass(std::vector<Pass>)>& group) {
    return RunAt(1, [&](Log& log) {
      return Sequential({Sequential({group({Tracer(log, "A", 3), Tracer(log, "B", 4)})}, SequentialInfo("outer"), 3),
                         Tracer(log, "C", 2)});
    });
  };
  CHECK(run([](auto passes) { return Sequential(std::move(passes)); }) == Log{"A"});
  CHECK(run([](auto passes) { return Fixpoint(std::move(passes), 2); }) == Log{"A"});
  CHECK(run([](auto passes) { return Repeat(std::move(passes), 2); }) == Log{"A", "A"});
  CHECK(run([](auto passes) { return Fixpoint({Sequential({Repeat(std::move(passes), 1)})}, 2); }) == Log{"A"});
  // The innermost one decides.
  CHECK(run([](auto passes) { return Sequential(std::move(passes), SequentialInfo("inner"), 4); }) == Log{"A", "B"});
  CHECK(run([](auto passes) { return Sequential(std::move(passes), SequentialInfo("inner"), 2); }).empty());
}

TEST_CASE("the level of a sequential is that of the context after a failure") {
  PassContext context;
  const Pass failing = CreateModulePass({.name = "Failing"}, [](Module, ModulePassContext& run) -> Result<Module> {
    return Error{ErrorCode::PassFailed, std::to_string(run.context.opt_level)};
  });
  const Result<PassResult> result = Sequential({failing}, SequentialInfo(), 3)(Module(), context);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message == "pass 'Failing' failed: 3");
  CHECK(context.opt_level == kDefaultOptLevel);
}

TEST_CASE("required passes run before a pass") {
  Requirements r;
  REQUIRE(r.registry.Add(Row<'A'>()).ok());
  REQUIRE(r.registry.Add(Row<'B'>({"A"})).ok());
  REQUIRE(Sequential({r.Get("B")})(Module(), r.context).ok());
  CHECK(global_log == Log{"A", "B"});
}

TEST_CASE("requirements are followed transitively, each once, in an order that satisfies all") {
  Requirements r;
  REQUIRE(r.registry.Add(Row<'A'>()).ok());
  REQUIRE(r.registry.Add(Row<'B'>({"A"})).ok());
  REQUIRE(r.registry.Add(Row<'C'>({"A"})).ok());
  REQUIRE(r.registry.Add(Row<'D'>({"C", "B"})).ok());
  REQUIRE(Sequential({r.Get("D")})(Module(), r.context).ok());
  CHECK(global_log == Log{"A", "C", "B", "D"});
}

TEST_CASE("requirements of a skipped pass do not run") {
  Requirements r;
  REQUIRE(r.registry.Add(Row<'A'>()).ok());
  REQUIRE(r.registry.Add(Row<'B'>({"A"}, 4)).ok());
  REQUIRE(Sequential({r.Get("B")})(Module(), r.context).ok());
  CHECK(global_log.empty());
}

TEST_CASE("a requirement of an enabled pass runs at any level") {
  Requirements r;
  REQUIRE(r.registry.Add(Row<'A'>({}, 4)).ok());
  REQUIRE(r.registry.Add(Row<'B'>({"A"})).ok());
  REQUIRE(Sequential({r.Get("B")})(Module(), r.context).ok());
  CHECK(global_log == Log{"A", "B"});
}

TEST_CASE("an unregistered requirement is an error") {
  Requirements r;
  REQUIRE(r.registry.Add(Row<'B'>({"Missing"})).ok());
  const Result<PassResult> result = Sequential({r.Get("B")})(Module(), r.context);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message == "pass 'B' requires the unknown pass 'Missing'");
}

TEST_CASE("a fixpoint runs its passes until a round changes nothing") {
  Log log;
  const Result<PassResult> result = Fixpoint({Counting(3), Tracer(log, "round")}, 8)(Module());
  REQUIRE(result.ok());
  CHECK(result->changed);
  CHECK(CountOf(result->module) == 3);
  CHECK(log.size() == 4);
}

TEST_CASE("a fixpoint reports if its rounds were not enough") {
  Reports reports;
  PassContext context;
  context.diagnostics = &reports.engine();
  const Result<PassResult> result = Fixpoint({Counting(100)}, 4)(Module(), context);
  REQUIRE(result.ok());
  CHECK(CountOf(result->module) == 4);
  CHECK(reports.texts() == Log{"no-fixpoint: the fixpoint of Counting was not reached within 4 rounds"});
  CHECK_FALSE(reports.engine().has_errors());
}

TEST_CASE("a fixpoint that has nothing to do has changed nothing") {
  Log log;
  const Result<PassResult> result = Fixpoint({Tracer(log, "A")}, 8)(Module());
  REQUIRE(result.ok());
  CHECK_FALSE(result->changed);
  CHECK(log == Log{"A"});
}

TEST_CASE("a repeat runs its passes the given number of times") {
  Log log;
  const Result<PassResult> result = Repeat({Tracer(log, "A"), Tracer(log, "B")}, 2)(Module());
  REQUIRE(result.ok());
  CHECK(log == Log{"A", "B", "A", "B"});
}

TEST_CASE("fixpoints and repeats skip passes as a sequential does") {
  const auto make = [](Log& log) {
    return Sequential({Repeat({Tracer(log, "A", 0), Tracer(log, "B", 3)}, 1), Fixpoint({Tracer(log, "C", 3)}, 1)});
  };
  CHECK(RunAt(1, make) == Log{"A"});
}

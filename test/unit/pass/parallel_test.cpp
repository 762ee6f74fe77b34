// Function passes on several threads: results and diagnostics are the same as on one.
#include "iropt/support/parallel.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "catch.h"
#include "helpers.h"

using namespace iropt;

namespace {

constexpr int kNumFunctions = 200;

// So big that function passes use threads.
Module BigModule() {
  Module module;
  for (int i = 0; i < kNumFunctions; ++i) {
    AddFunction(module, fmt::format("f{}", i));
    Workspace workspace;
    workspace.arena().Allocate(4096, 8);
    workspace.Adopt(module.functions().back().storage);
    module.SetAt(module.size() - 1, module.functions().back().func, workspace.Finish());
  }
  return module;
}

int NumberOf(const FunctionPassContext& context) { return std::stoi(std::string(context.var()->name.substr(1))); }

// A pass that reports on every function, fails for some, and takes longest for the first.
Pass Talkative(bool fails) {
  return CreateFunctionPass({.name = "Talkative"}, [fails](const Function* f, FunctionPassContext& context) {
    const int number = NumberOf(context);
    for (int spin = 0; spin < (kNumFunctions - number) * 100; ++spin)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    context.diagnostics().Remark({}, "no-fixpoint", fmt::format("remark {}", number));
    if (fails && number % 50 == 49) {
      context.diagnostics().Error({}, "pass-failed", fmt::format("error {}", number));
      return Result<const Function*>(Failure{ErrorCode::PassFailed});
    }
    return Result<const Function*>(WithAttribute(f, "seen", context.workspace()));
  });
}

Log ReportsOf(const Pass& pass, int threads) {
  Reports reports;
  PassContext context;
  context.threads = threads;
  context.diagnostics = &reports.engine();
  static_cast<void>(pass(BigModule(), context).ok());
  return reports.texts();
}

}  // namespace

TEST_CASE("a serial pass rewrites one function after the other, in the thread of the caller") {
  std::set<std::thread::id> threads;
  Log names;
  const Pass pass = CreateFunctionPass({.name = "Serial", .is_serial = true},
                                       [&](const Function* f, FunctionPassContext& context) -> Result<const Function*> {
                                         threads.insert(std::this_thread::get_id());
                                         names.push_back(std::string(context.var()->name));
                                         return f;
                                       });
  PassContext context;
  context.threads = 4;
  REQUIRE(pass(BigModule(), context).ok());
  CHECK(threads == std::set{std::this_thread::get_id()});
  REQUIRE(names.size() == kNumFunctions);
  CHECK(names.front() == "f0");
  CHECK(names.back() == fmt::format("f{}", kNumFunctions - 1));
}

TEST_CASE("diagnostics of a parallel pass come in the order of the functions, whatever the number of threads") {
  for (const bool fails : {false, true}) {
    const Log expected = ReportsOf(Talkative(fails), 1);
    CHECK(expected.size() == kNumFunctions + (fails ? 4U : 0U));
    CHECK(expected[1] == "no-fixpoint: remark 1");
    for (const int threads : {2, 4, 8}) CHECK(ReportsOf(Talkative(fails), threads) == expected);
  }
}

TEST_CASE("functions keep their order in a parallel pass") {
  const Module before = BigModule();
  PassContext context;
  context.threads = 4;
  const Result<PassResult> result = Talkative(false)(before, context);
  REQUIRE(result.ok());
  REQUIRE(result->module.size() == before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    const ModuleEntry& entry = result->module.functions()[i];
    CHECK(entry.var == before.functions()[i].var);
    CHECK(entry.func->attrs->Find("seen") != nullptr);
  }
}

TEST_CASE("of several functions that fail, the first one is the error, whatever the number of threads") {
  const Pass pass = CreateFunctionPass({.name = "Throws"}, [](const Function* f, FunctionPassContext& context) {
    const int number = NumberOf(context);
    if (number >= 20 && number % 7 == 0) throw std::runtime_error(fmt::format("oops {}", number));
    return Result<const Function*>(f);
  });
  for (const int threads : {1, 4}) {
    PassContext context;
    context.threads = threads;
    const Result<PassResult> result = pass(BigModule(), context);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().message == "pass 'Throws' failed: the run on function 'f21' threw an exception: oops 21");
  }
}

TEST_CASE("a function pass may use threads itself, and run other passes") {
  const Pass inner = CreateFunctionPass({.name = "Inner"}, [](const Function* f, FunctionPassContext& context) {
    return Result<const Function*>(WithAttribute(f, "inner", context.workspace()));
  });
  std::atomic<int> items = 0;
  const Module small = MakeModule({"a", "b"});
  const Pass outer = CreateFunctionPass({.name = "Outer"}, [&](const Function* f, FunctionPassContext& context) {
    ParallelFor(8, 4, [&](size_t) { ++items; });
    // Runs under the context of the outer pass, which the thread has inherited.
    const Result<PassResult> nested = inner(NumberOf(context) == 0 ? BigModule() : small);
    if (!nested.ok() || !nested->changed) return Result<const Function*>(Failure{ErrorCode::PassFailed});
    return Result<const Function*>(f);
  });
  PassContext context;
  context.threads = 4;
  const With<PassContext> scope(context);
  REQUIRE(outer(BigModule()).ok());
  CHECK(items == 8 * kNumFunctions);
}

TEST_CASE("passes run in several threads of a program at once, each under a context of its own") {
  std::atomic<int> failures = 0;
  const auto work = [&failures](int level) {
    PassContext context;
    context.opt_level = level;
    context.threads = 2;
    const With<PassContext> scope(context);
    const Pass pass = CreateFunctionPass({.name = "P", .opt_level = 2}, [&](const Function* f, FunctionPassContext& c) {
      if (c.context().opt_level != PassContext::Current().opt_level) ++failures;
      return Result<const Function*>(WithAttribute(f, "seen", c.workspace()));
    });
    const Result<PassResult> result = Sequential({pass})(BigModule());
    if (!result.ok() || result->changed != (level >= 2)) ++failures;
  };
  std::vector<std::thread> threads;
  IRContext& ir = IRContext::Current();
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const IRContext::Scope scope(ir);
      work(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
}

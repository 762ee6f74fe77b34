// The library as a part of another program: several users in one process, and failures that leave the process alone.
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "../catch.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/context.h"
#include "iropt/pass/registry.h"
#include "iropt/support/check_failure.h"
#include "iropt/text/script/printer.h"
#include "iropt/transform/passes.h"

namespace iropt {

namespace {

constexpr const char* kSmallModule = R"(@R.function
def main(x: R.Tensor(("n", 2), "float32")):
    n = T.int64()
    with R.dataflow():
        a = R.add(R.const(1.0), R.const(2.0))
        b = R.add(x, a)
        R.output(b)
    return b
)";

// The text after FoldConstant, by a compiler and an IR context of its own.
std::string Fold() {
  IRContext context;
  const IRContext::Scope scope(context);
  CompilerInstance compiler;
  Result<Module> module = compiler.ParseModule(kSmallModule);
  const Result<Pass> pass = compiler.MakePass("FoldConstant,DeadCodeElimination");
  if (!module.ok() || !pass.ok()) return "";
  PassContext pass_context = compiler.MakeContext(3);
  const Result<PassResult> result = (*pass)(*std::move(module), pass_context);
  return result.ok() ? ModuleToString(result->module) : result.error().message;
}

Result<PassResult> RunThrowing(FunctionRef<void()> f) {
  const Pass pass = CreateModulePass({.name = "Throwing"}, [&](Module module, ModulePassContext&) -> Result<Module> {
    f();
    return module;
  });
  PassContext context;
  return pass(Module(), context);
}

struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace

TEST_CASE("two users in two threads do not see each other") {
  const std::string expected = Fold();
  CHECK(expected.find("R.const(3.0, \"float32\")") != std::string::npos);
  std::string first;
  std::string second;
  std::thread one([&] {
    for (int i = 0; i < 20; ++i) first = Fold();
  });
  std::thread two([&] {
    for (int i = 0; i < 20; ++i) second = Fold();
  });
  one.join();
  two.join();
  CHECK(first == expected);
  CHECK(second == expected);
}

TEST_CASE("a module outlives the IR context that it was made in") {
  std::optional<Module> module;
  {
    IRContext context;
    const IRContext::Scope scope(context);
    CompilerInstance compiler;
    Result<Module> read = compiler.ParseModule(kSmallModule);
    REQUIRE(read.ok());
    module = *std::move(read);
  }
  IRContext context = module->context();
  const IRContext::Scope scope(context);
  CHECK(ModuleToString(*module).find("R.Tensor((\"n\", 2), dtype=\"float32\")") != std::string::npos);
  CHECK(context.num_sym_vars() > 0);
}

TEST_CASE("what a pass throws is kept in the error") {
  const Result<PassResult> result = RunThrowing([] { throw Interrupted("by the user"); });
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::PassFailed);
  CHECK(result.error().message.find("by the user") != std::string::npos);
  CHECK_THROWS_AS(std::rethrow_exception(result.error().exception), Interrupted);
}

TEST_CASE("a bug in a pass is an error of the run, and the process goes on") {
  const Result<PassResult> result = RunThrowing([] { IROPT_CHECK(1 + 1 == 3, "sum {}", 2); });
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::Internal);
  CHECK(result.error().message.find("check failed: 1 + 1 == 3: sum 2") != std::string::npos);
  CHECK_THROWS_AS(std::rethrow_exception(result.error().exception), CheckFailure);
}

TEST_CASE("a pass that refuses the value of an option fails when it is run") {
  const Pass pass = transform::ConvertToDataflow({.min_size = -1});
  CHECK(pass.info().name == "ConvertToDataflow");
  const Result<PassResult> result = pass(Module());
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::Usage);
}

TEST_CASE("a wrong call of the library throws") {
  CHECK_THROWS_AS(PassContext().Config("no.such.key"), CheckFailure);
  CHECK_THROWS_AS(Pass(nullptr), CheckFailure);
}

}  // namespace iropt

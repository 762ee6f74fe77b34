// The start of small programs: reading, making passes, telling of errors.
#include "iropt/driver/workbench.h"

#include "../catch.h"
#include "iropt/pass/registry.h"
#include "iropt/text/printer.h"
#include "iropt/transform/passes.h"

namespace iropt {

namespace {

constexpr const char* kText =
    "@R.function\n"
    "def main(x: R.Tensor((2,), \"float32\")):\n"
    "    with R.dataflow():\n"
    "        a = R.add(R.const(1.0), R.const(2.0))\n"
    "        b = R.add(x, a)\n"
    "        c = R.add(x, a)\n"
    "        d = R.multiply(b, c)\n"
    "        R.output(d)\n"
    "    return d\n";

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a workbench reads modules and runs pipelines") {
  Workbench bench;
  Result<Module> module = bench.ParseModule(kText);
  REQUIRE(module.ok());
  const Result<Pass> pass = bench.MakePass("FoldConstant,EliminateCommonSubexpr");
  REQUIRE(pass.ok());
  PassContext context = bench.MakeContext(3);
  const Result<PassResult> result = (*pass)(*std::move(module), context);
  REQUIRE(result.ok());
  CHECK(result->changed);
  CHECK(Contains(ModuleToString(result->module), "R.multiply(b, b)"));
  CHECK(bench.Finish({}) == 0);
}

TEST_CASE("what a workbench cannot read has the exit code of ir-opt") {
  Workbench bench;
  bench.diagnostics().set_max_errors(0);
  const auto code = [](const auto& result) { return result.ok() ? 0 : ExitCode(result.error().code); };
  CHECK(code(bench.ReadModule("/no/such/file.ir")) == 1);
  CHECK(code(bench.ParseModule("@R.function\ndef main(x:\n")) == 2);
  CHECK(code(bench.ParseModule("@R.function\n"
                               "def main(x: R.Tensor((2,), \"float32\")):\n"
                               "    with R.dataflow():\n"
                               "        a = R.print(x, format=\"\")\n"
                               "        R.output(a)\n"
                               "    return x\n")) == 3);
  CHECK(code(bench.MakePass("FoldConstants")) == 1);
  CHECK(code(bench.MakePass("FoldConstant,")) == 1);
}

TEST_CASE("an error that no diagnostic has told of is told at the end") {
  Workbench bench;
  CHECK(bench.Finish(Error{ErrorCode::PassFailed, "this and that"}) == 4);
  CHECK(bench.diagnostics().error_count() == 1);
  CHECK(bench.Finish(Failure{ErrorCode::Parse}) == 2);
  CHECK(bench.diagnostics().error_count() == 1);
}

TEST_CASE("passes are functions of their names, with options") {
  CHECK(transform::FoldConstant().info().name == "FoldConstant");
  CHECK(transform::EliminateCommonSubexpr({{"call_only", true}}).info().opt_level == 3);
  CHECK(AllPasses().Find("DeadCodeElimination") != nullptr);
  CHECK(&AllPasses() == &PassRegistry::Global());

  Workbench bench;
  Result<Module> module = bench.ParseModule(kText);
  REQUIRE(module.ok());
  PassContext context = bench.MakeContext(3);
  const Pass seq = Sequential({transform::FoldConstant(), transform::EliminateCommonSubexpr()});
  const Result<PassResult> result = seq(*std::move(module), context);
  REQUIRE(result.ok());
  CHECK(Contains(ModuleToString(result->module), "R.multiply(b, b)"));
}

}  // namespace iropt

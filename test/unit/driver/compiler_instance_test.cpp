// The first steps of programs: reading, creating passes, reporting errors.
#include "iropt/driver/compiler_instance.h"

#include "../catch.h"
#include "iropt/driver/catalog.h"
#include "iropt/pass/registry.h"
#include "iropt/text/script/printer.h"
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

TEST_CASE("a compiler instance reads modules and runs pipelines") {
  CompilerInstance compiler;
  Result<Module> module = compiler.ParseModule(kText);
  REQUIRE(module.ok());
  const Result<Pass> pass = compiler.MakePass("FoldConstant,EliminateCommonSubexpr");
  REQUIRE(pass.ok());
  PassContext context = compiler.MakeContext(3);
  const Result<PassResult> result = (*pass)(*std::move(module), context);
  REQUIRE(result.ok());
  CHECK(result->changed);
  CHECK(Contains(ModuleToString(result->module), "R.multiply(b, b)"));
  CHECK(compiler.Finish({}) == 0);
}

TEST_CASE("errors of a compiler instance have the exit codes of ir-opt") {
  CompilerInstance compiler;
  compiler.diagnostics().set_max_errors(0);
  const auto code = [](const auto& result) { return result.ok() ? 0 : ExitCode(result.error().code); };
  CHECK(code(compiler.ReadModule("/no/such/file.ir")) == 1);
  CHECK(code(compiler.ParseModule("@R.function\ndef main(x:\n")) == 2);
  CHECK(code(compiler.ParseModule("@R.function\n"
                                  "def main(x: R.Tensor((2,), \"float32\")):\n"
                                  "    with R.dataflow():\n"
                                  "        a = R.print(x, format=\"\")\n"
                                  "        R.output(a)\n"
                                  "    return x\n")) == 3);
  CHECK(code(compiler.MakePass("FoldConstants")) == 1);
  CHECK(code(compiler.MakePass("FoldConstant,")) == 1);
}

TEST_CASE("an error that no diagnostic has told of is told at the end") {
  CompilerInstance compiler;
  CHECK(compiler.Finish(Error{ErrorCode::PassFailed, "this and that"}) == 4);
  CHECK(compiler.diagnostics().error_count() == 1);
  CHECK(compiler.Finish(Failure{ErrorCode::Parse}) == 2);
  CHECK(compiler.diagnostics().error_count() == 1);
}

TEST_CASE("a compiler instance reports to a consumer that it is given") {
  DiagnosticBuffer reports;
  CompilerInstance compiler({}, reports);
  CHECK_FALSE(compiler.ParseModule("@R.function\ndef main(x:\n").ok());
  CHECK_FALSE(reports.diagnostics().empty());
}

TEST_CASE("a compiler instance checks no more than its options say") {
  const std::string ill_formed =
      "@R.function\n"
      "def main(x: R.Tensor((2,), \"float32\")):\n"
      "    with R.dataflow():\n"
      "        a = R.print(x, format=\"\")\n"
      "        R.output(a)\n"
      "    return x\n";
  DiagnosticBuffer reports;
  CHECK_FALSE(CompilerInstance({}, reports).ParseModule(ill_formed).ok());
  CHECK(CompilerInstance({.no_verify = true}, reports).ParseModule(ill_formed).ok());
}

TEST_CASE("passes that a program adds can be named") {
  CompilerInstance compiler;
  PassEntry entry{.info = {.name = "Mine"}};
  entry.create = [](const PassOptions& options) {
    return CreateModulePass(options.info(), [](Module module, ModulePassContext&) -> Result<Module> { return module; });
  };
  REQUIRE(compiler.registry().Add(entry).ok());
  CHECK(compiler.MakePass("Mine,default<O1>").ok());
}

TEST_CASE("every named pipeline can be built") {
  CompilerInstance compiler;
  CHECK(compiler.registry().FindPipeline(kDefaultPipeline, 0) != nullptr);
  CHECK(compiler.registry().FindPipeline(kDefaultPipeline, kMaxOptLevel) != nullptr);
  for (const std::string& name : PipelineNames(compiler.registry())) CHECK(compiler.MakePass(name).ok());
}

TEST_CASE("passes are functions of their names, with options") {
  CHECK(transform::FoldConstant().info().name == "FoldConstant");
  CHECK(transform::EliminateCommonSubexpr({.call_only = true}).info().opt_level == 3);

  CompilerInstance compiler;
  Result<Module> module = compiler.ParseModule(kText);
  REQUIRE(module.ok());
  PassContext context = compiler.MakeContext(3);
  const Pass seq = Sequential({transform::FoldConstant(), transform::EliminateCommonSubexpr()});
  const Result<PassResult> result = seq(*std::move(module), context);
  REQUIRE(result.ok());
  CHECK(Contains(ModuleToString(result->module), "R.multiply(b, b)"));
}

}  // namespace iropt

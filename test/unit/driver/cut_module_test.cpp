#include "iropt/driver/cut_module.h"

#include <string>
#include <vector>

#include "../catch.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/ir/structural.h"

namespace iropt {

namespace {

constexpr const char* kModel = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), s: R.Shape(["k"]), c: R.Tensor((), "bool")):
        n = T.int64()
        m = T.int64()
        k = T.int64()
        with R.dataflow():
            a0 = R.exp(x)
            a1 = R.reshape(a0, R.shape([n * m]))
            q = T.int64()
            a2 = R.match_cast(R.unique(a1, sorted=True), R.Tensor((q,), "float32"))
            a3 = R.add(a2, a2)
            R.output(a1, a3)
        a4 = R.zeros(R.shape([k, n]), "float32")
        a5 = (a4, a3)
        if c:
            b0 = R.sin(a3)
            b1 = a5[1]
            a6 = R.add(b0, b1)
        else:
            b2 = a5[1]
            a6 = R.negative(b2)
        @R.function
        def a7(y: R.Tensor(ndim=1, dtype="float32")) -> R.Tensor(ndim=1, dtype="float32"):
            d0 = R.cos(y)
            d1 = R.where(c, d0, y)
            return d1
        a8 = a7(a1)
        return (a8, a4)
)";

// Extracts a range, and checks that the result is well-formed and reads back as the same.
void CheckPiece(CompilerInstance& compiler, const Module& module, const std::string& range) {
  INFO(range);
  const Result<Module> piece = CutModule(module, {.extract = {"main:" + range}}, compiler.diagnostics());
  REQUIRE(piece.ok());
  CHECK(compiler.Verify(*piece).ok());
  const std::string text = compiler.PrintToString(*piece);
  INFO(text);
  const Result<Module> again = compiler.ParseModule(text);
  REQUIRE(again.ok());
  CHECK(FirstDifference(*piece, *again) == std::nullopt);
}

}  // namespace

TEST_CASE("cut: each range of bindings of a sequence is a function", "[driver]") {
  CompilerInstance compiler;
  const Result<Module> module = compiler.ParseModule(kModel);
  REQUIRE(module.ok());
  const std::vector<std::string> sequences[] = {
      {"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"}, {"b0", "b1"}, {"b2"}, {"d0", "d1"}};
  for (const std::vector<std::string>& names : sequences) {
    for (size_t i = 0; i < names.size(); ++i) {
      for (size_t j = i; j < names.size(); ++j) {
        CheckPiece(compiler, *module, names[i] + ".." + names[j]);
      }
      CheckPiece(compiler, *module, names[i] + "..");
    }
  }
  CheckPiece(compiler, *module, "..a3");
}

TEST_CASE("cut: the original module is not changed", "[driver]") {
  CompilerInstance compiler;
  const Result<Module> module = compiler.ParseModule(kModel);
  REQUIRE(module.ok());
  const std::string before = compiler.PrintToString(*module);
  CHECK(CutModule(*module, {.extract = {"main:a2..a5", "main"}}, compiler.diagnostics()).ok());
  CHECK(CutModule(*module, {.remove = {"main"}}, compiler.diagnostics())->size() == 0);
  CHECK(compiler.PrintToString(*module) == before);
}

}  // namespace iropt

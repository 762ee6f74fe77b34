// The coefficients of expressions that are linear in some variables.
#include "iropt/arith/linear_equation.h"

#include "catch.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/context.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"

namespace iropt::arith::test {
namespace {

TEST_CASE("linear forms", "[arith]") {
  using Lines = std::vector<std::string>;
  IRContext context;
  const IRContext::Scope scope(context);
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer);
  Workspace workspace;
  const PrimBuilder make = PrimBuilder(workspace).Exact();
  std::vector<const tir::Var*> known;
  const auto parse = [&](const std::string& text) {
    const PrimExpr* e = ParseScalar(text, 0, known, workspace, engine);
    REQUIRE(e);
    return e;
  };
  Analyzer analyzer(make, Analyzer::SymVars::kAny);
  const auto detect = [&](const std::string& text, const std::vector<std::string>& names) {
    std::vector<const tir::Var*> vars;
    for (const std::string& name : names) vars.push_back(To<tir::Var>(parse(name)));
    const auto coefs = DetectLinearEquation(parse(text), vars, analyzer);
    Lines texts;
    for (const PrimExpr* coef : coefs.value_or(std::vector<const PrimExpr*>())) texts.push_back(ScalarToString(coef));
    return texts;
  };
  CHECK(detect("a * 4 + b * 6 + 7", {"a"}) == Lines{"4", "b * 6 + 7"});
  CHECK(detect("a * 4 * (a + 1) + b * 6 + 7", {"a"}).empty());
  CHECK(detect("a * 4 + (a + 1) + b * 6 + 7", {"a"}) == Lines{"5", "b * 6 + 8"});
  CHECK(detect("a * b + 7", {"a"}) == Lines{"b", "7"});
  CHECK(detect("b * 7", {"a"}) == Lines{"0", "b * 7"});
  CHECK(detect("(a + b * 2) * 3 - a", {"a", "b"}) == Lines{"2", "6", "0"});
  CHECK(detect("a // 2", {"a"}).empty());
}

}  // namespace
}  // namespace iropt::arith::test

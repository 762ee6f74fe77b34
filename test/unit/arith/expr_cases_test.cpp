// What the analyzer finds, against what TVM's finds, from the tables in test/unit/arith/cases. The format:
//
//   # A comment.
//   x + 10 - 20 => x - 10
//   T.truncdiv(x * 8 + 1, 8) => x where x >= 0; x: "int64"
//   x // 2 => x // 2 !! TVM cannot do this
//
// After `where` come facts about the variables: `x: "int64"` declares one, `x in [0, inf]` gives bounds, `x in range(0,
// n)` a minimum and an extent, `x := y * 4` a value, `set x = [0, y]` the values of a variable that is relaxed, `iter x
// in 3` an iterator from 0 to 2, `inner x` one of the inner ones, `if` what holds for them; anything else is a
// condition. After `!!` comes the reason why our result is another
// one.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "catch.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/int_set.h"
#include "iropt/arith/iter_map.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/context.h"
#include "iropt/ir/module.h"
#include "iropt/ir/structural.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"

namespace iropt::arith::test {
namespace {

std::string Trim(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// Cuts the text at the separator; the second part is empty if it is not there.
std::pair<std::string, std::string> Cut(const std::string& text, const std::string& separator) {
  const size_t at = text.find(separator);
  if (at == std::string::npos) return {Trim(text), ""};
  return {Trim(text.substr(0, at)), Trim(text.substr(at + separator.size()))};
}

// The two ends of "[a, b]".
std::pair<std::string, std::string> EndsOf(const std::string& interval) {
  int depth = 0;
  for (size_t i = 1; i < interval.size(); ++i) {
    depth += (interval[i] == '(') - (interval[i] == ')');
    if (depth == 0 && interval[i] == ',')
      return {Trim(interval.substr(1, i - 1)), Trim(interval.substr(i + 1, interval.size() - i - 2))};
  }
  return {};
}

std::vector<std::string> Split(std::string text, const std::string& separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    auto [part, rest] = Cut(text, separator);
    parts.push_back(std::move(part));
    text = std::move(rest);
  }
  return parts;
}

struct ExprCase {
  std::string place;  // for messages
  std::string expr;
  std::string expected;
  std::vector<std::string> facts;
  std::string difference;
};

std::vector<ExprCase> ReadCases(const std::string& name) {
  const char* folder = std::getenv("IROPT_EXPR_CASES");
  std::ifstream in(std::filesystem::path(folder ? folder : IROPT_EXPR_CASES) / name);
  REQUIRE(in);
  std::vector<ExprCase> cases;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    const auto [statement, difference] = Cut(line, "!!");
    const auto [rule, facts] = Cut(statement, " where ");
    const auto [expr, expected] = Cut(rule, "=>");
    cases.push_back({name + ":" + std::to_string(number), expr, expected, Split(facts, ";"), difference});
  }
  return cases;
}

// The variables of a case and the facts about them.
class CaseScope {
 public:
  CaseScope() = default;
  CaseScope(const CaseScope&) = delete;
  CaseScope& operator=(const CaseScope&) = delete;
  ~CaseScope() {
    while (!constraints_.empty()) constraints_.pop_back();
  }

  Analyzer& analyzer() { return analyzer_; }
  const VarDomains& domains() const { return domains_; }
  const IterRanges& iters() const { return iters_; }

  const PrimExpr* Parse(const std::string& text) {
    const PrimExpr* expr = ParseScalar(text, 0, variables_, workspace_, engine_);
    if (!expr) FAIL("cannot read '" << text << "': " << buffer_.diagnostics().at(0).message);
    return expr;
  }

  // Declarations before the others, which use them.
  void Tell(const std::vector<std::string>& facts) {
    std::vector<std::string> others;
    for (const std::string& fact : facts) {
      const auto declared = ParseDeclaration(fact, 0, workspace_, engine_);
      if (declared && *declared) variables_.push_back(*declared);
      if (!declared || fact.find(":=") != std::string::npos) others.push_back(fact);
    }
    for (const std::string& fact : others) TellOne(fact);
  }

 private:
  const tir::Var* Variable(const std::string& name) { return To<tir::Var>(Parse(name)); }

  static int64_t End(const std::string& text) {
    if (text == "inf") return IntBound::kPosInf;
    return text == "-inf" ? IntBound::kNegInf : std::stoll(text);
  }

  void TellOne(const std::string& fact) {
    if (fact.starts_with("set ")) {
      const auto [var, interval] = Cut(fact.substr(4), " = ");
      const auto [min, max] = EndsOf(interval);
      domains_.insert_or_assign(Variable(var), IntervalSet::Interval(Parse(min), Parse(max)));
      return;
    }
    if (fact.starts_with("iter ")) {
      const auto [var, extent] = Cut(fact.substr(5), " in ");
      const tir::Var* iter = Variable(var);
      iters_.insert_or_assign(iter, tir::Range(PrimBuilder().Const(0, iter->dtype), Parse(extent)));
      return;
    }
    if (const auto [var, range] = Cut(fact, " in range("); !range.empty()) {
      const auto [min, extent] = Cut(range.substr(0, range.size() - 1), ",");
      return analyzer_.Bind(Variable(var), Parse(min), Parse(extent));
    }
    if (const auto [var, interval] = Cut(fact, " in ["); !interval.empty()) {
      const auto [min, max] = Cut(interval.substr(0, interval.size() - 1), ",");
      return analyzer_.bounds().SetBound(Variable(var), {End(min), End(max)});
    }
    if (const auto [var, value] = Cut(fact, ":="); !value.empty()) return analyzer_.Bind(Variable(var), Parse(value));
    constraints_.push_back(std::make_unique<Analyzer::Constraint>(analyzer_, Parse(fact)));
  }

  IRContext context_;
  IRContext::Scope scope_{context_};
  DiagnosticBuffer buffer_;
  DiagnosticEngine engine_{&buffer_};
  Workspace workspace_;
  std::vector<const tir::Var*> variables_;
  Analyzer analyzer_{PrimBuilder(workspace_), Analyzer::SymVars::kAny};
  std::vector<std::unique_ptr<Analyzer::Constraint>> constraints_;
  VarDomains domains_;
  IterRanges iters_;
};

// Calls find(expr, scope) for each case, which returns its result and whether it is the expected one.
template <class F>
void CheckCases(const std::string& file, F&& find) {
  for (const ExprCase& one : ReadCases(file)) {
    CaseScope scope;
    scope.Tell(one.facts);
    INFO(one.place << ": " << one.expr);
    const auto [found, same] = find(one, scope);
    if (one.difference.empty()) {
      if (!same) FAIL_CHECK("expected " << one.expected << "\n   found " << found);
    } else if (same) {
      FAIL_CHECK("the result is TVM's after all");
    }
  }
}

template <class F>
void CheckSimplified(const std::string& file, F&& simplify) {
  CheckCases(file, [&](const ExprCase& one, CaseScope& scope) {
    const PrimExpr* simple = simplify(scope.analyzer(), scope.Parse(one.expr));
    const PrimExpr* expected = scope.Parse(one.expected);
    return std::pair{ScalarToString(simple), DeepEqual(simple, expected)};
  });
}

TEST_CASE("simplification by rules finds TVM's results", "[arith]") {
  CheckSimplified("rewrite.txt", [](Analyzer& analyzer, const PrimExpr* e) { return analyzer.RewriteSimplify(e); });
}

TEST_CASE("the canonical form is TVM's", "[arith]") {
  CheckSimplified("canonical.txt", [](Analyzer& analyzer, const PrimExpr* e) { return analyzer.CanonicalSimplify(e); });
}

TEST_CASE("bounds are those that TVM finds", "[arith]") {
  const auto end = [](int64_t value) {
    return value == IntBound::kPosInf ? "inf" : value == IntBound::kNegInf ? "-inf" : std::to_string(value);
  };
  CheckCases("bounds.txt", [&](const ExprCase& one, CaseScope& scope) {
    const IntBound bound = scope.analyzer().Bound(scope.Parse(one.expr));
    // A star stands for any end.
    const auto [min, max] = EndsOf(one.expected);
    const bool same = (min == "*" || min == end(bound.min)) && (max == "*" || max == end(bound.max));
    return std::pair{"[" + end(bound.min) + ", " + end(bound.max) + "]", same};
  });
}

TEST_CASE("sets of values are those that TVM finds", "[arith]") {
  CheckCases("sets.txt", [](const ExprCase& one, CaseScope& scope) {
    const IntervalSet set = EvalSet(scope.Parse(one.expr), scope.domains(), scope.analyzer());
    const auto [min, max] = EndsOf(one.expected);
    const auto show = [](const PrimExpr* end) { return end ? ScalarToString(end) : "*"; };
    // A star stands for an end that is not known.
    const auto is = [&](const PrimExpr* end, const std::string& text) {
      return end && text != "*" ? scope.analyzer().CanProveEqual(end, scope.Parse(text)) : !end && text == "*";
    };
    return std::pair{"[" + show(set.min()) + ", " + show(set.max()) + "]", is(set.min(), min) && is(set.max(), max)};
  });
}

TEST_CASE("residue classes are those that TVM finds", "[arith]") {
  CheckCases("residues.txt", [&](const ExprCase& one, CaseScope& scope) {
    ModularSet set = scope.analyzer().bounds().Modular(scope.Parse(one.expr));
    if (set.coeff != 0) set.base = FloorModInt(set.base, set.coeff);
    const std::string found = std::to_string(set.coeff) + " * k + " + std::to_string(set.base);
    return std::pair{found, found == one.expected};
  });
}

// Takes the facts that begin with the word out of the case, and returns what comes after it.
std::vector<std::string> TakeFacts(ExprCase& one, const std::string& word) {
  std::vector<std::string> taken;
  std::erase_if(one.facts, [&](const std::string& fact) {
    if (!fact.starts_with(word)) return false;
    taken.push_back(Trim(fact.substr(word.size())));
    return true;
  });
  return taken;
}

// As it is written in the table.
std::string ShowMap(const std::optional<IterMapResult>& map) {
  if (!map) return "none";
  std::string text;
  for (const IterMapIndex& index : map->indices) {
    text += (text.empty() ? "(" : "; (") + ScalarToString(index.extent) + ", " + ScalarToString(index.base) + ", " +
            ScalarToString(index.scale) + ")";
  }
  return text + (map->is_exact ? "" : " inexact");
}

bool IsExpected(const IterMapIndex& index, const std::string& expected, CaseScope& scope) {
  const auto [extent, rest] = EndsOf(expected);
  const auto [base, scale] = EndsOf("[" + rest + "]");
  const auto same = [&](const PrimExpr* e, const std::string& text) {
    return scope.analyzer().CanProveEqual(e, scope.Parse(text));
  };
  return same(index.extent, extent) && same(index.base, base.empty() ? rest : base) &&
         same(index.scale, scale.empty() ? "1" : scale);
}

bool IsExpected(const std::optional<IterMapResult>& found, const std::string& text, CaseScope& scope) {
  const std::string expected = Cut(text, " inexact").first;
  if (!found || expected == "none") return !found && expected == "none";
  const std::vector<std::string> parts = Split(expected, ";");
  if (parts.size() != found->indices.size() || found->is_exact == (expected != text)) return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!IsExpected(found->indices[i], parts[i], scope)) return false;
  }
  return true;
}

TEST_CASE("iterator maps are those that TVM finds", "[arith]") {
  for (ExprCase one : ReadCases("iter_maps.txt")) {
    IterMapOptions options;
    for (const std::string& level : TakeFacts(one, "level ")) {
      REQUIRE(level == "bijective");
      options.level = IterMapLevel::kBijective;
    }
    if (!TakeFacts(one, "trivial iterators stay").empty()) options.simplify_trivial_iterators = false;
    const std::vector<std::string> conditions = TakeFacts(one, "if ");
    CaseScope scope;
    scope.Tell(one.facts);
    const PrimExpr* condition = conditions.empty() ? nullptr : scope.Parse(conditions[0]);
    std::vector<const PrimExpr*> indices;
    for (const std::string& index : Split(one.expr, ";")) indices.push_back(scope.Parse(index));
    const auto found = DetectIterMap(indices, scope.iters(), condition, options, scope.analyzer());
    INFO(one.place << ": " << one.expr);
    if (!IsExpected(found, one.expected, scope))
      FAIL_CHECK("expected " << one.expected << "\n   found " << ShowMap(found));
  }
}

// Calls find(indices, condition, inner iterators, scope) for each case about several indices; it returns the result as
// it is written in the table.
template <class F>
void CheckIndexCases(const std::string& file, F&& find) {
  for (ExprCase one : ReadCases(file)) {
    const std::vector<std::string> conditions = TakeFacts(one, "if ");
    const std::vector<std::string> inner = TakeFacts(one, "inner ");
    CaseScope scope;
    scope.Tell(one.facts);
    std::vector<const PrimExpr*> indices;
    for (const std::string& index : Split(one.expr, ";")) indices.push_back(scope.Parse(index));
    std::vector<const tir::Var*> inner_iters;
    for (const std::string& name : inner) inner_iters.push_back(To<tir::Var>(scope.Parse(name)));
    const PrimExpr* condition = conditions.empty() ? nullptr : scope.Parse(conditions[0]);
    INFO(one.place << ": " << one.expr);
    const std::string found = find(indices, condition, inner_iters, scope);
    if (found != one.expected) FAIL_CHECK("expected " << one.expected << "\n   found " << found);
  }
}

using Indices = std::vector<const PrimExpr*>;
using InnerIters = std::vector<const tir::Var*>;

TEST_CASE("subspaces are divided as TVM divides them", "[arith]") {
  CheckIndexCases(
      "subspaces.txt",
      [](const Indices& indices, const PrimExpr* condition, const InnerIters& inner, CaseScope& scope) -> std::string {
        const auto found = DivideSubspace(indices, scope.iters(), inner, condition, false, scope.analyzer());
        if (!found) return "none";
        std::string text;
        for (const SubspaceDivision::Index& index : found->indices) {
          text += (text.empty() ? "" : "; ") + ScalarToString(index.outer.expr) + " in " +
                  ScalarToString(index.outer.extent) + ", " + ScalarToString(index.inner.expr) + " in " +
                  ScalarToString(index.inner.extent);
        }
        if (found->outer_condition) text += "; outer if " + ScalarToString(found->outer_condition);
        if (found->inner_condition) text += "; inner if " + ScalarToString(found->inner_condition);
        return text;
      });
}

TEST_CASE("indices that are maps together are simplified", "[arith]") {
  CheckIndexCases("simplified_maps.txt", [](const Indices& indices, const PrimExpr* condition, const InnerIters&,
                                            CaseScope& scope) {
    std::string text;
    for (const PrimExpr* e : SimplifyIterMaps(indices, scope.iters(), condition, true, scope.analyzer())) {
      text += (text.empty() ? "" : "; ") + ScalarToString(e);
    }
    return text;
  });
}

TEST_CASE("maps of different digits are independent", "[arith]") {
  CheckIndexCases(
      "independent_maps.txt",
      [](const Indices& indices, const PrimExpr* condition, const InnerIters&, CaseScope& scope) -> std::string {
        return AreIndependentIterMaps(indices, scope.iters(), condition, scope.analyzer()) ? "yes" : "no";
      });
}

TEST_CASE("an index is a sum of digits", "[arith]") {
  CheckIndexCases("digits.txt", [](const Indices& indices, const PrimExpr*, const InnerIters&, CaseScope& scope) {
    const IndexDigits digits = NormalizeIndex(indices[0], scope.iters(), scope.analyzer());
    std::string text;
    for (const IndexDigits::Digit& digit : digits.digits) {
      text += std::string(digit.var ? digit.var->name : "sum") + " // " + ScalarToString(digit.lower_factor) + " % " +
              ScalarToString(digit.extent) + " * (" + ScalarToString(digit.scale) + ") + ";
    }
    return text + ScalarToString(digits.base);
  });
}

}  // namespace
}  // namespace iropt::arith::test

// What an analyzer knows of variables: bounds, values, orders and remainders, and how it forgets them.
#include "iropt/arith/analyzer.h"

#include <fmt/format.h>

#include <array>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "catch.h"
#include "expr_eval.h"
#include "iropt/ir/context.h"

namespace iropt::arith::test {
namespace {

class AnalyzerFixture {
 protected:
  AnalyzerFixture()
      : scope_(context_), i(context_.NewSymVar("i")), j(context_.NewSymVar("j")), n(context_.NewSymVar("n")) {}

  const PrimExpr* Int(int64_t value) { return make.Int(value); }
  const PrimExpr* Compare(NodeKind kind, const PrimExpr* a, const PrimExpr* b) { return make.Binary(kind, a, b); }
  bool Proves(NodeKind kind, const PrimExpr* a, const PrimExpr* b) { return analyzer.CanProve(Compare(kind, a, b)); }
  std::string Simple(const PrimExpr* e) { return Show(analyzer.Simplify(e)); }

  IRContext context_;
  IRContext::Scope scope_;
  PrimBuilder make;
  const tir::Var* i;
  const tir::Var* j;
  const tir::Var* n;
  // Variables may be negative.
  Analyzer analyzer{PrimBuilder(), Analyzer::SymVars::kAny};
};

TEST_CASE_METHOD(AnalyzerFixture, "bounds of a loop variable", "[arith]") {
  analyzer.Bind(i, Int(2), Int(6));  // 2 to 7
  CHECK(analyzer.Bound(i).min == 2);
  CHECK(analyzer.Bound(i).max == 7);
  CHECK(Proves(NodeKind::kGE, i, Int(2)));
  CHECK_FALSE(Proves(NodeKind::kGE, i, Int(3)));
  CHECK(Proves(NodeKind::kLT, i, Int(8)));
  CHECK_FALSE(Proves(NodeKind::kLT, i, Int(7)));
  CHECK(Simple(make.FloorDiv(i, Int(8))) == "0");
  analyzer.Unbind(i);
  CHECK_FALSE(Proves(NodeKind::kGE, i, Int(0)));
  CHECK(Simple(make.FloorDiv(i, Int(8))) == "i // 8");
}

TEST_CASE_METHOD(AnalyzerFixture, "one iteration is a value", "[arith]") {
  analyzer.Bind(i, make.Add(n, Int(1)), Int(1));
  REQUIRE(analyzer.ValueOf(i) != nullptr);
  CHECK(Simple(i) == "n + 1");
  CHECK(Simple(make.Sub(i, n)) == "1");
  analyzer.Unbind(i);
  CHECK(analyzer.ValueOf(i) == nullptr);
  CHECK(Simple(make.Sub(i, n)) == "i - n");
}

TEST_CASE_METHOD(AnalyzerFixture, "ends of a loop that are expressions", "[arith]") {
  const PrimExpr* end = make.Add(j, n);
  analyzer.Bind(i, j, n);
  CHECK(Proves(NodeKind::kGE, i, j));
  CHECK(Proves(NodeKind::kLT, i, end));
  CHECK_FALSE(Proves(NodeKind::kGT, i, j));
  CHECK_FALSE(Proves(NodeKind::kLT, i, make.Sub(end, Int(1))));
  analyzer.Unbind(i);
  CHECK_FALSE(Proves(NodeKind::kGE, i, j));
  CHECK_FALSE(Proves(NodeKind::kLT, i, end));
}

TEST_CASE_METHOD(AnalyzerFixture, "orders of a variable are forgotten in any order", "[arith]") {
  const tir::Var* k = context_.NewSymVar("k");
  analyzer.Bind(i, Int(0), n);
  analyzer.Bind(k, Int(0), j);
  analyzer.Unbind(i);
  CHECK_FALSE(Proves(NodeKind::kLT, i, n));
  CHECK(Proves(NodeKind::kLT, k, j));
  analyzer.Bind(i, Int(0), n);
  analyzer.Unbind(k);
  CHECK(Proves(NodeKind::kLT, i, n));
  CHECK_FALSE(Proves(NodeKind::kLT, k, j));
  // A second range replaces the first one.
  analyzer.Bind(i, Int(0), j);
  CHECK(Proves(NodeKind::kLT, i, j));
  CHECK_FALSE(Proves(NodeKind::kLT, i, n));
}

TEST_CASE_METHOD(AnalyzerFixture, "a loop whose end overflows has no bounds", "[arith]") {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  analyzer.Bind(i, Int(kMax - 1), Int(4));
  CHECK_FALSE(Proves(NodeKind::kLE, i, Int(kMax - 1)));
}

TEST_CASE_METHOD(AnalyzerFixture, "sizes are not negative", "[arith]") {
  analyzer.MarkNonNegative(n);
  CHECK(analyzer.Bound(n).min == 0);
  analyzer.MarkNonNegative(make.Add(i, Int(3)));
  CHECK(analyzer.Bound(i).min == -3);
  analyzer.MarkNonNegative(make.Sub(j, Int(3)));
  CHECK(analyzer.Bound(j).min == 3);
  // 4 * k - 6 >= 0 for integers means k >= 2.
  const tir::Var* k = context_.NewSymVar("k");
  analyzer.MarkNonNegative(make.Sub(make.Mul(k, Int(4)), Int(6)));
  CHECK(analyzer.Bound(k).min == 2);
  // As in TVM, the factor does not count where the offset is positive.
  const tir::Var* m = context_.NewSymVar("m");
  analyzer.MarkNonNegative(make.Add(make.Mul(m, Int(4)), Int(6)));
  CHECK(analyzer.Bound(m).min == -6);
  // Of other forms only they themselves are known.
  const tir::Var* p = context_.NewSymVar("p");
  const tir::Var* q = context_.NewSymVar("q");
  analyzer.MarkNonNegative(make.Mul(p, Int(-2)));
  analyzer.MarkNonNegative(make.Sub(p, q));
  CHECK(analyzer.Bound(p).min < -1000);
  CHECK(analyzer.CanProveGreaterEqual(make.Sub(p, q), 0));
  CHECK_FALSE(analyzer.CanProveGreaterEqual(make.Sub(q, p), 0));
  CHECK(analyzer.Bound(q).min < -1000);
}

TEST_CASE_METHOD(AnalyzerFixture, "conditions hold in their scope", "[arith]") {
  const PrimExpr* sum = make.Add(i, j);
  {
    const Analyzer::Constraint positive(analyzer, Compare(NodeKind::kGT, i, Int(4)));
    CHECK(Proves(NodeKind::kGE, i, Int(5)));
    CHECK_FALSE(Proves(NodeKind::kGE, i, Int(6)));
    CHECK(Simple(Compare(NodeKind::kLE, i, Int(4))) == "False");
    const Analyzer::Constraint order(analyzer, Compare(NodeKind::kLE, sum, n));
    CHECK(Proves(NodeKind::kLE, sum, n));
    CHECK(Proves(NodeKind::kLT, sum, make.Add(n, Int(1))));
    CHECK_FALSE(Proves(NodeKind::kLT, sum, n));
  }
  CHECK_FALSE(Proves(NodeKind::kGE, i, Int(5)));
  CHECK_FALSE(Proves(NodeKind::kLE, sum, n));
  for (const auto& [kind, least, greatest] : {std::tuple{NodeKind::kEQ, 7, 7},
                                              {NodeKind::kGE, 7, 100},
                                              {NodeKind::kGT, 8, 100},
                                              {NodeKind::kLE, -100, 7},
                                              {NodeKind::kLT, -100, 6}}) {
    const Analyzer::Constraint bound(analyzer, Compare(kind, i, Int(7)));
    CHECK(Proves(NodeKind::kGE, i, Int(least)) == (least > -100));
    CHECK_FALSE(Proves(NodeKind::kGE, i, Int(least + 1)));
    CHECK(Proves(NodeKind::kLE, i, Int(greatest)) == (greatest < 100));
    CHECK_FALSE(Proves(NodeKind::kLE, i, Int(greatest - 1)));
  }
}

// Facts are looked up where there are many of them, and compared one after the other where there are few: what many
// conditions say about one pair of variables is what those about this pair say alone.
TEST_CASE_METHOD(AnalyzerFixture, "many conditions", "[arith]") {
  constexpr std::array kKinds = {NodeKind::kLE, NodeKind::kGE, NodeKind::kNE,
                                 NodeKind::kLT, NodeKind::kEQ, NodeKind::kGT};
  constexpr size_t kPairs = 7;
  constexpr size_t kRounds = 4;
  std::vector<const tir::Var*> vars;
  for (size_t k = 0; k <= kPairs; ++k) vars.push_back(context_.NewSymVar(fmt::format("v{}", k)));
  // About v[k] and v[k + 1], or about v[k] and a number. Each round says something else, and turns the sides.
  const auto condition = [&](size_t pair, size_t round) {
    const NodeKind kind = kKinds[(pair + round * (pair % 2 + 1)) % kKinds.size()];
    const PrimExpr* right = pair % 3 == 2 ? Int(static_cast<int64_t>(3 - round))
                                          : make.Add(vars[pair + 1], Int(static_cast<int64_t>(round * pair % 4)));
    return round % 2 == 0 ? Compare(kind, vars[pair], right) : Compare(kind, right, vars[pair]);
  };
  const auto answers = [&](Analyzer& from, size_t pair) {
    std::string text;
    for (const NodeKind kind : kKinds) {
      for (int64_t offset = -6; offset <= 6; ++offset) {
        const PrimExpr* right = pair % 3 == 2 ? Int(offset) : make.Add(vars[pair + 1], Int(offset));
        text += Show(from.Simplify(Compare(kind, vars[pair], right))) + "\n";
      }
    }
    return text;
  };
  std::deque<Analyzer::Constraint> all;
  const auto check_all = [&](size_t rounds) {
    for (size_t pair = 0; pair < kPairs; ++pair) {
      Analyzer few{PrimBuilder(), Analyzer::SymVars::kAny};
      std::deque<Analyzer::Constraint> about_pair;
      for (size_t round = 0; round < rounds; ++round) about_pair.emplace_back(few, condition(pair, round));
      CHECK(answers(analyzer, pair) == answers(few, pair));
      while (!about_pair.empty()) about_pair.pop_back();
    }
  };
  for (size_t round = 0; round < kRounds; ++round) {
    for (size_t pair = 0; pair < kPairs; ++pair) all.emplace_back(analyzer, condition(pair, round));
    check_all(round + 1);
  }
  for (size_t round = kRounds; round-- > 0;) {
    for (size_t pair = 0; pair < kPairs; ++pair) all.pop_back();
    check_all(round);
  }
}

TEST_CASE_METHOD(AnalyzerFixture, "remainders in a condition", "[arith]") {
  for (const NodeKind mod : {NodeKind::kFloorMod, NodeKind::kMod}) {
    const PrimExpr* even = Compare(NodeKind::kEQ, make.Node(mod, i, Int(8)), Int(4));
    {
      const Analyzer::Constraint remainder(analyzer, even);
      CHECK(Simple(make.FloorMod(i, Int(4))) == "0");
      CHECK(Simple(make.FloorMod(i, Int(8))) == "4");
    }
    CHECK(Simple(make.FloorMod(i, Int(4))) == "i % 4");
  }
}

TEST_CASE_METHOD(AnalyzerFixture, "comparisons with numbers", "[arith]") {
  CHECK(analyzer.CanProveGreaterEqual(Int(3), 3));
  CHECK_FALSE(analyzer.CanProveGreaterEqual(Int(3), 4));
  CHECK(analyzer.CanProveLess(Int(3), 4));
  CHECK_FALSE(analyzer.CanProveLess(Int(3), 3));
  analyzer.Bind(i, Int(0), Int(4));
  CHECK(analyzer.CanProveGreaterEqual(i, 0));
  CHECK_FALSE(analyzer.CanProveGreaterEqual(i, 1));
  CHECK(analyzer.CanProveLess(i, 4));
  CHECK_FALSE(analyzer.CanProveLess(i, 3));
  // Only once it is simplified.
  const PrimExpr* zero = make.Node(NodeKind::kSub, make.Node(NodeKind::kAdd, i, j), j);
  CHECK(analyzer.CanProveGreaterEqual(zero, 0));
  CHECK(analyzer.CanProveLess(zero, 4));
  CHECK_FALSE(analyzer.CanProveLess(zero, 3));
}

TEST_CASE_METHOD(AnalyzerFixture, "equality of floats and of vectors", "[arith]") {
  const tir::Var* x = context_.NewSymVar("x", DataType::Float(32));
  CHECK(analyzer.CanProveEqual(x, x));
  CHECK_FALSE(analyzer.CanProveEqual(x, make.Node(NodeKind::kAdd, x, make.Float(0, DataType::Float(32)))));
  CHECK_FALSE(analyzer.CanProveNotEqual(x, x));
  CHECK(analyzer.CanProveEqual(Int(3), Int(3)));
  CHECK_FALSE(analyzer.CanProveEqual(Int(3), Int(4)));
  CHECK(analyzer.CanProveNotEqual(make.Add(i, Int(1)), i));
  CHECK_FALSE(analyzer.CanProveNotEqual(i, j));
  const PrimExpr* lanes = make.Keep(tir::Broadcast(DataType::Int(64).with_lanes(4), i, Int(4)));
  CHECK_FALSE(analyzer.CanProveEqual(lanes, i));
  CHECK_FALSE(analyzer.CanProveNotEqual(lanes, i));
}

TEST_CASE_METHOD(AnalyzerFixture, "a product of too many terms to expand is not compared", "[arith]") {
  const PrimExpr* product = Int(1);
  for (int64_t factor = 1; factor <= 20; ++factor) {
    product = make.Mul(product, make.Add(make.Add(i, j), make.Add(n, Int(factor))));
  }
  CHECK_FALSE(Proves(NodeKind::kLE, product, i));
  CHECK_FALSE(Proves(NodeKind::kEQ, product, i));
}

TEST_CASE_METHOD(AnalyzerFixture, "numbers of different kinds are not equal", "[arith]") {
  const PrimExpr* real = make.Float(1.0, DataType::Float(32));
  CHECK_FALSE(analyzer.CanProveEqual(real, Int(1)));
  CHECK_FALSE(analyzer.CanProveEqual(i, real));
  CHECK(analyzer.CanProveEqual(real, make.Float(1.0, DataType::Float(32))));
  CHECK_FALSE(analyzer.CanProveEqual(real, make.Float(2.0, DataType::Float(32))));
}

TEST_CASE_METHOD(AnalyzerFixture, "operands of minima may be exchanged within products", "[arith]") {
  const auto least = [&](const PrimExpr* a, const PrimExpr* b) { return make.Node(NodeKind::kMin, a, b); };
  const auto most = [&](const PrimExpr* a, const PrimExpr* b) { return make.Node(NodeKind::kMax, a, b); };
  CHECK(analyzer.CanProveEqual(make.Mul(least(i, j), n), make.Mul(n, least(j, i))));
  CHECK(analyzer.CanProveEqual(make.Mul(most(i, j), n), make.Mul(n, most(j, i))));
  CHECK_FALSE(analyzer.CanProveEqual(make.Mul(most(i, j), n), make.Mul(n, least(j, i))));
}

TEST_CASE_METHOD(AnalyzerFixture, "orders of products", "[arith]") {
  // The rules do not order factors: the expanded difference does.
  const PrimExpr* product = make.Mul(make.Add(i, Int(1)), j);
  const PrimExpr* expanded = make.Add(make.Mul(j, i), j);
  CHECK(Proves(NodeKind::kLE, product, expanded));
  CHECK(Proves(NodeKind::kGE, product, expanded));
  CHECK_FALSE(Proves(NodeKind::kLT, product, expanded));
  CHECK_FALSE(Proves(NodeKind::kGT, product, expanded));
  CHECK(Proves(NodeKind::kGT, make.Add(product, Int(1)), expanded));
  CHECK(Proves(NodeKind::kNE, make.Add(product, Int(1)), expanded));
  CHECK(Proves(NodeKind::kEQ, product, expanded));
  CHECK_FALSE(Proves(NodeKind::kEQ, make.Add(product, Int(1)), expanded));
  CHECK_FALSE(Proves(NodeKind::kNE, product, expanded));
}

}  // namespace
}  // namespace iropt::arith::test

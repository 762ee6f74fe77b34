#include <random>

#include "catch.h"
#include "expr_eval.h"
#include "iropt/arith/analyzer.h"
#include "iropt/ir/context.h"

namespace iropt::arith::test {
namespace {

// Random expressions over a few variables; half the constants are related by division, as tile sizes are.
class ExprGenerator {
 public:
  ExprGenerator(unsigned seed, std::vector<const tir::Var*> vars) : random_(seed), vars_(std::move(vars)) {}

  const PrimExpr* Int(int depth) {
    static constexpr NodeKind kKinds[] = {NodeKind::kAdd,      NodeKind::kAdd,      NodeKind::kSub, NodeKind::kMul,
                                          NodeKind::kFloorDiv, NodeKind::kFloorMod, NodeKind::kMin, NodeKind::kMax,
                                          NodeKind::kDiv,      NodeKind::kMod};
    if (depth == 0 || Pick(6) == 0) return Pick(3) ? vars_[Pick(vars_.size())] : Constant();
    const NodeKind kind = kKinds[Pick(std::size(kKinds))];
    const PrimExpr* a = Int(depth - 1);
    const bool divides =
        kind == NodeKind::kFloorDiv || kind == NodeKind::kFloorMod || kind == NodeKind::kDiv || kind == NodeKind::kMod;
    const PrimExpr* b =
        divides || (kind == NodeKind::kMul && Pick(3)) ? (Pick(4) ? Constant() : Int(depth - 1)) : Int(depth - 1);
    return make_.Node(kind, a, b);
  }
  const PrimExpr* Condition(int depth) {
    if (depth > 0 && Pick(3) == 0) {
      if (Pick(4) == 0) return make_.Keep(tir::Not(Condition(depth - 1)));
      const PrimExpr* a = Condition(depth - 1);
      return make_.Node(Pick(2) ? NodeKind::kAnd : NodeKind::kOr, a, Condition(depth - 1));
    }
    const PrimExpr* a = Int(2);
    return make_.Node(kOrders[Pick(6)], a, Int(2));
  }
  int64_t Value() { return static_cast<int64_t>(Pick(40)); }
  size_t Pick(size_t n) { return random_() % n; }

 private:
  const PrimExpr* Constant() {
    static constexpr int64_t kRelated[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, -1, -2, -4};
    return make_.Int(Pick(2) ? kRelated[Pick(std::size(kRelated))] : static_cast<int64_t>(Pick(21)) - 10);
  }
  std::mt19937 random_;
  std::vector<const tir::Var*> vars_;
  PrimBuilder make_;
};

class SimplifyFixture {
 protected:
  SimplifyFixture()
      : scope_(context_), n(context_.NewSymVar("n")), m(context_.NewSymVar("m")), k(context_.NewSymVar("k")) {}

  std::string Simple(const PrimExpr* e) {
    Analyzer analyzer;
    return Show(analyzer.Simplify(e));
  }
  const PrimExpr* Int(int64_t v) { return make.Int(v); }

  void CheckEqualUnder(const PrimExpr* before, const PrimExpr* after, const Env& env) {
    const auto expected = Eval(before, env);
    if (!expected) return;
    const auto found = Eval(after, env);
    if (found && *found == *expected) return;
    FAIL_CHECK(Show(before) << "\n  became " << Show(after) << "\n  with n=" << env.at(n) << " m=" << env.at(m)
                            << " k=" << env.at(k) << ": " << *expected << " became "
                            << (found ? std::to_string(*found) : "undefined"));
  }

  IRContext context_;
  IRContext::Scope scope_;
  PrimBuilder make;
  const tir::Var* n;
  const tir::Var* m;
  const tir::Var* k;
};

TEST_CASE_METHOD(SimplifyFixture, "simplification keeps the value of random expressions", "[arith]") {
  ExprGenerator generator(7, {n, m, k});
  for (int i = 0; i < 30000; ++i) {
    const PrimExpr* e = i % 3 ? generator.Int(static_cast<int>(1 + i % 4)) : generator.Condition(2);
    Analyzer analyzer;
    const PrimExpr* simple = analyzer.Simplify(e);
    const IntBound bound = analyzer.Bound(e);
    for (int j = 0; j < 8; ++j) {
      const Env env{{n, generator.Value()}, {m, generator.Value()}, {k, generator.Value()}};
      CheckEqualUnder(e, simple, env);
      const auto value = Eval(e, env);
      if (!value) continue;
      if (*value < bound.min || *value > bound.max)
        FAIL_CHECK(Show(e) << " = " << *value << " is outside of its bounds");
    }
  }
}

TEST_CASE_METHOD(SimplifyFixture, "variables that may be negative", "[arith]") {
  ExprGenerator generator(8, {n, m, k});
  for (int i = 0; i < 20000; ++i) {
    const PrimExpr* e = i % 3 ? generator.Int(static_cast<int>(1 + i % 4)) : generator.Condition(2);
    Analyzer analyzer({}, Analyzer::SymVars::kAny);
    const PrimExpr* simple = analyzer.Simplify(e);
    const ModularSet modular = e->dtype.is_bool() ? ModularSet{} : analyzer.bounds().Modular(e);
    for (int j = 0; j < 8; ++j) {
      const Env env{{n, generator.Value() - 20}, {m, generator.Value() - 20}, {k, generator.Value() - 20}};
      CheckEqualUnder(e, simple, env);
      const auto value = Eval(e, env);
      if (!value) continue;
      const bool member = modular.coeff == 0 ? *value == modular.base : (*value - modular.base) % modular.coeff == 0;
      if (!member) FAIL_CHECK(Show(e) << " = " << *value << " is not " << modular.base << " modulo " << modular.coeff);
    }
  }
}

TEST_CASE_METHOD(SimplifyFixture, "under constraints only values that satisfy them count", "[arith]") {
  ExprGenerator generator(9, {n, m, k});
  for (int i = 0; i < 5000; ++i) {
    const PrimExpr* condition = generator.Condition(1);
    const PrimExpr* e = i % 2 ? generator.Int(2) : generator.Condition(1);
    Analyzer analyzer;
    const PrimExpr* simple;
    {
      const Analyzer::Constraint scope(analyzer, condition);
      simple = analyzer.Simplify(e);
    }
    for (int j = 0; j < 8; ++j) {
      const Env env{{n, generator.Value()}, {m, generator.Value()}, {k, generator.Value()}};
      const auto holds = Eval(condition, env);
      if (holds && *holds) CheckEqualUnder(e, simple, env);
    }
  }
}

// Sums in normal form are recognized before any rewriter; with a term that cancels they are not.
TEST_CASE_METHOD(SimplifyFixture, "a sum is simplified as the same sum with a term that cancels", "[arith]") {
  std::mt19937 random(10);
  const auto pick = [&](std::initializer_list<int64_t> values) { return values.begin()[random() % values.size()]; };
  const tir::Var* vars[] = {n, m};
  for (int i = 0; i < 3000; ++i) {
    const PrimExpr* sum = nullptr;
    for (size_t terms = 1 + random() % 3; terms > 0; --terms) {
      const int64_t scale = pick({1, 1, 2, 3, 9});
      const PrimExpr* var = vars[random() % 2];
      const PrimExpr* term = scale == 1 ? var : make.Node(NodeKind::kMul, var, Int(scale));
      sum = sum ? make.Node(NodeKind::kAdd, sum, term) : term;
    }
    const int64_t constant = pick({0, 1, 3, 9, -3});
    if (constant != 0) sum = make.Node(random() % 4 ? NodeKind::kAdd : NodeKind::kSub, sum, Int(constant));
    const PrimExpr* longer = make.Node(NodeKind::kSub, make.Node(NodeKind::kAdd, sum, k), k);
    for (const auto sym_vars : {Analyzer::SymVars::kAny, Analyzer::SymVars::kNonNegative}) {
      Analyzer analyzer({}, sym_vars);
      analyzer.Bind(m, Int(0), Int(1 + static_cast<int64_t>(random() % 3)));
      CHECK(Show(analyzer.Simplify(sum)) == Show(analyzer.Simplify(longer)));
    }
  }
}

TEST_CASE_METHOD(SimplifyFixture, "rules apply to sums in canonical form", "[arith]") {
  const auto rewritten = [&](const PrimExpr* e) {
    Analyzer analyzer;
    return Show(analyzer.RewriteSimplify(e));
  };
  const auto times = [&](const PrimExpr* e, int64_t factor) { return make.Mul(e, Int(factor)); };
  CHECK(rewritten(make.Add(times(n, 9), times(m, 9))) == "(n + m) * 9");
  CHECK(rewritten(make.Add(times(n, 9), Int(9))) == "(n * 9) + 9");
  CHECK(rewritten(make.Sub(make.Add(n, m), Int(9))) == "(n + m) + -9");
  CHECK(rewritten(make.Add(n, n)) == "n * 2");
  CHECK(rewritten(make.Add(times(n, 9), m)) == "(n * 9) + m");
}

TEST_CASE_METHOD(SimplifyFixture, "canonical forms", "[arith]") {
  CHECK(Simple(make.Sub(make.Add(n, m), n)) == "m");
  CHECK(Simple(make.FloorDiv(make.Mul(n, Int(4)), Int(4))) == "n");
  CHECK(Simple(make.FloorMod(make.Mul(n, Int(4)), Int(2))) == "0");
  // Remainders of one divisor are what they are remainders of, up to its multiples: (k + (m * n - k) % n) % n.
  const auto by_n = [&](const PrimExpr* e) { return make.FloorMod(e, n); };
  CHECK(Simple(by_n(make.Add(k, by_n(make.Sub(make.Mul(m, n), k))))) == "0");
  CHECK(Simple(by_n(make.Add(make.Add(by_n(make.Sub(m, k)), k), by_n(make.Sub(Int(0), m))))) == "0");
  CHECK(Simple(by_n(make.Add(k, by_n(make.Sub(Int(1), k))))) != "0");
  CHECK(Simple(make.Mul(make.Add(n, m), Int(3))) == "(n * 3) + (m * 3)");
  CHECK(Simple(make.Add(make.Add(n, Int(1)), n)) == "(n * 2) + 1");
  CHECK(Simple(make.FloorDiv(make.Add(make.Mul(n, Int(8)), Int(3)), Int(4))) == "n * 2");
  CHECK(Simple(make.FloorDiv(make.Mul(n, m), n)) == "m");
  CHECK(Simple(make.Mul(make.Mul(n, Int(2)), m)) == "(n * m) * 2");
  CHECK(Simple(make.FloorDiv(make.Sub(n, Int(1)), Int(2))) == "(n - 1) // 2");
  CHECK(Simple(make.Add(make.Mul(make.FloorDiv(n, Int(6)), Int(6)), make.FloorMod(n, Int(6)))) == "n");
  CHECK(Simple(make.Min(n, make.Add(n, Int(1)))) == "n");
  CHECK(Simple(make.Max(n, Int(0))) == "n");
  CHECK(Simple(make.Binary(NodeKind::kLT, make.Add(n, Int(1)), make.Add(n, Int(2)))) == "True");
}

TEST_CASE_METHOD(SimplifyFixture, "proofs", "[arith]") {
  CHECK(ProveEqual(make.Mul(make.Add(n, m), k), make.Add(make.Mul(n, k), make.Mul(m, k))));
  CHECK(ProveEqual(make.Sub(make.Add(n, m), n), m));
  CHECK(ProveEqual(make.CeilDiv(make.Mul(n, Int(4)), Int(4)), n));
  CHECK_FALSE(ProveEqual(n, m));
  CHECK_FALSE(ProveEqual(make.Add(n, Int(1)), n));
  CHECK(ProveNotEqual(make.Add(n, Int(1)), n));
  CHECK(ProveNotEqual(Int(3), Int(4)));
  CHECK_FALSE(ProveNotEqual(n, m));
  CHECK(ProveNotEqual(make.Mul(n, Int(2)), Int(3)));
  CHECK(ProveNotEqual(n, Int(-1)));
}

TEST_CASE_METHOD(SimplifyFixture, "overflow is never folded", "[arith]") {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const PrimExpr* big = make.Add(Int(kMax), Int(1));
  CHECK(big->kind == NodeKind::kAdd);
  CHECK(Show(make.Mul(Int(kMax), Int(2))) == "9223372036854775807 * 2");
  CHECK(make.FloorDiv(Int(1), Int(0))->kind == NodeKind::kFloorDiv);
  CHECK(make.Add(make.Int(127, DataType::Int(8)), make.Int(1, DataType::Int(8)))->kind == NodeKind::kAdd);
  const PrimExpr* e = make.Mul(make.Mul(n, Int(kMax)), Int(kMax));
  Analyzer analyzer;
  CHECK(analyzer.CanProveEqual(analyzer.Simplify(e), e));
}

TEST_CASE_METHOD(SimplifyFixture, "operands of different dtypes meet in the wider one", "[arith]") {
  const PrimExpr* sum = make.Add(make.Int(2, DataType::Int(32)), n);
  CHECK(sum->dtype == DataType::Int(64));
  CHECK(sum == make.Add(Int(2), n));
}

TEST_CASE_METHOD(SimplifyFixture, "deep expressions", "[arith]") {
  const PrimExpr* e = n;
  for (int i = 0; i < 20000; ++i) e = make.Node(NodeKind::kAdd, e, i % 2 ? Int(i) : static_cast<const PrimExpr*>(m));
  Analyzer analyzer;
  CHECK(Show(analyzer.Simplify(e)) == "((m * 10000) + n) + 100000000");
}

}  // namespace
}  // namespace iropt::arith::test

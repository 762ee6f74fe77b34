// Results of the analyzer for random expressions, against all values of their variables in small ranges.
#include <ctime>
#include <random>

#include "catch.h"
#include "expr_eval.h"
#include "iropt/arith/analyzer.h"
#include "iropt/ir/context.h"

namespace iropt::arith::test {
namespace {

// Expressions of every kind that the analyzer knows: floor and truncated division, minimum and maximum, selections,
// comparisons, casts between the dtypes of indices.
class Generator {
 public:
  Generator(unsigned seed, std::vector<const tir::Var*> vars) : random_(seed), vars_(std::move(vars)) {}

  const PrimExpr* Int(int depth) {
    if (depth == 0 || Pick(7) == 0) return Pick(3) ? vars_[Pick(vars_.size())] : Constant();
    switch (Pick(14)) {
      case 0:
      case 1: return make_.Node(NodeKind::kAdd, Int(depth - 1), Int(depth - 1));
      case 2: return make_.Node(NodeKind::kSub, Int(depth - 1), Int(depth - 1));
      case 3: return make_.Node(NodeKind::kMul, Int(depth - 1), Constant());
      case 4: return make_.Node(NodeKind::kMul, Int(depth - 1), Int(depth - 1));
      case 5: return make_.Node(NodeKind::kFloorDiv, Int(depth - 1), Divisor(depth));
      case 6: return make_.Node(NodeKind::kFloorMod, Int(depth - 1), Divisor(depth));
      case 7: return make_.Node(NodeKind::kDiv, Int(depth - 1), Divisor(depth));
      case 8: return make_.Node(NodeKind::kMod, Int(depth - 1), Divisor(depth));
      case 9: return make_.Node(NodeKind::kMin, Int(depth - 1), Int(depth - 1));
      case 10: return make_.Node(NodeKind::kMax, Int(depth - 1), Int(depth - 1));
      case 11: return make_.Keep(tir::Select(Condition(depth - 1), Int(depth - 1), Int(depth - 1)));
      case 12:
        return make_.Keep(tir::Cast(DataType::Int(64), make_.Keep(tir::Cast(DataType::Int(32), Int(depth - 1)))));
      default: return make_.Node(Pick(2) ? NodeKind::kFloorDiv : NodeKind::kFloorMod, Scaled(depth), Divisor(0));
    }
  }
  const PrimExpr* Condition(int depth) {
    if (depth > 0 && Pick(3) == 0) {
      if (Pick(4) == 0) return make_.Keep(tir::Not(Condition(depth - 1)));
      return make_.Node(Pick(2) ? NodeKind::kAnd : NodeKind::kOr, Condition(depth - 1), Condition(depth - 1));
    }
    const int below = std::max(depth - 1, 0);
    return make_.Node(kOrders[Pick(6)], Int(below), Int(below));
  }
  size_t Pick(size_t n) { return random_() % n; }

 private:
  const PrimExpr* Constant() {
    static constexpr int64_t kRelated[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, -1, -2, -3, -4};
    return make_.Int(kRelated[Pick(std::size(kRelated))]);
  }
  const PrimExpr* Divisor(int depth) { return depth > 0 && Pick(4) == 0 ? Int(depth - 1) : Constant(); }
  // A flattened index: x * c + y.
  const PrimExpr* Scaled(int depth) {
    return make_.Node(NodeKind::kAdd, make_.Node(NodeKind::kMul, Int(depth - 1), Constant()), Int(depth - 1));
  }

  std::mt19937 random_;
  std::vector<const tir::Var*> vars_;
  PrimBuilder make_;
};

struct Range {
  int64_t min;
  int64_t extent;
};

// Three variables with small ranges, which the analyzer knows.
class Cube {
 public:
  Cube(const std::vector<const tir::Var*>& vars, const std::vector<Range>& ranges) : vars_(vars), ranges_(ranges) {}

  void Tell(Analyzer& analyzer) const {
    const PrimBuilder& make = analyzer.make();
    for (size_t i = 0; i < vars_.size(); ++i)
      analyzer.Bind(vars_[i], make.Int(ranges_[i].min), make.Int(ranges_[i].extent));
  }
  // Calls f(env) for every point; stops if it returns false.
  template <class F>
  void ForEach(F&& f) const {
    Env env;
    for (const tir::Var* var : vars_) env[var] = 0;
    for (int64_t i = 0; i < ranges_[0].extent; ++i)
      for (int64_t j = 0; j < ranges_[1].extent; ++j)
        for (int64_t k = 0; k < ranges_[2].extent; ++k) {
          env[vars_[0]] = ranges_[0].min + i;
          env[vars_[1]] = ranges_[1].min + j;
          env[vars_[2]] = ranges_[2].min + k;
          if (!f(env)) return;
        }
  }

 private:
  const std::vector<const tir::Var*>& vars_;
  const std::vector<Range>& ranges_;
};

class Properties {
 protected:
  Properties() : scope_(context_) {
    for (const char* name : {"n", "m", "k"}) vars_.push_back(context_.NewSymVar(name));
  }

  static bool IsMember(int64_t value, ModularSet set) {
    return set.coeff == 0 ? value == set.base : (value - set.base) % set.coeff == 0;
  }

  std::string At(const Env& env) const {
    std::string text = "\n  with";
    for (const tir::Var* var : vars_) text += " " + std::string(var->name) + "=" + std::to_string(env.at(var));
    return text;
  }

  // Returns whether the known facts about `e` hold at every point. Points where `e` is undefined do not count.
  void CheckInt(const PrimExpr* e, const Cube& cube) {
    Analyzer analyzer;
    cube.Tell(analyzer);
    const PrimExpr* simple = analyzer.Simplify(e);
    const IntBound bound = analyzer.Bound(e);
    const ModularSet set = analyzer.bounds().Modular(e);
    const bool at_least = analyzer.CanProveGreaterEqual(e, 1);
    const bool below = analyzer.CanProveLess(e, 5);
    cube.ForEach([&](const Env& env) {
      const auto value = Eval(e, env);
      if (!value) return true;
      const auto found = Eval(simple, env);
      const bool ok = found == value && *value >= bound.min && *value <= bound.max && IsMember(*value, set) &&
                      (!at_least || *value >= 1) && (!below || *value < 5);
      if (!ok) {
        FAIL_CHECK(Show(e) << At(env) << " is " << *value << "; it became " << Show(simple) << " = "
                           << (found ? std::to_string(*found) : "undefined") << ", within [" << bound.min << ", "
                           << bound.max << "], " << set.base << " modulo " << set.coeff << ", >= 1: " << at_least
                           << ", < 5: " << below);
      }
      return ok;
    });
    ++checked_;
  }

  void CheckCondition(const PrimExpr* condition, const Cube& cube) {
    Analyzer analyzer;
    cube.Tell(analyzer);
    const PrimExpr* simple = analyzer.Simplify(condition);
    const bool proven = analyzer.CanProve(condition);
    const bool refuted = analyzer.CanProve(analyzer.make().Not(condition));
    proofs_ += proven || refuted;
    cube.ForEach([&](const Env& env) {
      const auto value = Eval(condition, env);
      if (!value) return true;
      const auto found = Eval(simple, env);
      const bool ok = found && (*found != 0) == (*value != 0) && !(proven && !*value) && !(refuted && *value);
      if (!ok) FAIL_CHECK(Show(condition) << At(env) << " is " << *value << "; it became " << Show(simple));
      return ok;
    });
    ++checked_;
  }

  // Where the constraints hold, a simplified condition has the same value.
  void CheckConstrained(const PrimExpr* first, const PrimExpr* second, const PrimExpr* condition, const Cube& cube,
                        const Analyzer::Extensions& extensions) {
    Analyzer analyzer({}, Analyzer::SymVars::kAny);
    cube.Tell(analyzer);
    analyzer.set_extensions(extensions);
    const Analyzer::Constraint outer(analyzer, first);
    const Analyzer::Constraint inner(analyzer, second);
    const PrimExpr* simple = analyzer.Simplify(condition);
    proofs_ += AsInt(simple) != nullptr;
    cube.ForEach([&](const Env& env) {
      if (Eval(first, env).value_or(0) == 0 || Eval(second, env).value_or(0) == 0) return true;
      const auto value = Eval(condition, env);
      if (!value) return true;
      const auto found = Eval(simple, env);
      const bool ok = found && (*found != 0) == (*value != 0);
      if (!ok)
        FAIL_CHECK(Show(condition) << At(env) << " is " << *value << "; where " << Show(first) << " and "
                                   << Show(second) << " it became " << Show(simple));
      return ok;
    });
    ++checked_;
  }

  void CheckPair(const PrimExpr* a, const PrimExpr* b, const Cube& cube) {
    Analyzer analyzer;
    cube.Tell(analyzer);
    const bool equal = analyzer.CanProveEqual(a, b);
    const bool different = analyzer.CanProveNotEqual(a, b);
    proofs_ += equal || different;
    if (!equal && !different) return;
    cube.ForEach([&](const Env& env) {
      const auto x = Eval(a, env);
      const auto y = Eval(b, env);
      if (!x || !y) return true;
      const bool ok = equal ? *x == *y : *x != *y;
      if (!ok) FAIL_CHECK(Show(a) << (equal ? " == " : " != ") << Show(b) << " is proven, but not true" << At(env));
      return ok;
    });
  }

  IRContext context_;
  IRContext::Scope scope_;
  PrimBuilder make;
  std::vector<const tir::Var*> vars_;
  int checked_ = 0;
  int proofs_ = 0;
};

TEST_CASE_METHOD(Properties, "100,000 random expressions: values, bounds, residues and proofs are right", "[arith]") {
  Generator generator(11, vars_);
  const std::vector<std::vector<Range>> cubes = {
      {{0, 5}, {0, 4}, {0, 3}}, {{-3, 5}, {-2, 4}, {1, 3}}, {{7, 2}, {-9, 4}, {0, 6}}};
  for (int i = 0; i < 100000; ++i) {
    const Cube cube(vars_, cubes[static_cast<size_t>(i) % cubes.size()]);
    const int depth = 1 + i % 3;
    if (i % 3 == 0) {
      CheckCondition(generator.Condition(depth), cube);
    } else {
      CheckInt(generator.Int(depth), cube);
    }
    if (i % 5 == 0) CheckPair(generator.Int(depth), generator.Int(depth), cube);
  }
  CHECK(checked_ == 100000);
  CHECK(proofs_ > 10000);
}

TEST_CASE_METHOD(Properties, "random conditions under constraints, with every extension", "[arith]") {
  Generator generator(13, vars_);
  const std::vector<Range> ranges = {{-3, 7}, {-3, 7}, {-3, 7}};
  const Cube cube(vars_, ranges);
  for (int i = 0; i < 20000; ++i) {
    const Analyzer::Extensions extensions{
        .prove_transitively = i % 2 == 0, .and_of_ors = i % 4 < 2, .constrain_branches = i % 8 < 4};
    const int depth = i % 3;
    CheckConstrained(generator.Condition(depth), generator.Condition(1), generator.Condition(depth + 1), cube,
                     extensions);
  }
  CHECK(checked_ == 20000);
  CHECK(proofs_ > 2000);
}

TEST_CASE_METHOD(Properties, "chains of comparisons", "[arith]") {
  const auto [n, m, k] = std::tuple{vars_[0], vars_[1], vars_[2]};
  Analyzer analyzer({}, Analyzer::SymVars::kAny);
  const Analyzer::Constraint first(analyzer, make.Binary(NodeKind::kLE, n, make.Add(m, make.Int(5))));
  const Analyzer::Constraint second(analyzer, make.Binary(NodeKind::kLT, m, k));
  const PrimExpr* follows = make.Binary(NodeKind::kLT, n, make.Add(k, make.Int(5)));
  CHECK_FALSE(analyzer.CanProve(follows));
  analyzer.set_extensions({.prove_transitively = true});
  CHECK(analyzer.CanProve(follows));
  CHECK_FALSE(analyzer.CanProve(make.Binary(NodeKind::kLT, n, make.Add(k, make.Int(4)))));
  {
    const Analyzer::Constraint third(analyzer, make.Binary(NodeKind::kEQ, k, n));
    CHECK(analyzer.CanProve(make.Binary(NodeKind::kLT, m, n)));
  }
  CHECK_FALSE(analyzer.CanProve(make.Binary(NodeKind::kLT, m, n)));
}

TEST_CASE_METHOD(Properties, "sums and products are equal in any order", "[arith]") {
  std::mt19937 random(12);
  std::vector<const PrimExpr*> atoms(vars_.begin(), vars_.end());
  for (const char* name : {"a", "b", "c"}) atoms.push_back(context_.NewSymVar(name));
  atoms.push_back(make.FloorDiv(make.Mul(vars_[0], vars_[1]), make.Int(4)));
  const auto build = [&](std::vector<std::vector<const PrimExpr*>> terms) {
    const PrimExpr* sum = nullptr;
    std::shuffle(terms.begin(), terms.end(), random);
    for (std::vector<const PrimExpr*>& factors : terms) {
      std::shuffle(factors.begin(), factors.end(), random);
      const PrimExpr* product = factors[0];
      for (size_t i = 1; i < factors.size(); ++i) {
        product = random() % 2 ? make.Node(NodeKind::kMul, product, factors[i])
                               : make.Node(NodeKind::kMul, factors[i], product);
      }
      sum = sum ? make.Node(NodeKind::kAdd, sum, product) : product;
    }
    return sum;
  };
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::vector<const PrimExpr*>> terms(1 + random() % 4);
    for (auto& factors : terms) {
      factors.resize(1 + random() % 7);
      for (const PrimExpr*& factor : factors) factor = atoms[random() % atoms.size()];
    }
    const PrimExpr* a = build(terms);
    const PrimExpr* b = build(terms);
    INFO(Show(a) << " and " << Show(b));
    CHECK(ProveEqual(a, b));
    CHECK(ProveNotEqual(a, make.Node(NodeKind::kAdd, b, make.Int(1))));
    Analyzer analyzer;
    CHECK(analyzer.CanProve(make.Node(NodeKind::kLT, a, make.Node(NodeKind::kAdd, b, make.Int(1)))));
    CHECK(analyzer.CanProve(make.Node(NodeKind::kGE, a, b)));
    terms.push_back({atoms[0]});
    CHECK_FALSE(ProveEqual(a, build(terms)));
  }
  const auto [n, m, k] = std::tuple{vars_[0], vars_[1], vars_[2]};
  CHECK(ProveEqual(make.Mul(make.Add(n, m), make.Add(m, n)),
                   make.Add(make.Add(make.Mul(n, n), make.Mul(m, m)), make.Mul(make.Mul(n, make.Int(2)), m))));
  CHECK(ProveEqual(make.FloorDiv(make.Mul(n, m), k), make.FloorDiv(make.Mul(m, n), k)));
  CHECK(ProveEqual(make.Min(make.Mul(n, m), k), make.Min(k, make.Mul(m, n))));
  CHECK_FALSE(ProveEqual(make.FloorDiv(n, m), make.FloorDiv(m, n)));
}

// Shapes of big expressions, with about so many nodes.
struct Big {
  const char* name;
  const PrimExpr* (*build)(const PrimBuilder& make, IRContext& context, int nodes);
};

const PrimExpr* SumOfDistinct(const PrimBuilder& make, IRContext& context, int nodes) {
  const PrimExpr* e = make.Int(0);
  for (int i = 0; i < nodes / 4; ++i)
    e = make.Node(NodeKind::kAdd, e, make.Node(NodeKind::kMul, context.NewSymVar("v"), make.Int(i + 2)));
  return e;
}
template <NodeKind kKind>
const PrimExpr* Chain(const PrimBuilder& make, IRContext& context, int nodes) {
  const tir::Var* vars[] = {context.NewSymVar("n"), context.NewSymVar("m"), context.NewSymVar("k")};
  const PrimExpr* e = vars[0];
  for (int i = 0; i < nodes / 4; ++i) e = make.Node(kKind, e, make.Node(NodeKind::kAdd, vars[i % 3], make.Int(i % 7)));
  return e;
}
const PrimExpr* Divisions(const PrimBuilder& make, IRContext& context, int nodes) {
  const PrimExpr* e = context.NewSymVar("n");
  const tir::Var* m = context.NewSymVar("m");
  for (int i = 0; i < nodes / 5; ++i)
    e = make.Node(i % 2 ? NodeKind::kFloorDiv : NodeKind::kFloorMod, make.Node(NodeKind::kAdd, e, m),
                  make.Int(3 + i % 5));
  return e;
}
const PrimExpr* Choices(const PrimBuilder& make, IRContext& context, int nodes) {
  const tir::Var* n = context.NewSymVar("n");
  const PrimExpr* e = n;
  for (int i = 0; i < nodes / 5; ++i)
    e = make.Keep(tir::Select(make.Node(NodeKind::kLT, n, make.Int(i)), make.Int(i), e));
  return e;
}
const PrimExpr* Conjunction(const PrimBuilder& make, IRContext& context, int nodes) {
  const tir::Var* n = context.NewSymVar("n");
  const tir::Var* m = context.NewSymVar("m");
  const PrimExpr* e = make.Bool(true);
  for (int i = 0; i < nodes / 6; ++i)
    e = make.Node(NodeKind::kAnd, e, make.Node(NodeKind::kLT, make.Node(NodeKind::kAdd, n, make.Int(i)), m));
  return e;
}
// A balanced tree of all operations.
const PrimExpr* Tree(const PrimBuilder& make, IRContext& context, int nodes) {
  const NodeKind kinds[] = {NodeKind::kAdd, NodeKind::kMin, NodeKind::kSub, NodeKind::kMax, NodeKind::kMul};
  const tir::Var* vars[] = {context.NewSymVar("n"), context.NewSymVar("m"), context.NewSymVar("k")};
  int leaves = 0;
  const auto grow = [&](auto& self, int count) -> const PrimExpr* {
    if (count < 4) return vars[++leaves % 3];
    const NodeKind kind = kinds[count % 5];
    if (kind == NodeKind::kMul) return make.Node(NodeKind::kFloorDiv, self(self, count - 2), make.Int(2 + count % 3));
    return make.Node(kind, self(self, count / 2), self(self, count - count / 2 - 1));
  };
  return grow(grow, nodes);
}

// Each takes a few seconds at most. The bound leaves room for a slow and busy machine; a quadratic step takes minutes.
TEST_CASE("big expressions are simplified without a quadratic step", "[arith]") {
  constexpr int kNodes = 500'000;
  constexpr double kLimit = 60;  // seconds of processor time
  const Big shapes[] = {{"a sum of distinct variables", SumOfDistinct},
                        {"a chain of minima", Chain<NodeKind::kMin>},
                        {"a chain of sums", Chain<NodeKind::kAdd>},
                        {"a chain of maxima", Chain<NodeKind::kMax>},
                        {"a chain of divisions", Divisions},
                        {"a chain of selections", Choices},
                        {"a conjunction", Conjunction},
                        {"a balanced tree", Tree}};
  for (const Big& shape : shapes) {
    IRContext context;
    const IRContext::Scope scope(context);
    const PrimExpr* e = shape.build(PrimBuilder(), context, kNodes);
    const std::clock_t start = std::clock();
    CHECK(Analyzer().Simplify(e) != nullptr);
    INFO(shape.name);
    CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < kLimit);
  }
}

}  // namespace
}  // namespace iropt::arith::test

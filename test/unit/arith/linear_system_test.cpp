// Systems of linear equations and inequalities: examples, and random systems against all values of their variables.
#include "iropt/arith/linear_system.h"

#include <fmt/format.h>

#include <random>

#include "catch.h"
#include "expr_eval.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/context.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"

namespace iropt::arith::test {
namespace {

class LinearSystems {
 protected:
  const PrimExpr* Parse(const std::string& text) {
    const PrimExpr* e = ParseScalar(text, 0, variables_, workspace_, engine_);
    REQUIRE(e);
    return e;
  }
  const tir::Var* Var(const std::string& name) { return To<tir::Var>(Parse(name)); }

  IntConstraints System(const std::vector<std::string>& relations, const std::vector<std::string>& variables) {
    IntConstraints system;
    for (const std::string& name : variables) system.variables.push_back(Var(name));
    for (const std::string& relation : relations) system.relations.push_back(Parse(relation));
    return system;
  }
  void AddRange(IntConstraints& system, const std::string& name, int64_t min, int64_t extent) {
    const DataType dtype = Var(name)->dtype;
    system.ranges.emplace_back(Var(name), tir::Range(make_.Int(min, dtype), make_.Int(extent, dtype)));
  }

  static std::string Text(const PrimExpr* e) { return ScalarToString(e); }
  static std::vector<std::string> Texts(const std::vector<const PrimExpr*>& exprs) {
    std::vector<std::string> texts;
    for (const PrimExpr* e : exprs) texts.push_back(Text(e));
    return texts;
  }
  // "x in [0, 6)"
  static std::vector<std::string> Texts(const VarRanges& ranges) {
    std::vector<std::string> texts;
    for (const auto& [var, range] : ranges)
      texts.push_back(fmt::format("{}: {} + {}", var->name, Text(range.min), Text(range.extent)));
    return texts;
  }
  using Lines = std::vector<std::string>;

  IRContext context_;
  IRContext::Scope scope_{context_};
  DiagnosticBuffer buffer_;
  DiagnosticEngine engine_{&buffer_};
  Workspace workspace_;
  PrimBuilder make_{PrimBuilder(workspace_).Exact()};
  std::vector<const tir::Var*> variables_;
};

TEST_CASE_METHOD(LinearSystems, "linear forms", "[arith]") {
  Analyzer analyzer(make_, Analyzer::SymVars::kAny);
  const auto detect = [&](const std::string& text, const std::vector<std::string>& names) {
    std::vector<const tir::Var*> vars;
    for (const std::string& name : names) vars.push_back(Var(name));
    const auto coefs = DetectLinearEquation(Parse(text), vars, analyzer);
    return coefs ? Texts(*coefs) : Lines{};
  };
  CHECK(detect("a * 4 + b * 6 + 7", {"a"}) == Lines{"4", "b * 6 + 7"});
  CHECK(detect("a * 4 * (a + 1) + b * 6 + 7", {"a"}).empty());
  CHECK(detect("a * 4 + (a + 1) + b * 6 + 7", {"a"}) == Lines{"5", "b * 6 + 8"});
  CHECK(detect("a * b + 7", {"a"}) == Lines{"b", "7"});
  CHECK(detect("b * 7", {"a"}) == Lines{"0", "b * 7"});
  CHECK(detect("(a + b * 2) * 3 - a", {"a", "b"}) == Lines{"2", "6", "0"});
  CHECK(detect("a // 2", {"a"}).empty());
}

TEST_CASE_METHOD(LinearSystems, "equations", "[arith]") {
  const auto solve = [&](const IntConstraints& system) { return SolveLinearEquations(system, workspace_); };
  SECTION("one solution") {
    const auto solved = solve(System({"x + y == 20", "x - y == 10"}, {"x", "y"}));
    CHECK(solved.dst.variables.empty());
    CHECK(Text(solved.src_to_dst.at(Var("x"))) == "15");
    CHECK(Text(solved.src_to_dst.at(Var("y"))) == "5");
  }
  SECTION("a free variable") {
    const auto solved = solve(System({"x + y + z == 15", "x + y == 10"}, {"x", "y", "z"}));
    REQUIRE(solved.dst.variables.size() == 1);
    const std::string name(solved.dst.variables[0]->name);
    CHECK(Text(solved.src_to_dst.at(Var("x"))) == name + " + 10");
    CHECK(Text(solved.src_to_dst.at(Var("y"))) == name + " * -1");
    CHECK(Text(solved.src_to_dst.at(Var("z"))) == "5");
  }
  SECTION("ranges of the new variables") {
    IntConstraints system = System({"x + y == 0"}, {"x", "y"});
    AddRange(system, "x", -5, 10);
    AddRange(system, "y", 0, 10);
    const auto solved = solve(system);
    REQUIRE(solved.dst.variables.size() == 1);
    const std::string name(solved.dst.variables[0]->name);
    CHECK(Texts(solved.dst.ranges) == Lines{name + ": -9 + 10"});
    CHECK(Texts(solved.dst.relations) == Lines{"-5 <= " + name});
  }
  SECTION("no solution") {
    const auto solved = solve(System({"x + y == 0", "x - y == 0", "x == 5"}, {"x", "y"}));
    CHECK(solved.dst.variables.empty());
    CHECK(Texts(solved.dst.relations) == Lines{"T.bool(False)"});
    CHECK(solved.src_to_dst.empty());
  }
  SECTION("other variables are numbers, and other relations remain") {
    const auto solved = solve(System({"2 * x == n", "x < 3", "x * x == 4"}, {"x"}));
    CHECK(Texts(solved.dst.relations) == Lines{"n % 2 == 0", "n // 2 < 3", "n // 2 * (n // 2) == 4"});
  }
}

TEST_CASE_METHOD(LinearSystems, "inequalities", "[arith]") {
  SECTION("two variables") {
    IntConstraints system = System({"x + y <= 20", "x - y >= 10"}, {"x", "y"});
    AddRange(system, "x", -100, 200);
    AddRange(system, "y", 0, 10);
    const SolvedInequalities solved = SolveLinearInequalities(system, make_);
    CHECK(Texts(AsConditions(system, solved, make_)) == Lines{"x >= y + 10", "x <= 20 - y", "y >= 0", "y <= 5"});
    CHECK(Texts(SolveInequalitiesToRange(system, workspace_).ranges) == Lines{"y: 0 + 6", "x: y + 10 + 11"});
    const IntConstraintsTransform moved = SolveInequalitiesDeskewRange(system, workspace_);
    REQUIRE(moved.dst.variables.size() == 2);
    CHECK(Texts(moved.dst.ranges) == Lines{"y.shifted: 0 + 6", "x.shifted: 0 + 11"});
    CHECK(moved.dst.relations.size() == 1);
    CHECK(Text(moved.dst_to_src.at(moved.dst.variables[0])) == "x - y - 10");
    CHECK(Text(moved.dst_to_src.at(moved.dst.variables[1])) == "y");
  }
  SECTION("bounds that meet") {
    const IntConstraints system = System({"x + y >= 10", "x - y >= 2", "x <= 6"}, {"x", "y"});
    CHECK(Texts(SolveInequalitiesToRange(system, workspace_).ranges) == Lines{"y: 4 + 1", "x: 6 + 1"});
    const IntConstraintsTransform moved = SolveInequalitiesDeskewRange(system, workspace_);
    CHECK(moved.dst.variables.empty());
    CHECK(moved.dst.relations.empty());
    CHECK(Text(moved.src_to_dst.at(Var("x"))) == "6");
    CHECK(Text(moved.src_to_dst.at(Var("y"))) == "4");
  }
  SECTION("no solution") {
    IntConstraints system = System({"x * -1 - 4 <= x * -5 + 2", "x * 4 + 5 <= x * 5"}, {"x"});
    AddRange(system, "x", -20, 41);
    const IntConstraints solved = SolveInequalitiesToRange(system, workspace_);
    CHECK(solved.variables.empty());
    CHECK(Texts(solved.relations) == Lines{"T.bool(False)"});
    const IntConstraintsTransform moved = SolveInequalitiesDeskewRange(system, workspace_);
    CHECK(Texts(moved.dst.relations) == Lines{"T.bool(False)"});
    CHECK(moved.src_to_dst.empty());
  }
}

// Random systems over three variables in small ranges.
class RandomSystems : public LinearSystems {
 protected:
  IntConstraints Random(bool equations) {
    IntConstraints system;
    for (const char* name : {"x", "y", "z"}) {
      system.variables.push_back(Var(name));
      AddRange(system, name, -kReach, 2 * kReach + 1);
    }
    const int count = 1 + Pick(3);
    for (int i = 0; i < count; ++i) {
      const PrimExpr* sum = make_.Int(Pick(7) - 3, DataType::Int(32));
      for (const tir::Var* var : system.variables)
        sum = make_.Add(sum, make_.Mul(make_.Int(Pick(5) - 2, DataType::Int(32)), var));
      const PrimExpr* zero = make_.Int(0, DataType::Int(32));
      const NodeKind kind = equations && Pick(4) ? NodeKind::kEQ : Pick(2) ? NodeKind::kLE : NodeKind::kLT;
      const PrimExpr* relation = make_.Node(kind, sum, zero);
      system.relations.push_back(relation);
    }
    return system;
  }
  int Pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  static bool Holds(const std::vector<const PrimExpr*>& relations, const Env& env) {
    return std::ranges::all_of(relations, [&](const PrimExpr* e) { return Eval(e, env).value_or(0) != 0; });
  }
  static bool IsWithin(const VarRanges& ranges, const Env& env) {
    return std::ranges::all_of(ranges, [&](const auto& entry) {
      const int64_t offset = env.at(entry.first) - *Eval(entry.second.min, env);
      return offset >= 0 && offset < *Eval(entry.second.extent, env);
    });
  }
  template <class F>
  void ForEachPoint(const IntConstraints& system, F&& f) {
    for (int64_t x = -kReach; x <= kReach; ++x)
      for (int64_t y = -kReach; y <= kReach; ++y)
        for (int64_t z = -kReach; z <= kReach; ++z)
          f(Env{{system.variables[0], x}, {system.variables[1], y}, {system.variables[2], z}});
  }
  // Every solution is one of the transformed system, and is mapped back to itself; returns how many there are.
  int CheckTransform(const IntConstraints& system, const IntConstraintsTransform& transform) {
    int solutions = 0;
    ForEachPoint(system, [&](const Env& env) {
      if (!Holds(system.relations, env)) return;
      ++solutions;
      Env moved = env;
      for (const tir::Var* var : transform.dst.variables) {
        const auto value = Eval(transform.dst_to_src.at(var), env);
        REQUIRE(value);
        moved[var] = *value;
      }
      CHECK(IsWithin(transform.dst.ranges, moved));
      CHECK(Holds(transform.dst.relations, moved));
      for (const tir::Var* var : system.variables) {
        const auto* found = transform.src_to_dst.Find(var);
        REQUIRE(found);
        CHECK(Eval(*found, moved) == env.at(var));
      }
    });
    return solutions;
  }

  static constexpr int64_t kReach = 4;
  std::mt19937 random_{5};
};

TEST_CASE_METHOD(RandomSystems, "random linear systems have the same solutions when they are solved", "[arith]") {
  int solutions = 0;
  for (int i = 0; i < 150; ++i) {
    const IntConstraints system = Random(i % 2 == 0);
    INFO(fmt::format("{}", fmt::join(Texts(system.relations), ", ")));
    solutions += CheckTransform(system, SolveLinearEquations(system, workspace_));
    CheckTransform(system, SolveInequalitiesDeskewRange(system, workspace_));
    const std::vector<const PrimExpr*> conditions = AsConditions(system, SolveLinearInequalities(system, make_), make_);
    const IntConstraints ranges = SolveInequalitiesToRange(system, workspace_);
    ForEachPoint(system, [&](const Env& env) {
      const bool expected = Holds(system.relations, env);
      CHECK(Holds(conditions, env) == expected);
      const bool found = ranges.variables.size() == 3 && IsWithin(ranges.ranges, env) && Holds(ranges.relations, env);
      CHECK(found == expected);
    });
  }
  CHECK(solutions > 1000);
}

}  // namespace
}  // namespace iropt::arith::test

#include "analysis/tir/races/equations.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <utility>

#include "analysis/tir/races/sums.h"
#include "iropt/arith/analyzer.h"

namespace iropt::races {

namespace {

constexpr int kMaxRounds = 24;
constexpr size_t kMaxEquations = 48;

class Equations {
 public:
  Equations(const Query& query, Workspace& workspace)
      : query_(query),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kNonNegative),
        sums_(analyzer_) {}

  bool HaveNoSolution() {
    AddVariables();
    for (const Side* side : {&query_.first, &query_.second}) {
      for (const PrimExpr* guard : side->guards) AddGuard(guard);
    }
    for (size_t i = 0; i < query_.first.element.size(); ++i) Equate(query_.first.element[i], query_.second.element[i]);
    actors_ = Differences(query_.first.actor, query_.second.actor);
    values_ = Differences(query_.first.value, query_.second.value);
    const std::vector<Sum> equations = equations_;
    if (Solve()) return true;
    sums_.SplitIntoDigits();
    equations_ = equations;
    return Solve();
  }

 private:
  void AddVariables() {
    const auto bind = [&](const Variable& variable, Sums::Sides side) {
      analyzer_.Bind(variable.var, variable.min, variable.extent);
      sums_.SetSide(variable.var, side);
    };
    for (const Variable& variable : query_.common) bind(variable, Sums::kCommon);
    for (const Variable& variable : query_.first.vars) bind(variable, Sums::kFirst);
    for (const Variable& variable : query_.second.vars) bind(variable, Sums::kSecond);
    for (const tir::Var* var : query_.first.loaded) sums_.SetSide(var, Sums::kFirst);
    for (const tir::Var* var : query_.second.loaded) sums_.SetSide(var, Sums::kSecond);
    for (const auto* list : {&query_.common, &query_.first.vars, &query_.second.vars}) {
      for (const Variable& variable : *list) AddRange(variable);
    }
  }

  // The range is known to the analyzer if it is one of numbers.
  void AddRange(const Variable& variable) {
    if (arith::AsInt(variable.min) && arith::AsInt(variable.extent)) return;
    const Sum var = sums_.Of(variable.var);
    const Sum min = sums_.Of(variable.min);
    sums_.AddFact(sums_.Plus(min, var, -1));
    const Sum end = sums_.Plus(min, sums_.Of(variable.extent));
    sums_.AddFact(sums_.Plus(sums_.Plus(var, end, -1), Sums::Constant(1)));
  }

  void AddGuard(const PrimExpr* guard) {
    const auto* binary = As<tir::BinaryExpr>(guard);
    if (!binary) return;
    if (guard->kind == NodeKind::kAnd) {
      AddGuard(binary->a);
      return AddGuard(binary->b);
    }
    if (!binary->a->dtype.is_integer() || !binary->a->dtype.is_scalar()) return;
    const auto add = [&](const PrimExpr* less, const PrimExpr* greater, int64_t by) {
      sums_.AddFact(sums_.Plus(sums_.Plus(sums_.Of(less), sums_.Of(greater), -1), Sums::Constant(by)));
    };
    switch (guard->kind) {
      case NodeKind::kLT: return add(binary->a, binary->b, 1);
      case NodeKind::kLE: return add(binary->a, binary->b, 0);
      case NodeKind::kGT: return add(binary->b, binary->a, 1);
      case NodeKind::kGE: return add(binary->b, binary->a, 0);
      case NodeKind::kEQ: return Equate(binary->a, binary->b);
      default: return;
    }
  }

  void Equate(const PrimExpr* a, const PrimExpr* b) { equations_.push_back(sums_.Plus(sums_.Of(a), sums_.Of(b), -1)); }

  std::vector<Sum> Differences(const std::vector<const PrimExpr*>& a, const std::vector<const PrimExpr*>& b) {
    std::vector<Sum> differences;
    for (size_t i = 0; i < a.size(); ++i) differences.push_back(sums_.Plus(sums_.Of(a[i]), sums_.Of(b[i]), -1));
    return differences;
  }

  bool AreEqual(const std::vector<Sum>& differences) {
    return std::ranges::all_of(differences, [&](const Sum& difference) { return sums_.Apply(difference).empty(); });
  }

  bool Solve() {
    for (int round = 0; round < kMaxRounds; ++round) {
      if (AreEqual(actors_) || (!values_.empty() && AreEqual(values_))) return !sums_.overflowed();
      bool changed = false;
      for (size_t i = 0; i < equations_.size(); ++i) {
        equations_[i] = sums_.Apply(equations_[i]);
        if (sums_.overflowed()) return false;
        if (IsContradiction(equations_[i])) return !sums_.overflowed();
        changed |= Use(i);
      }
      changed = changed || std::ranges::any_of(equations_, [&](const Sum& equation) { return Eliminate(equation); });
      if (!changed || equations_.size() > kMaxEquations) return false;
    }
    return false;
  }

  static int64_t DivisorOf(const Sum& equation) {
    int64_t divisor = 0;
    for (const auto& [monomial, coefficient] : equation) {
      if (!monomial.empty()) divisor = std::gcd(divisor, coefficient);
    }
    return divisor;
  }

  bool IsContradiction(const Sum& equation) {
    if (equation.empty()) return false;
    const int64_t divisor = DivisorOf(equation);
    if (divisor == 0 || Sums::ConstantOf(equation) % divisor != 0) return true;
    return IsNeverPositive(sums_.Plus(equation, Sums::Constant(1))) ||
           IsNeverPositive(sums_.Plus(Sums::Constant(1), equation, -1));
  }
  bool IsNeverPositive(const Sum& sum) { return sums_.IsNeverPositive(sum); }

  // Returns whether the equation says something new.
  bool Use(size_t i) {
    const Sum& equation = equations_[i];
    if (equation.empty()) return false;
    return AssignAtom(equation) || Split(i);
  }

  // x - y + 3 == 0 and x - 3 == 0 give a value to the last atom.
  bool AssignAtom(const Sum& equation) {
    Sum terms = equation;
    terms.erase(Monomial());
    if (terms.size() > 2) return false;
    const auto& [monomial, coefficient] = *terms.rbegin();
    if (monomial.size() != 1 || std::abs(terms.begin()->second) != std::abs(coefficient)) return false;
    const auto& other = terms.begin()->first;
    if (terms.size() == 2 && (other.size() != 1 || terms.begin()->second != -coefficient)) return false;
    Sum value;
    for (const auto& [rest, scale] : equation) {
      if (rest != monomial) value[rest] = -scale / coefficient;
    }
    sums_.Assign(monomial[0], std::move(value));
    return true;
  }

  // 18 * x + q - 18 * y - r == 0 gives a value to the last atom, if others may depend on it.
  bool Eliminate(const Sum& equation) {
    if (equation.empty()) return false;
    const Monomial last = equation.rbegin()->first;
    const int64_t sign = equation.rbegin()->second;
    if (last.size() != 1 || std::abs(sign) != 1) return false;
    Sum rest = equation;
    rest.erase(last);
    const auto is_earlier = [&](const auto& term) { return term.first.empty() || term.first.back() < last[0]; };
    if (!std::ranges::all_of(rest, is_earlier)) return false;
    sums_.Assign(last[0], sums_.Plus({}, rest, -sign));
    return true;
  }

  // Splits unit * high + low == 0, where low is less than the unit, into two equations.
  bool Split(size_t i) {
    const Sum equation = equations_[i];
    std::set<std::pair<int64_t, Monomial>, std::greater<>> units;
    for (const auto& [monomial, coefficient] : equation) {
      if (monomial.empty()) continue;
      if (std::abs(coefficient) > 1) units.emplace(std::abs(coefficient), Monomial());
      if (monomial.size() < 2) continue;
      for (const uint32_t atom : monomial) {
        const Monomial symbol = {atom};
        if (sums_.SidesOf({{symbol, 1}}) == Sums::kCommon) units.emplace(std::abs(coefficient), symbol);
      }
    }
    return std::ranges::any_of(units, [&](const auto& unit) { return SplitBy(i, unit.first, unit.second); });
  }

  bool SplitBy(size_t i, int64_t factor, const Monomial& symbol) {
    Sum high;
    Sum low;
    for (const auto& [monomial, coefficient] : equations_[i]) {
      const bool divides = symbol.empty() ? !monomial.empty() : std::ranges::includes(monomial, symbol);
      const int64_t quotient = divides ? coefficient / factor : 0;
      Monomial others;
      std::ranges::set_difference(monomial, symbol, std::back_inserter(others));
      if (quotient != 0) high[others] = quotient;
      if (coefficient != quotient * factor) low[monomial] = coefficient - quotient * factor;
    }
    const bool is_constant = low.empty() || (low.size() == 1 && low.begin()->first.empty());
    if (high.empty() || (is_constant && symbol.empty() && factor == 1)) return false;
    const Sum unit = {{symbol, factor}};
    const int64_t constant = symbol.empty() ? arith::FloorDivInt(Sums::ConstantOf(low), factor) : 0;
    for (const int64_t units : {constant, constant + 1}) {
      const Sum rest = sums_.Plus(low, unit, -units);
      const Sum below = sums_.Plus(sums_.Plus(rest, unit, -1), Sums::Constant(1));
      const Sum above = sums_.Plus(sums_.Plus({}, sums_.Plus(rest, unit), -1), Sums::Constant(1));
      if (!IsNeverPositive(below) || !IsNeverPositive(above)) continue;
      equations_[i] = rest;
      equations_.push_back(sums_.Plus(high, Sums::Constant(units)));
      return true;
    }
    return false;
  }

  const Query& query_;
  arith::Analyzer analyzer_;
  Sums sums_;
  std::vector<Sum> equations_;
  std::vector<Sum> actors_, values_;  // differences
};

}  // namespace

bool HasNoSolution(const Query& query, Workspace& workspace) { return Equations(query, workspace).HaveNoSolution(); }

}  // namespace iropt::races

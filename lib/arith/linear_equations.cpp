#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "iropt/arith/int_set.h"
#include "iropt/arith/linear_system.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/stack.h"

namespace iropt::arith {

const tir::Range* FindRange(const VarRanges& ranges, const tir::Var* var) {
  const auto found = std::ranges::find(ranges, var, [](const auto& entry) { return entry.first; });
  return found == ranges.end() ? nullptr : &found->second;
}

namespace {

// ---- Linear forms

// Coefficients of variables, null for 0, and the rest.
struct LinearForm {
  std::vector<const PrimExpr*> coefs;
  const PrimExpr* rest;

  bool is_constant() const {
    return std::ranges::all_of(coefs, [](const PrimExpr* coef) { return coef == nullptr; });
  }
};

class LinearReader {
 public:
  LinearReader(std::span<const tir::Var* const> variables, const PrimBuilder& make)
      : variables_(variables), make_(make) {}

  std::optional<LinearForm> Read(const PrimExpr* e) {
    return WithStack([&]() -> std::optional<LinearForm> {
      const auto* binary = As<tir::BinaryExpr>(e);
      switch (e->kind) {
        case NodeKind::kPrimVar:
        case NodeKind::kSizeVar: return OfVariable(static_cast<const tir::Var*>(e));
        case NodeKind::kAdd:
        case NodeKind::kSub: return Combine(e->kind, Read(binary->a), Read(binary->b));
        case NodeKind::kMul: return Multiply(Read(binary->a), Read(binary->b));
        default: return UsesVariable(e) ? std::nullopt : std::optional(Constant(e));
      }
    });
  }

 private:
  LinearForm Constant(const PrimExpr* e) const { return {std::vector<const PrimExpr*>(variables_.size(), nullptr), e}; }

  LinearForm OfVariable(const tir::Var* var) const {
    const auto found = std::ranges::find(variables_, var);
    if (found == variables_.end()) return Constant(var);
    LinearForm form = Constant(make_.Const(0, var->dtype));
    form.coefs[static_cast<size_t>(found - variables_.begin())] = make_.Const(1, var->dtype);
    return form;
  }

  bool UsesVariable(const PrimExpr* e) const {
    return tir::UsesVar(e, [&](const tir::Var* var) { return std::ranges::find(variables_, var) != variables_.end(); });
  }

  std::optional<LinearForm> Combine(NodeKind kind, std::optional<LinearForm> a, const std::optional<LinearForm>& b) {
    if (!a || !b) return std::nullopt;
    for (size_t i = 0; i < a->coefs.size(); ++i) {
      if (!b->coefs[i]) continue;
      const PrimExpr* left = a->coefs[i] ? a->coefs[i] : make_.Const(0, b->coefs[i]->dtype);
      a->coefs[i] = make_.Binary(kind, left, b->coefs[i]);
    }
    a->rest = make_.Binary(kind, a->rest, b->rest);
    return a;
  }

  std::optional<LinearForm> Multiply(std::optional<LinearForm> a, std::optional<LinearForm> b) {
    if (!a || !b) return std::nullopt;
    if (a->is_constant()) std::swap(a, b);
    if (!b->is_constant()) return std::nullopt;
    for (const PrimExpr*& coef : a->coefs) coef = coef ? make_.Mul(coef, b->rest) : nullptr;
    a->rest = make_.Mul(a->rest, b->rest);
    return a;
  }

  std::span<const tir::Var* const> variables_;
  const PrimBuilder& make_;
};

// ---- The diagonal form of a matrix

using Row = std::vector<int64_t>;

// Factors with s * a + t * b == gcd(a, b), which is not negative.
struct Bezout {
  int64_t gcd, s, t;
};
Bezout ExtendedEuclid(int64_t a, int64_t b) {
  Bezout x{a, 1, 0}, y{b, 0, 1};
  while (y.gcd != 0) {
    const int64_t quotient = x.gcd / y.gcd;
    x = {x.gcd - quotient * y.gcd, x.s - quotient * y.s, x.t - quotient * y.t};
    std::swap(x, y);
  }
  return x.gcd < 0 ? Bezout{-x.gcd, -x.s, -x.t} : x;
}

// Brings A x == y to S (V^-1 x) == U y with a diagonal S by operations on rows, which change y, and on columns, which
// change the unknowns. Smith's normal form without the divisibility of the entries.
class Diagonalizer {
 public:
  Diagonalizer(std::vector<Row> matrix, std::vector<const PrimExpr*> rhs, std::vector<const PrimExpr*> unknowns,
               const PrimBuilder& make)
      : s(std::move(matrix)), y(std::move(rhs)), x(std::move(unknowns)), make_(make) {
    v.assign(x.size(), Row(x.size(), 0));
    for (size_t i = 0; i < x.size(); ++i) v[i][i] = 1;
  }

  // False if a coefficient does not fit.
  bool Run() {
    for (size_t i = 0; i < std::min(s.size(), x.size()) && !overflow_;) {
      MovePivot(i);
      if (s[i][i] == 0) {
        ++i;
        continue;
      }
      ClearColumn(i);
      // Clears the column again if clearing the row has changed it.
      if (!ClearRow(i)) ++i;
    }
    return !overflow_;
  }

  // The diagonal entry of a column; 0 beyond the last row.
  int64_t Diagonal(size_t i) const { return i < s.size() ? s[i][i] : 0; }

  std::vector<Row> s;              // equations x unknowns
  std::vector<const PrimExpr*> y;  // by equation
  std::vector<const PrimExpr*> x;  // V^-1 x
  std::vector<Row> v;              // unknowns x unknowns

 private:
  int64_t Sum(int64_t a, int64_t p, int64_t b, int64_t q) {
    const auto left = CheckedMul(a, p);
    const auto right = CheckedMul(b, q);
    const auto sum = left && right ? CheckedAdd(*left, *right) : std::nullopt;
    overflow_ |= !sum || *sum == std::numeric_limits<int64_t>::min();
    return overflow_ ? 0 : *sum;
  }
  const PrimExpr* Sum(int64_t a, const PrimExpr* p, int64_t b, const PrimExpr* q) const {
    return make_.Add(make_.Mul(make_.Const(a, p->dtype), p), make_.Mul(make_.Const(b, q->dtype), q));
  }

  // The least entry of the column below, or else any entry of the row, to the diagonal.
  void MovePivot(size_t at) {
    size_t best = at;
    for (size_t i = at; i < s.size(); ++i) {
      if (s[i][at] != 0 && (s[best][at] == 0 || std::abs(s[i][at]) < std::abs(s[best][at]))) best = i;
    }
    std::swap(s[at], s[best]);
    std::swap(y[at], y[best]);
    if (s[at][at] != 0) return;
    for (size_t j = at + 1; j < x.size(); ++j) {
      if (s[at][j] == 0) continue;
      for (Row& row : s) std::swap(row[at], row[j]);
      for (Row& row : v) std::swap(row[at], row[j]);
      std::swap(x[at], x[j]);
      return;
    }
  }

  // [s t; n -m] maps (pivot, entry) to (gcd, 0), and is its own kind of inverse. An entry that the pivot divides leaves
  // the pivot as it is, so that this ends.
  Bezout FactorsFor(int64_t pivot, int64_t entry) const {
    return entry % pivot == 0 ? Bezout{pivot, 1, 0} : ExtendedEuclid(pivot, entry);
  }

  void ClearColumn(size_t at) {
    for (size_t i = at + 1; i < s.size() && !overflow_; ++i) {
      if (s[i][at] == 0) continue;
      const Bezout f = FactorsFor(s[at][at], s[i][at]);
      const int64_t m = s[at][at] / f.gcd;
      const int64_t n = s[i][at] / f.gcd;
      for (size_t j = at; j < x.size(); ++j) {
        const int64_t top = s[at][j];
        const int64_t bottom = s[i][j];
        s[at][j] = Sum(f.s, top, f.t, bottom);
        s[i][j] = Sum(n, top, -m, bottom);
      }
      const PrimExpr* top = y[at];
      y[at] = Sum(f.s, top, f.t, y[i]);
      y[i] = Sum(n, top, -m, y[i]);
    }
  }

  // Returns whether the column of the pivot has changed.
  bool ClearRow(size_t at) {
    bool changed = false;
    for (size_t j = at + 1; j < x.size() && !overflow_; ++j) {
      if (s[at][j] == 0) continue;
      changed |= s[at][j] % s[at][at] != 0;
      const Bezout f = FactorsFor(s[at][at], s[at][j]);
      const int64_t m = s[at][at] / f.gcd;
      const int64_t n = s[at][j] / f.gcd;
      const auto combine = [&](Row& row) {
        const int64_t left = row[at];
        row[at] = Sum(f.s, left, f.t, row[j]);
        row[j] = Sum(n, left, -m, row[j]);
      };
      for (size_t i = at; i < s.size(); ++i) combine(s[i]);
      for (Row& row : v) combine(row);
      const PrimExpr* left = x[at];
      x[at] = Sum(m, left, n, x[j]);
      x[j] = Sum(f.t, left, -f.s, x[j]);
    }
    return changed;
  }

  const PrimBuilder& make_;
  bool overflow_ = false;
};

// ---- Equations

class EquationSolver {
 public:
  EquationSolver(const IntConstraints& system, Workspace& workspace)
      : system_(system), workspace_(workspace), make_(PrimBuilder(workspace).Exact()) {
    for (const auto& [var, range] : system.ranges) problem_.Bind(var, range.min, range.extent);
  }

  IntConstraintsTransform Solve() {
    ReadEquations();
    std::vector<const PrimExpr*> unknowns(system_.variables.begin(), system_.variables.end());
    Diagonalizer diagonal(std::move(rows_), std::move(rhs_), std::move(unknowns), make_);
    if (!diagonal.Run()) return Unchanged();
    for (const PrimExpr*& value : diagonal.y) value = problem_.Simplify(value);
    if (!AddExistence(diagonal)) return NoSolution();
    Assign(diagonal);
    AddRanges();
    for (const PrimExpr* relation : rest_)
      result_.dst.relations.push_back(tir::Substitute(relation, result_.src_to_dst, workspace_));
    return std::move(result_);
  }

 private:
  void ReadEquations() {
    for (const PrimExpr* relation : system_.relations) {
      if (!ReadEquation(relation)) rest_.push_back(relation);
    }
  }
  bool ReadEquation(const PrimExpr* relation) {
    const auto* equal = As<tir::EQ>(relation);
    if (!equal || !IsIndexType(equal->a->dtype)) return false;
    const auto coefs = DetectLinearEquation(make_.Sub(equal->a, equal->b), system_.variables, problem_);
    if (!coefs) return false;
    Row row;
    for (size_t i = 0; i + 1 < coefs->size(); ++i) {
      const int64_t* coef = AsInt((*coefs)[i]);
      if (!coef || *coef == std::numeric_limits<int64_t>::min()) return false;
      row.push_back(*coef);
    }
    if (row.empty()) return false;
    rows_.push_back(std::move(row));
    rhs_.push_back(make_.Sub(make_.Const(0, coefs->back()->dtype), coefs->back()));
    return true;
  }

  IntConstraintsTransform Unchanged() const {
    IntConstraintsTransform same{system_, {}, {}};
    for (const tir::Var* var : system_.variables) same.src_to_dst[var] = same.dst_to_src[var] = var;
    return same;
  }
  IntConstraintsTransform NoSolution() const { return {{{}, {}, {make_.Bool(false)}}, {}, {}}; }

  // A right side must be a multiple of the diagonal entry, or 0 where that is 0. False if it never is.
  bool AddExistence(const Diagonalizer& diagonal) {
    for (size_t i = 0; i < diagonal.y.size(); ++i) {
      const int64_t entry = i < system_.variables.size() ? std::abs(diagonal.Diagonal(i)) : 0;
      const PrimExpr* value = diagonal.y[i];
      const PrimExpr* zero = make_.Const(0, value->dtype);
      const PrimExpr* rest = entry == 0 ? value : make_.FloorMod(value, make_.Const(entry, value->dtype));
      const PrimExpr* exists = problem_.Simplify(make_.Binary(NodeKind::kEQ, rest, zero));
      if (IsInt(exists, 0)) return false;
      if (!IsInt(exists, 1)) result_.dst.relations.push_back(exists);
    }
    return true;
  }

  // The transformed unknowns: quotients, or new variables where the diagonal is 0. Then the old ones.
  void Assign(const Diagonalizer& diagonal) {
    std::vector<const PrimExpr*> solution;
    for (size_t i = 0; i < system_.variables.size(); ++i) {
      const int64_t entry = diagonal.Diagonal(i);
      if (entry == 0) {
        solution.push_back(NewVariable(problem_.Simplify(diagonal.x[i])));
        continue;
      }
      const PrimExpr* value = diagonal.y[i];
      if (entry < 0) value = make_.Sub(make_.Const(0, value->dtype), value);
      solution.push_back(problem_.Simplify(make_.FloorDiv(value, make_.Const(std::abs(entry), value->dtype))));
    }
    for (size_t i = 0; i < system_.variables.size(); ++i) {
      const tir::Var* var = system_.variables[i];
      const PrimExpr* sum = make_.Const(0, var->dtype);
      for (size_t j = 0; j < solution.size(); ++j)
        sum = make_.Add(sum, make_.Mul(make_.Const(diagonal.v[i][j], var->dtype), solution[j]));
      result_.src_to_dst[var] = problem_.Simplify(sum);
    }
  }

  const tir::Var* NewVariable(const PrimExpr* value) {
    const auto* source = As<tir::Var>(value);
    const size_t count = result_.dst.variables.size();
    const std::string name = source ? fmt::format("n{}_{}", count, source->name) : fmt::format("n{}", count);
    const tir::Var* var = workspace_.NewPrimVar(name, value->dtype);
    result_.dst.variables.push_back(var);
    result_.dst_to_src[var] = value;
    return var;
  }

  void AddRanges() {
    VarDomains domains;
    for (const auto& [var, range] : system_.ranges) {
      domains.insert_or_assign(var, IntervalSet::FromRange(range, make_));
      const bool is_solved = std::ranges::find(system_.variables, var) != system_.variables.end();
      if (!is_solved) result_.dst.ranges.emplace_back(var, range);
    }
    for (const tir::Var* var : result_.dst.variables) {
      const IntervalSet set = EvalSet(result_.dst_to_src[var], domains, problem_);
      if (set.is_bounded())
        result_.dst.ranges.emplace_back(var, CoverRange(set, tir::Range(set.min(), set.min()), problem_));
    }
    Analyzer known(make_, Analyzer::SymVars::kAny);
    for (const auto& [var, range] : result_.dst.ranges) known.Bind(var, range.min, range.extent);
    for (const tir::Var* var : system_.variables) {
      const tir::Range* range = FindRange(system_.ranges, var);
      if (!range) continue;
      const PrimExpr* value = result_.src_to_dst[var];
      AddRelation(known.Simplify(make_.Binary(NodeKind::kLE, range->min, value)));
      AddRelation(known.Simplify(make_.Binary(NodeKind::kLT, value, make_.Add(range->min, range->extent))));
    }
  }
  void AddRelation(const PrimExpr* relation) {
    if (!IsInt(relation, 1)) result_.dst.relations.push_back(relation);
  }

  const IntConstraints& system_;
  Workspace& workspace_;
  const PrimBuilder make_;
  Analyzer problem_{make_, Analyzer::SymVars::kAny};
  std::vector<Row> rows_;
  std::vector<const PrimExpr*> rhs_;
  std::vector<const PrimExpr*> rest_;  // relations that are not linear equations
  IntConstraintsTransform result_;
};

}  // namespace

std::optional<std::vector<const PrimExpr*>> DetectLinearEquation(const PrimExpr* e,
                                                                 std::span<const tir::Var* const> variables,
                                                                 Analyzer& analyzer) {
  std::optional<LinearForm> form = LinearReader(variables, analyzer.make()).Read(e);
  if (!form) return std::nullopt;
  std::vector<const PrimExpr*> coefs;
  for (size_t i = 0; i < variables.size(); ++i) {
    const PrimExpr* coef = form->coefs[i];
    coefs.push_back(coef ? analyzer.Simplify(coef) : analyzer.make().Const(0, variables[i]->dtype));
  }
  coefs.push_back(analyzer.Simplify(form->rest));
  return coefs;
}

IntConstraintsTransform SolveLinearEquations(const IntConstraints& system, Workspace& workspace) {
  return EquationSolver(system, workspace).Solve();
}

}  // namespace iropt::arith

#include <algorithm>
#include <limits>
#include <string>

#include "iropt/arith/int_set.h"
#include "iropt/arith/linear_system.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt::arith {
namespace {

// Simplification by rules once more than usual: sums of bounds have common factors that only it finds.
constexpr int kSteps = 3;
// So many sums of a lower and an upper bound of one variable are made.
constexpr size_t kMaxCombinations = 1024;

size_t SizeOf(const PrimExpr* e) {
  size_t size = 0;
  tir::PostOrderVisit(e, [&](const Node*) { ++size; });
  return size;
}

bool Contains(const std::vector<const PrimExpr*>& list, const PrimExpr* e) {
  return std::ranges::any_of(list, [&](const PrimExpr* other) { return DeepEqual(other, e); });
}

class InequalitySolver {
 public:
  InequalitySolver(const IntConstraints& system, const PrimBuilder& make)
      : system_(system), make_(make.Exact()), analyzer_(make_, Analyzer::SymVars::kAny) {
    for (const auto& [var, range] : system.ranges) analyzer_.Bind(var, range.min, range.extent);
  }

  SolvedInequalities Solve() {
    std::vector<const PrimExpr*> current;
    for (const PrimExpr* relation : system_.relations) Add(Normalize(Simple(relation)), current);
    SolvedInequalities solved;
    for (const tir::Var* var : system_.variables) {
      std::vector<const PrimExpr*> next;
      Classify(var, current, next);
      Combine(next);
      solved.bounds.push_back(BoundsOf(var));
      current = std::move(next);
    }
    for (const PrimExpr* relation : current) {
      const PrimExpr* simple = Simple(relation);
      if (IsInt(simple, 0)) {
        solved.relations = {simple};
        return solved;
      }
      if (!IsInt(simple, 1)) solved.relations.push_back(simple);
    }
    solved.relations.insert(solved.relations.end(), rest_.begin(), rest_.end());
    return solved;
  }

 private:
  // coef * v + rest <= 0
  struct Term {
    int64_t coef;
    const PrimExpr* rest;
  };

  const PrimExpr* Simple(const PrimExpr* e) { return analyzer_.Simplify(e, kSteps); }
  const PrimExpr* Zero(const PrimExpr* like) const { return make_.Const(0, like->dtype); }
  const PrimExpr* Negative(const PrimExpr* e) const { return make_.Sub(Zero(e), e); }
  const PrimExpr* Scaled(int64_t factor, const PrimExpr* e) const {
    return make_.Mul(make_.Const(factor, e->dtype), e);
  }
  bool CanProveOrder(NodeKind kind, const PrimExpr* a, const PrimExpr* b) {
    return analyzer_.CanProve(make_.Binary(kind, make_.Sub(a, b), Zero(a)));
  }

  // The comparison as one of a difference with 0; of orders only <=.
  const PrimExpr* Normalize(const PrimExpr* e) {
    const auto* order = As<tir::BinaryExpr>(e);
    if (!order || e->kind < NodeKind::kEQ || e->kind > NodeKind::kGE || !IsIndexType(order->a->dtype)) return e;
    const bool swaps = e->kind == NodeKind::kGT || e->kind == NodeKind::kGE;
    const bool strict = e->kind == NodeKind::kLT || e->kind == NodeKind::kGT;
    const PrimExpr* difference = swaps ? make_.Sub(order->b, order->a) : make_.Sub(order->a, order->b);
    if (strict) difference = make_.Add(difference, make_.Const(1, difference->dtype));
    const bool is_order = e->kind != NodeKind::kEQ && e->kind != NodeKind::kNE;
    return make_.Binary(is_order ? NodeKind::kLE : e->kind, analyzer_.Simplify(difference), Zero(difference));
  }

  // Adds the relation unless it follows from the others, and removes those that follow from it.
  void Add(const PrimExpr* relation, std::vector<const PrimExpr*>& set) {
    if (analyzer_.CanProve(relation) || Contains(set, relation)) return;
    const auto* order = As<tir::LE>(relation);
    const auto dominates = [&](const PrimExpr* strong, const PrimExpr* weak) {
      const auto* a = As<tir::LE>(strong);
      const auto* b = As<tir::LE>(weak);
      return a && b && a->a->dtype == b->a->dtype && CanProveOrder(NodeKind::kLE, b->a, a->a);
    };
    if (order) {
      if (std::ranges::any_of(set, [&](const PrimExpr* other) { return dominates(other, relation); })) return;
      std::erase_if(set, [&](const PrimExpr* other) { return dominates(relation, other); });
    }
    set.push_back(relation);
  }

  // Parts the relations by the sign of the coefficient of the variable; those without it go to `next`.
  void Classify(const tir::Var* var, const std::vector<const PrimExpr*>& current, std::vector<const PrimExpr*>& next) {
    positive_.clear();
    negative_.clear();
    if (const tir::Range* range = FindRange(system_.ranges, var)) {
      const PrimExpr* last = make_.Sub(make_.Add(range->min, range->extent), make_.Const(1, var->dtype));
      negative_.push_back({-1, Simple(range->min)});
      positive_.push_back({1, Negative(Simple(last))});
    }
    for (const PrimExpr* relation : current) {
      const bool is_equal = relation->kind == NodeKind::kEQ;
      const auto* order = As<tir::BinaryExpr>(relation);
      const auto coefs = is_equal || relation->kind == NodeKind::kLE
                             ? DetectLinearEquation(order->a, std::span(&var, 1), analyzer_)
                             : std::nullopt;
      const int64_t* coef = coefs ? AsInt((*coefs)[0]) : nullptr;
      if (!coef || *coef == std::numeric_limits<int64_t>::min()) {
        rest_.push_back(relation);
      } else if (*coef == 0) {
        Add(relation, next);
      } else {
        AddTerm({*coef, (*coefs)[1]});
        if (is_equal) AddTerm({-*coef, Negative((*coefs)[1])});
      }
    }
  }
  void AddTerm(const Term& term) { (term.coef > 0 ? positive_ : negative_).push_back(term); }

  // Every lower bound is at most every upper bound.
  void Combine(std::vector<const PrimExpr*>& next) {
    size_t combinations = 0;
    for (const Term& above : positive_) {
      for (const Term& below : negative_) {
        if (++combinations > kMaxCombinations) return;
        const int64_t gcd = ZeroAwareGcd(above.coef, below.coef);
        const PrimExpr* sum = make_.Add(Scaled(above.coef / gcd, below.rest), Scaled(-(below.coef / gcd), above.rest));
        Add(Normalize(Simple(make_.Binary(NodeKind::kLE, sum, Zero(sum)))), next);
      }
    }
  }

  IntGroupBounds BoundsOf(const tir::Var* var) {
    IntGroupBounds bounds;
    for (const std::vector<Term>* terms : {&positive_, &negative_}) {
      for (const Term& term : *terms) bounds.coef = Common(bounds.coef, term.coef);
    }
    if (bounds.coef == 0) return GiveUp(var);
    for (const Term& term : positive_) AddBound(NodeKind::kLE, bounds.coef, term, bounds.upper);
    for (const Term& term : negative_) AddBound(NodeKind::kGE, bounds.coef, term, bounds.lower);
    for (size_t i = 0; i < bounds.upper.size();) {
      const auto same = [&](const PrimExpr* lower) { return DeepEqual(lower, bounds.upper[i]); };
      const auto lower = std::ranges::find_if(bounds.lower, same);
      if (lower == bounds.lower.end()) {
        ++i;
        continue;
      }
      bounds.equal.push_back(*lower);
      bounds.lower.erase(lower);
      bounds.upper.erase(bounds.upper.begin() + static_cast<ptrdiff_t>(i));
    }
    std::ranges::stable_sort(bounds.equal, {}, SizeOf);
    return bounds;
  }

  // The least common multiple of the magnitudes; 0 if it does not fit.
  static int64_t Common(int64_t a, int64_t b) {
    if (a == 0) return 0;
    return CheckedMul(a / ZeroAwareGcd(a, b), std::abs(b)).value_or(0);
  }
  // Coefficients that are too big remain as they are.
  IntGroupBounds GiveUp(const tir::Var* var) {
    for (const std::vector<Term>* terms : {&positive_, &negative_}) {
      for (const Term& term : *terms) {
        const PrimExpr* sum = make_.Add(Scaled(term.coef, var), term.rest);
        rest_.push_back(make_.Binary(NodeKind::kLE, sum, Zero(sum)));
      }
    }
    return {};
  }

  // The bound of coef * v; `order` holds between a better bound and a worse one.
  void AddBound(NodeKind order, int64_t coef, const Term& term, std::vector<const PrimExpr*>& bounds) {
    const PrimExpr* bound = Simple(Scaled(-(coef / term.coef), term.rest));
    if (std::ranges::any_of(bounds, [&](const PrimExpr* other) { return CanProveOrder(order, other, bound); })) return;
    std::erase_if(bounds, [&](const PrimExpr* other) { return CanProveOrder(order, bound, other); });
    bounds.push_back(bound);
  }

  const IntConstraints& system_;
  const PrimBuilder make_;
  Analyzer analyzer_;
  std::vector<Term> positive_, negative_;  // of the current variable
  std::vector<const PrimExpr*> rest_;      // relations that are not linear
};

// The lower and the upper ends of a variable, and the ranges of those that they depend on.
class RangeFinder {
 public:
  RangeFinder(const VarRanges& ranges, const PrimBuilder& make)
      : make_(make), analyzer_(make, Analyzer::SymVars::kAny) {
    for (const auto& [var, range] : ranges) {
      analyzer_.Bind(var, range.min, range.extent);
      domains_.insert_or_assign(var, IntervalSet::FromRange(range, make));
    }
  }

  Analyzer& analyzer() { return analyzer_; }

  // The pair of a lower and an upper bound whose distance is provably the least; the extent is the greatest distance
  // for all values of other variables. Nothing if no pair has a bounded distance.
  std::optional<tir::Range> Find(const IntGroupBounds& bounds) {
    std::vector<const PrimExpr*> lower = bounds.equal;
    std::vector<const PrimExpr*> upper = bounds.equal;
    lower.insert(lower.end(), bounds.lower.begin(), bounds.lower.end());
    upper.insert(upper.end(), bounds.upper.begin(), bounds.upper.end());
    if (lower.size() == 1 && upper.size() == 1 && bounds.coef == 1)
      return tir::Range(analyzer_.Simplify(lower[0]), Extent(analyzer_.Simplify(make_.Sub(upper[0], lower[0]))));
    const PrimExpr* best = nullptr;
    const PrimExpr* least = nullptr;
    for (const PrimExpr* low : lower) {
      for (const PrimExpr* high : upper) {
        const PrimExpr* coef = make_.Const(bounds.coef, low->dtype);
        const PrimExpr* begin = analyzer_.Simplify(make_.CeilDiv(low, coef), kSteps);
        const PrimExpr* distance = Smaller(Most(make_.FloorDiv(make_.Sub(high, low), coef)),
                                           Most(make_.Sub(make_.FloorDiv(high, coef), begin)));
        if (!distance || (least && Smaller(least, distance) == least)) continue;
        best = begin;
        least = distance;
      }
    }
    if (!best) return std::nullopt;
    return tir::Range(best, Extent(least));
  }

  bool IsEmpty(const tir::Range& range) { return analyzer_.CanProveLess(range.extent, 1); }

 private:
  const PrimExpr* Extent(const PrimExpr* distance) {
    return analyzer_.Simplify(make_.Add(distance, make_.Const(1, distance->dtype)));
  }
  // The greatest value for all values of the variables with ranges; null if it is unbounded.
  const PrimExpr* Most(const PrimExpr* e) {
    const PrimExpr* most = EvalSet(analyzer_.Simplify(e, kSteps), domains_, analyzer_).max();
    return most ? analyzer_.Simplify(most, kSteps) : nullptr;
  }
  // `b` only if it is provably smaller.
  const PrimExpr* Smaller(const PrimExpr* a, const PrimExpr* b) {
    if (!a || !b) return a ? a : b;
    return analyzer_.CanProve(make_.Binary(NodeKind::kLT, make_.Sub(b, a), make_.Const(0, a->dtype))) ? b : a;
  }

  const PrimBuilder& make_;
  Analyzer analyzer_;
  VarDomains domains_;
};

void SetRange(VarRanges& ranges, const tir::Var* var, const tir::Range& range) {
  const auto found = std::ranges::find(ranges, var, [](const auto& entry) { return entry.first; });
  if (found == ranges.end()) {
    ranges.emplace_back(var, range);
  } else {
    found->second = range;
  }
}

// The bounds, and those of the range.
IntGroupBounds WithRange(IntGroupBounds bounds, const tir::Range* range, const PrimBuilder& make, Analyzer& analyzer) {
  if (!range) return bounds;
  const PrimExpr* coef = make.Const(bounds.coef, range->min->dtype);
  const PrimExpr* low = analyzer.Simplify(make.Mul(range->min, coef));
  if (IsInt(range->extent, 1)) {
    bounds.equal.insert(bounds.equal.begin(), low);
    return bounds;
  }
  const PrimExpr* last = make.Sub(make.Add(range->min, range->extent), make.Const(1, range->min->dtype));
  bounds.lower.insert(bounds.lower.begin(), low);
  bounds.upper.insert(bounds.upper.begin(), analyzer.Simplify(make.Mul(last, coef)));
  return bounds;
}

IntConstraints NoSolution(const PrimBuilder& make) { return {{}, {}, {make.Bool(false)}}; }

bool IsContradiction(const SolvedInequalities& solved) {
  return solved.relations.size() == 1 && IsInt(solved.relations[0], 0);
}

}  // namespace

SolvedInequalities SolveLinearInequalities(const IntConstraints& system, const PrimBuilder& make) {
  return InequalitySolver(system, make).Solve();
}

std::vector<const PrimExpr*> AsConditions(const IntConstraints& system, const SolvedInequalities& solved,
                                          const PrimBuilder& make) {
  std::vector<const PrimExpr*> conditions;
  for (size_t i = 0; i < system.variables.size(); ++i) {
    const IntGroupBounds& bounds = solved.bounds[i];
    const tir::Var* var = system.variables[i];
    const PrimExpr* scaled = make.Mul(make.Const(bounds.coef, var->dtype), var);
    const auto add = [&](NodeKind kind, const std::vector<const PrimExpr*>& sides) {
      for (const PrimExpr* side : sides) conditions.push_back(make.Binary(kind, scaled, side));
    };
    add(NodeKind::kEQ, bounds.equal);
    add(NodeKind::kGE, bounds.lower);
    add(NodeKind::kLE, bounds.upper);
  }
  conditions.insert(conditions.end(), solved.relations.begin(), solved.relations.end());
  return conditions;
}

IntConstraints SolveInequalitiesToRange(const IntConstraints& system, Workspace& workspace) {
  const PrimBuilder make = PrimBuilder(workspace).Exact();
  const SolvedInequalities solved = SolveLinearInequalities(system, make);
  if (solved.bounds.size() != system.variables.size() || IsContradiction(solved)) return NoSolution(make);
  IntConstraints result{system.variables, {}, {}};
  VarRanges ranges = system.ranges;
  // The last variables first: the bounds of the others depend on them.
  for (size_t i = system.variables.size(); i-- > 0;) {
    const tir::Var* var = system.variables[i];
    RangeFinder finder(ranges, make);
    const IntGroupBounds& bounds = solved.bounds[i];
    std::optional<tir::Range> range;
    if (bounds.coef == 1 && !bounds.equal.empty()) {
      range = tir::Range(bounds.equal[0], make.Const(1, var->dtype));
    } else {
      range = finder.Find(WithRange(bounds, FindRange(ranges, var), make, finder.analyzer()));
    }
    if (!range) continue;
    if (finder.IsEmpty(*range)) return NoSolution(make);
    result.ranges.emplace_back(var, *range);
    SetRange(ranges, var, *range);
  }
  RangeFinder finder(ranges, make);
  for (const PrimExpr* condition : AsConditions(system, solved, make)) {
    if (!finder.analyzer().CanProve(condition)) result.relations.push_back(condition);
  }
  return result;
}

IntConstraintsTransform SolveInequalitiesDeskewRange(const IntConstraints& system, Workspace& workspace) {
  const PrimBuilder make = PrimBuilder(workspace).Exact();
  const SolvedInequalities solved = SolveLinearInequalities(system, make);
  if (IsContradiction(solved)) return {NoSolution(make), {}, {}};
  IntConstraintsTransform result;
  VarRanges ranges = system.ranges;
  for (size_t i = system.variables.size(); i-- > 0;) {
    const tir::Var* var = system.variables[i];
    IntGroupBounds bounds = solved.bounds[i];
    for (std::vector<const PrimExpr*>* list : {&bounds.lower, &bounds.equal, &bounds.upper}) {
      for (const PrimExpr*& e : *list) e = tir::Substitute(e, result.src_to_dst, workspace);
    }
    if (bounds.coef == 1 && !bounds.equal.empty()) {
      result.src_to_dst[var] = bounds.equal[0];
      continue;
    }
    RangeFinder finder(ranges, make);
    const auto range = finder.Find(WithRange(std::move(bounds), FindRange(ranges, var), make, finder.analyzer()));
    if (!range) {
      result.src_to_dst[var] = result.dst_to_src[var] = var;
      result.dst.variables.push_back(var);
    } else if (IsInt(range->extent, 1)) {
      result.src_to_dst[var] = range->min;
    } else if (finder.IsEmpty(*range)) {
      return {NoSolution(make), {}, {}};
    } else {
      const tir::Var* shifted = workspace.NewPrimVar(std::string(var->name) + ".shifted", var->dtype);
      result.src_to_dst[var] = make.Add(shifted, range->min);
      result.dst_to_src[shifted] =
          finder.analyzer().Simplify(make.Sub(var, tir::Substitute(range->min, result.dst_to_src, workspace)));
      const tir::Range own(make.Const(0, var->dtype), range->extent);
      result.dst.variables.push_back(shifted);
      result.dst.ranges.emplace_back(shifted, own);
      SetRange(ranges, shifted, own);
    }
  }
  RangeFinder finder(ranges, make);
  for (const PrimExpr* condition : AsConditions(system, solved, make)) {
    const PrimExpr* moved = finder.analyzer().Simplify(tir::Substitute(condition, result.src_to_dst, workspace));
    if (!IsInt(moved, 1)) result.dst.relations.push_back(moved);
  }
  std::ranges::reverse(result.dst.variables);
  return result;
}

}  // namespace iropt::arith

// The axes of a block from a region that it has to provide: by inverting its indices as an iterator map, or dimension
// by dimension.
//
// Source: TVM's src/tir/schedule/primitive/compute_at.cc.
#include "axis_domains.h"

#include <fmt/format.h>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/iter_map.h"
#include "iropt/support/lookup.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

using arith::Analyzer;
using arith::IntervalSet;

IntervalSet SimplifyEnds(const IntervalSet& set, Analyzer& analyzer) {
  if (set.is_nothing()) return set;
  return IntervalSet::Interval(set.min() ? analyzer.Simplify(set.min()) : nullptr,
                               set.max() ? analyzer.Simplify(set.max()) : nullptr);
}

bool SameEnd(const PrimExpr* a, const PrimExpr* b, Analyzer& analyzer) {
  if (!a || !b) return a == b;
  return analyzer.CanProveEqual(a, b);
}

bool SameSet(const IntervalSet& a, const IntervalSet& b, Analyzer& analyzer) {
  return SameEnd(a.min(), b.min(), analyzer) && SameEnd(a.max(), b.max(), analyzer);
}

void SimplifyDomain(AxisDomain& domain, Analyzer& analyzer) {
  if (domain.dom.is_nothing()) {
    if (domain.bound.is_bounded()) {
      domain.dom = SimplifyEnds(domain.bound, analyzer);
      domain.bound = IntervalSet::Nothing();
    }
    return;
  }
  domain.dom = SimplifyEnds(domain.dom, analyzer);
  domain.bound = SimplifyEnds(domain.bound, analyzer);
  const IntervalSet both = SimplifyEnds(arith::Intersect(domain.dom, domain.bound, analyzer), analyzer);
  if (both.is_nothing()) return;
  if (SameSet(domain.dom, both, analyzer)) {
    domain.bound = IntervalSet::Nothing();
  } else if (SameSet(domain.bound, both, analyzer)) {
    domain.dom = domain.bound;
    domain.bound = IntervalSet::Nothing();
  } else if (both.is_bounded() && arith::AsInt(both.min()) && arith::AsInt(both.max())) {
    domain.dom = both;
    domain.bound = IntervalSet::Nothing();
  }
}

class DomainSolver {
 public:
  DomainSolver(State& state, const tir::Block& block, Analyzer& analyzer)
      : state_(state), block_(block), analyzer_(analyzer), make_(analyzer.make()) {
    for (const tir::IterVar* axis : block.iter_vars) domains_[axis->var] = {};
  }

  // The axes have to provide the required part of the buffer.
  Status Require(const tir::Buffer& buffer, const Box& provided, const Box& required) {
    return RequireByMap(buffer, provided, required) ? Status{} : RequireByDimension(buffer, provided, required);
  }

  Result<std::vector<AxisDomain>> Finish() {
    std::vector<AxisDomain> result;
    for (const tir::IterVar* axis : block_.iter_vars) {
      AxisDomain& domain = domains_[axis->var];
      const IntervalSet whole = IntervalSet::FromRange(*axis->dom, make_);
      domain.bound = domain.bound.is_nothing() ? whole : arith::Intersect(domain.bound, whole, analyzer_);
      SimplifyDomain(domain, analyzer_);
      if (domain.dom.is_nothing())
        return state_.Refuse(fmt::format("the domain of the axis {} of the block {{0}} is not known", axis->var->name),
                             {&block_});
      result.push_back(domain);
    }
    return result;
  }

 private:
  struct Solution {
    const tir::Var* var = nullptr;
    AxisDomain domain;
  };

  void Add(const tir::Var* var, const AxisDomain& domain) {
    AxisDomain& known = domains_[var];
    known.dom = arith::Union(known.dom, domain.dom, analyzer_);
    known.bound = arith::Union(known.bound, domain.bound, analyzer_);
  }

  const PrimExpr* LastIndex(const PrimExpr* dim) {
    const PrimExpr* zero = make_.Const(0, dim->dtype);
    return make_.Max(make_.Sub(dim, make_.Const(1, dim->dtype)), zero);
  }

  // The axes from the indices: what an axis is for indices anywhere in the box, not only at its corners, since a digit
  // of an index begins again in between.
  bool RequireByMap(const tir::Buffer& buffer, const Box& provided, const Box& required) {
    std::vector<const PrimExpr*> indices, places;
    arith::VarDomains wanted, whole;
    for (size_t i = 0; i < provided.size(); ++i) {
      if (!provided[i].is_bounded() || !provided[i].CanProvePoint(analyzer_) || !required[i].is_bounded()) return false;
      const DataType dtype = buffer.shape[i]->dtype;
      const tir::Var* place = state_.workspace().NewPrimVar(fmt::format("x{}", i), dtype);
      indices.push_back(provided[i].min());
      places.push_back(place);
      wanted.insert_or_assign(place, required[i]);
      whole.insert_or_assign(place, IntervalSet::Interval(make_.Const(0, dtype), LastIndex(buffer.shape[i])));
    }
    arith::IterRanges axes;
    for (const tir::IterVar* axis : block_.iter_vars) axes.insert_or_assign(axis->var, *axis->dom);
    const auto inverse = arith::InverseIterMap(
        indices, places, axes, {.level = arith::IterMapLevel::kBijective, .simplify_trivial_iterators = false},
        analyzer_);
    if (!inverse) return false;
    for (const tir::IterVar* axis : block_.iter_vars) {
      const PrimExpr* value = inverse->values.at(axis->var);
      const auto values_in = [&](const arith::VarDomains& box) {
        return SimplifyEnds(arith::EvalSet(value, box, analyzer_), analyzer_);
      };
      Add(axis->var, {values_in(wanted), values_in(whole)});
    }
    return true;
  }

  Status RequireByDimension(const tir::Buffer& buffer, const Box& provided, const Box& required) {
    for (size_t i = 0; i < provided.size(); ++i) {
      const IntervalSet& own = provided[i];
      if (!own.is_bounded() || !required[i].is_bounded())
        return state_.Refuse("the region of the block {0} is not bounded", {&block_});
      if (own.CanProvePoint(analyzer_) && arith::AsInt(own.min())) continue;
      const Solution found = Solve(own, required[i], LastIndex(buffer.shape[i]));
      if (!found.var) return state_.Refuse("the indices of the block {0} do not determine its axes", {&block_});
      if (domains_.contains(found.var)) Add(found.var, found.domain);
    }
    return {};
  }

  Solution Solve(const IntervalSet& provided, const IntervalSet& required, const PrimExpr* dim_max) {
    const PrimExpr* provided_min = analyzer_.Simplify(provided.min());
    const PrimExpr* provided_max = analyzer_.Simplify(provided.max());
    const PrimExpr* min = required.min() ? analyzer_.Simplify(required.min()) : nullptr;
    const PrimExpr* max = required.max() ? analyzer_.Simplify(required.max()) : nullptr;
    const PrimExpr* zero = make_.Const(0, dim_max->dtype);
    if (const auto* product = As<tir::Mul>(provided_min)) {
      const auto* var = As<tir::Var>(product->a);
      const PrimExpr* factor = product->b;
      if (!var) {
        var = As<tir::Var>(product->b);
        factor = product->a;
      }
      if (!var) return {};
      return {var,
              {IntervalSet::Interval(min ? make_.FloorDiv(min, factor) : nullptr,
                                     max ? make_.FloorDiv(max, factor) : nullptr),
               IntervalSet::Interval(zero, make_.FloorDiv(dim_max, factor))}};
    }
    if (!analyzer_.CanProveEqual(provided_min, provided_max)) return {};
    if (const auto* var = As<tir::Var>(provided_min))
      return {var, {IntervalSet::Interval(min, max), IntervalSet::Interval(zero, dim_max)}};
    if (const auto* quotient = As<tir::FloorDiv>(provided_min)) return SolveQuotient(*quotient, min, max, dim_max);
    if (const auto* rest = As<tir::FloorMod>(provided_min)) {
      if (const auto* var = As<tir::Var>(rest->a)) return {var, {}};
      if (analyzer_.CanProveGreaterEqual(rest->a, 1) && analyzer_.CanProveGreaterEqual(rest->b, 1) && min &&
          analyzer_.CanProveGreaterEqual(min, 0))
        return Solve(IntervalSet::Point(rest->a), IntervalSet::Interval(min, nullptr), dim_max);
    }
    return {};
  }

  // a <= x // f <= b, f > 0 gives a * f <= x <= b * f + f - 1.
  Solution SolveQuotient(const tir::FloorDiv& quotient, const PrimExpr* min, const PrimExpr* max,
                         const PrimExpr* dim_max) {
    const PrimExpr* factor = quotient.b;
    if (!analyzer_.CanProveGreaterEqual(factor, 1)) return {};
    const auto last = [&](const PrimExpr* value) {
      const PrimExpr* one = make_.Const(1, factor->dtype);
      return analyzer_.Simplify(make_.Sub(make_.Add(make_.Mul(value, factor), factor), one));
    };
    const IntervalSet set = IntervalSet::Interval(min ? make_.Mul(min, factor) : nullptr, max ? last(max) : nullptr);
    if (const auto* var = As<tir::Var>(quotient.a))
      return {var, {set, IntervalSet::Interval(make_.Const(0, dim_max->dtype), last(dim_max))}};
    return Solve(IntervalSet::Point(quotient.a), set, dim_max);
  }

  State& state_;
  const tir::Block& block_;
  Analyzer& analyzer_;
  const arith::PrimBuilder& make_;
  LookupMap<const tir::Var*, AxisDomain> domains_;
};

}  // namespace

Result<std::vector<AxisDomain>> SolveAxisDomains(State& state, const tir::Block& block,
                                                 std::span<const AxisRequirement> requirements, Analyzer& analyzer) {
  DomainSolver solver(state, block, analyzer);
  for (const AxisRequirement& requirement : requirements)
    IROPT_RETURN_IF_ERROR(solver.Require(*requirement.buffer, requirement.provided, requirement.required));
  return solver.Finish();
}

}  // namespace iropt::schedule

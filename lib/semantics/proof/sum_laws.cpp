// Sums of products, in the ring of integers modulo 2^n or of real numbers.
#include <algorithm>
#include <numeric>
#include <utility>

#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/reduction.h"
#include "semantics/proof/polynomial.h"
#include "semantics/proof/term_builder.h"

namespace iropt::proof {

namespace {

constexpr size_t kMostVariables = 8;

// A sum in a sum.
bool IsNestedSum(const Term* factor) {
  return factor->kind == TermKind::kRead && factor->uses_reduction && factor->args[0]->kind == TermKind::kReduce &&
         factor->args[0]->op == op::kSum;
}

// The body of a nested sum, whose variables are added to those of the sum.
const Term* BodyOf(const Term* factor, Dims& reduced, TermBuilder& terms) {
  IndexSpace& indices = terms.indices();
  const Term& sum = *factor->args[0];
  const auto num_dims = static_cast<size_t>(sum.number);
  SymVarMap map;
  for (size_t i = 0; i < sum.indices.size(); ++i) {
    const PrimExpr* extent = sum.indices[i];
    const PrimExpr* var = i < num_dims ? indices.Index(i, extent) : indices.Reduction(i - num_dims, extent);
    const PrimExpr* value = i < num_dims ? factor->indices[i] : indices.Reduction(reduced.size(), extent);
    if (i >= num_dims) reduced.push_back(extent);
    if (var != value && Is<tir::Var>(var)) map.Set(To<tir::Var>(var), value);
  }
  return terms.Substitute(sum.args[0], map);
}

// Sets of factors that use different variables of a sum, and the dimensions of the sum for each of them.
std::vector<Polynomial::Factors> SeparateFactors(const Polynomial::Factors& factors, const Dims& reduced,
                                                 std::vector<Dims>& dims, TermBuilder& terms) {
  IndexSpace& indices = terms.indices();
  // The set of each variable.
  std::vector<size_t> set_of(reduced.size());
  std::iota(set_of.begin(), set_of.end(), size_t{0});
  std::vector<std::vector<size_t>> used(factors.size());
  for (size_t i = 0; i < factors.size(); ++i) {
    std::vector<const PrimExpr*> vars;
    LookupSet<const Term*> seen;
    terms.VarsInOrder(factors[i], seen, vars);
    for (const PrimExpr* var : vars) {
      const IndexSpace::Place& place = *indices.PlaceOf(var);
      if (place.is_reduction) used[i].push_back(place.number);
    }
    for (const size_t var : used[i]) {
      const size_t old = set_of[var];
      const size_t joined = set_of[used[i][0]];
      for (size_t& set : set_of) set = set == old ? joined : set;
    }
  }
  std::vector<Polynomial::Factors> sets;
  std::vector<size_t> numbers;
  for (size_t i = 0; i < factors.size(); ++i) {
    const size_t set = used[i].empty() ? reduced.size() : set_of[used[i][0]];
    const auto known = std::ranges::find(numbers, set);
    if (known == numbers.end()) {
      numbers.push_back(set);
      sets.push_back({factors[i]});
    } else {
      sets[static_cast<size_t>(known - numbers.begin())].push_back(factors[i]);
    }
  }
  // A variable that no factor uses counts once.
  for (size_t k = 0; k < sets.size(); ++k) {
    Dims& own = dims.emplace_back(reduced);
    for (size_t var = 0; var < reduced.size(); ++var) {
      const auto owner = std::ranges::find(numbers, set_of[var]);
      const size_t place = owner == numbers.end() ? 0 : static_cast<size_t>(owner - numbers.begin());
      if (place != k) own[var] = indices.Int(1);
    }
  }
  return sets;
}

}  // namespace

const Term* TermBuilder::FactorSum(const Dims& reduced, const Term* body) {
  if (!laws_.AreRing(body->dtype)) return nullptr;
  const bool is_select = body->kind == TermKind::kSelect && ValueOf(body->args[1]) == 0.0;
  const Polynomial sum = Polynomial::OfTerm(is_select ? body->args[0] : body, *this);
  // A factor may be infinite, and the sum zero.
  const bool is_finite = laws_.finite || body->dtype.is_integer();
  const auto product = [&](Polynomial::Factors factors, const Term* coefficient) {
    Polynomial result(body->dtype);
    result.Add(std::move(factors), coefficient, *this);
    return result.ToTerm(*this);
  };
  const auto choose = [&](const Term* part) {
    return is_select ? Select(body->indices[0], part, body->args[1]) : part;
  };
  const Term* one = Number(body->dtype, 1.0);
  bool changes = sum.monomials().size() > 1;
  Polynomial result(body->dtype);
  for (const auto& [factors, coefficient] : sum.monomials()) {
    if (coefficient == nullptr) return nullptr;
    Polynomial::Factors outside;
    Polynomial::Factors inner;
    for (const Term* factor : factors) (is_finite && !factor->uses_reduction ? outside : inner).push_back(factor);
    changes = changes || !outside.empty();
    const auto nested = std::ranges::find_if(inner, IsNestedSum);
    const bool flattens = is_finite && inner.size() > 1 && nested != inner.end() &&
                          reduced.size() + (*nested)->args[0]->indices.size() <= kMostVariables;
    std::vector<Dims> dims;
    std::vector<Polynomial::Factors> sets;
    if (is_finite && !is_select && !coefficient->uses_reduction) sets = SeparateFactors(inner, reduced, dims, *this);
    if (flattens) {
      Dims all = reduced;
      const Term* element = BodyOf(*nested, all, *this);
      inner.erase(nested);
      const Term* part = Apply(op::kMultiply, nullptr, {product(inner, coefficient), element}, body->dtype);
      outside.push_back(Reduce(op::kSum, all, choose(part)));
      changes = true;
    } else if (sets.size() > 1) {
      for (size_t i = 0; i < sets.size(); ++i)
        outside.push_back(Reduce(op::kSum, dims[i], product(sets[i], i == 0 ? coefficient : one)));
      changes = true;
    } else {
      if (!changes && sum.monomials().size() == 1) return nullptr;
      outside.push_back(Reduce(op::kSum, reduced, choose(product(inner, coefficient))));
    }
    result.Add(std::move(outside), one, *this);
  }
  return changes ? result.ToTerm(*this) : nullptr;
}

}  // namespace iropt::proof

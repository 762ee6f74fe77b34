#include "iropt/arith/iter_map.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"
#include "iter_map_detect.h"
#include "iter_map_rewriter.h"

namespace iropt::arith {

namespace {

// Returns use(rewriter, sums) as DetectSums does, but only if the sums are equal to the indices.
template <class T, class F>
std::optional<T> DetectExact(std::span<const PrimExpr* const> indices, const IterRanges& iters,
                             const PrimExpr* condition, Analyzer& analyzer, F&& use) {
  const auto use_exact = [&](IterMapRewriter& rewriter, const std::vector<IterSum>& sums) -> std::optional<T> {
    if (!rewriter.is_exact()) return std::nullopt;
    return use(rewriter, sums);
  };
  return DetectSums<T>(indices, iters, condition, {}, analyzer, use_exact);
}

// Returns the set that Detect and SetOf find, for an index that is a constant or one iterator of a constant range,
// which most are.
std::optional<IntervalSet> SetOfSimpleIndex(const tir::Range& range, const IterRanges& iters, const PrimBuilder& make) {
  if (!AsInt(range.extent)) return std::nullopt;
  if (AsInt(range.min)) return IntervalSet::FromRange(range.min, range.extent, make);
  const auto* var = As<tir::Var>(range.min);
  const auto* iter = var ? iters.Find(var) : nullptr;
  if (!iter) return std::nullopt;
  const PrimExpr* min = iter->min;
  const PrimExpr* extent = iter->extent;
  if (!AsInt(min) || !AsInt(extent)) return std::nullopt;
  const PrimExpr* more = make.Sub(range.extent, make.Const(1, extent->dtype));
  return IntervalSet::FromRange(min, make.Add(extent, more), make);
}

// Returns whether an index is v0 * c0 + v1 * c1 + ... + vn, or v0 * c0, perhaps plus a constant, of different iterators
// from 0, where the scale of each is the number of values of those after it. A map of the iterators has the same form.
// Most flat indices are such.
bool IsRowMajorSum(const PrimExpr* index, const IterRanges& iters) {
  constexpr size_t kMostTerms = 8;
  std::array<const tir::Var*, kMostTerms> seen;
  constexpr int64_t kMostValues = int64_t{1} << 62;
  size_t count = 0;
  int64_t values = 1;  // of the iterators so far
  const auto* outer = As<tir::Add>(index);
  if (outer && AsInt(outer->b)) index = outer->a;
  while (index) {  // from right to left
    const auto* sum = As<tir::Add>(index);
    const PrimExpr* term = sum ? sum->b : index;
    index = sum ? sum->a : nullptr;
    const auto* product = As<tir::Mul>(term);
    const int64_t* factor = product ? AsInt(product->b) : nullptr;
    const int64_t scale = !product ? 1 : factor ? *factor : 0;
    const bool is_alone = count == 0 && !index;
    if (is_alone ? scale <= 0 : scale != values) return false;
    const auto* var = As<tir::Var>(product ? product->a : term);
    const auto* iter = var ? iters.Find(var) : nullptr;
    if (!iter || count == kMostTerms) return false;
    const int64_t* extent = AsInt(iter->extent);
    if (!extent || *extent < 2 || *extent > kMostValues / values || !IsInt(iter->min, 0)) return false;
    if (std::find(seen.begin(), seen.begin() + count, var) != seen.begin() + count) return false;
    seen[count++] = var;
    values *= *extent;
  }
  return true;
}

// sum, sum + 1, ..., sum + extent - 1 for all values of the iterators; nothing if there are gaps, or if the base has
// iterators: quotients of those with a single value stay as they are.
std::optional<IntervalSet> SetOf(const IterSum& sum, const IterRanges& iters, const PrimExpr* extent,
                                 Analyzer& analyzer) {
  if (tir::UsesAnyOf(iters, sum.base)) return std::nullopt;
  const PrimBuilder& make = analyzer.make();
  if (sum.args.empty()) return IntervalSet::FromRange(sum.base, extent, make);
  if (sum.args.size() != 1) return std::nullopt;
  const IterSplit& split = sum.args[0];
  const PrimExpr* steps = make.Sub(split.extent, make.Const(1, split.extent->dtype));
  const PrimExpr* span = make.Mul(steps, split.scale);
  if (analyzer.CanProveLess(split.scale, 0)) {
    if (!analyzer.CanProveGreaterEqual(make.Add(extent, split.scale), 0)) return std::nullopt;
    return IntervalSet::FromRange(make.Add(sum.base, span), make.Sub(extent, span), make);
  }
  if (!analyzer.CanProveGreaterEqual(make.Sub(extent, split.scale), 0)) return std::nullopt;
  const PrimExpr* whole = make.Add(make.Mul(split.extent, split.scale), make.Sub(extent, split.scale));
  return IntervalSet::FromRange(sum.base, whole, make);
}

}  // namespace

std::optional<IterMapResult> DetectIterMap(std::span<const PrimExpr* const> indices, const IterRanges& iters,
                                           const PrimExpr* condition, IterMapOptions options, Analyzer& analyzer) {
  const auto to_result = [&](IterMapRewriter& rewriter, const std::vector<IterSum>& sums) {
    IterMapResult result = {{}, rewriter.padding_predicate(), rewriter.is_exact()};
    for (const IterSum& sum : sums) {
      const PrimExpr* one = analyzer.make().Const(1, sum.base->dtype);
      const bool is_constant = sum.args.empty();
      result.indices.push_back({.expr = rewriter.ToExpr(sum),
                                .extent = is_constant ? one : sum.args[0].extent,
                                .scale = is_constant ? one : sum.args[0].scale,
                                .base = sum.base});
    }
    return std::optional(std::move(result));
  };
  return DetectSums<IterMapResult>(indices, iters, condition, options, analyzer, to_result);
}

const PrimExpr* SimplifyIterMap(const PrimExpr* index, const IterRanges& iters,
                                std::span<const PrimExpr* const> conditions, Analyzer& analyzer) {
  if (conditions.empty() && IsRowMajorSum(index, iters)) return index;
  const PrimExpr* condition = nullptr;
  for (const PrimExpr* c : conditions) {
    condition = condition ? analyzer.make().Binary(NodeKind::kAnd, condition, c) : c;
  }
  const auto to_expr = [](IterMapRewriter& rewriter, const std::vector<IterSum>& sums) {
    return std::optional<const PrimExpr*>(rewriter.ToExpr(sums[0]));
  };
  const std::span<const PrimExpr* const> indices(&index, 1);
  auto found = DetectExact<const PrimExpr*>(indices, iters, condition, analyzer, to_expr);
  // A condition may be beyond what iterators can express; the index may still be a map without it.
  if (!found && condition) found = DetectExact<const PrimExpr*>(indices, iters, nullptr, analyzer, to_expr);
  return found.value_or(index);
}

bool AreIndependentRanges(const IterRanges& iters) {
  return iters.AllOf([&](const tir::Var*, const tir::Range& range) {
    return !tir::UsesAnyOf(iters, range.min) && !tir::UsesAnyOf(iters, range.extent);
  });
}

std::vector<const PrimExpr*> SimplifyIterMaps(std::span<const PrimExpr* const> indices, const IterRanges& iters,
                                              const PrimExpr* condition, bool simplify_trivial_iterators,
                                              Analyzer& analyzer) {
  std::vector<const PrimExpr*> result(indices.begin(), indices.end());
  if (!AreIndependentRanges(iters)) return result;
  if (condition && IsInt(condition, 1)) condition = nullptr;
  const IterMapOptions options{.level = IterMapLevel::kSurjective,
                               .simplify_trivial_iterators = simplify_trivial_iterators};
  auto found = DetectIterMap(indices, iters, condition, options, analyzer);
  // A condition may be beyond what iterators can express; the indices may still be maps without it.
  if (!found && condition) found = DetectIterMap(indices, iters, nullptr, options, analyzer);
  if (!found || !found->is_exact) return result;
  for (size_t i = 0; i < result.size(); ++i) result[i] = found->indices[i].expr;
  return result;
}

std::optional<IntervalSet> EstimateIterMap(const tir::Range& range, const IterRanges& iters, const PrimExpr* condition,
                                           Analyzer& analyzer) {
  if (!condition) {
    if (const auto simple = SetOfSimpleIndex(range, iters, analyzer.make())) return simple;
  }
  const auto to_set = [&](IterMapRewriter&, const std::vector<IterSum>& sums) {
    return SetOf(sums[0], iters, range.extent, analyzer);
  };
  return DetectExact<IntervalSet>(std::span(&range.min, 1), iters, condition, analyzer, to_set);
}

std::optional<std::vector<IntervalSet>> EstimateRegionStrictBound(std::span<const tir::Range* const> region,
                                                                  const IterRanges& iters, const PrimExpr* condition,
                                                                  Analyzer& analyzer) {
  std::vector<const PrimExpr*> begins;
  for (const tir::Range* range : region) {
    if (!AsInt(range->extent)) return std::nullopt;
    begins.push_back(range->min);
  }
  using Sets = std::vector<IntervalSet>;
  const auto to_sets = [&](IterMapRewriter& rewriter, const std::vector<IterSum>& sums) -> std::optional<Sets> {
    if (!rewriter.AreConstraintsUsed(sums)) return std::nullopt;
    Sets sets;
    for (size_t i = 0; i < sums.size(); ++i) {
      const std::optional<IntervalSet> set = SetOf(sums[i], iters, region[i]->extent, analyzer);
      if (!set) return std::nullopt;
      sets.push_back(*set);
    }
    return sets;
  };
  return DetectExact<Sets>(begins, iters, condition, analyzer, to_sets);
}

std::vector<IntervalSet> EstimateRegionUpperBound(std::span<const tir::Range* const> region, const IterRanges& iters,
                                                  const PrimExpr* condition, Analyzer& analyzer) {
  if (auto strict = EstimateRegionStrictBound(region, iters, condition, analyzer)) return *std::move(strict);
  VarDomains domains;
  iters.ForEachInAnyOrder([&](const tir::Var* var, const tir::Range& range) {
    domains.insert_or_assign(var, IntervalSet::FromRange(range, analyzer.make()));
  });
  std::vector<IntervalSet> sets;
  for (const tir::Range* range : region) {
    const std::optional<IntervalSet> set = EstimateIterMap(*range, iters, condition, analyzer);
    sets.push_back(set ? *set : EvalSet(*range, domains, analyzer));
  }
  return sets;
}

bool AreIndependentIterMaps(std::span<const PrimExpr* const> values, const IterRanges& iters, const PrimExpr* condition,
                            Analyzer& analyzer) {
  if (iters.empty()) return true;
  const auto counts_by_one = [](IterMapRewriter&, const std::vector<IterSum>& sums) -> std::optional<bool> {
    return std::ranges::all_of(sums,
                               [](const IterSum& sum) { return sum.args.empty() || IsInt(sum.args[0].scale, 1); });
  };
  return DetectSums<bool>(values, iters, condition, {}, analyzer, counts_by_one).value_or(false);
}

IndexDigits NormalizeIndex(const PrimExpr* index, const IterRanges& iters, Analyzer& analyzer) {
  const IterRanges unconstrained;
  IterMapRewriter rewriter(iters, unconstrained, {.level = IterMapLevel::kNoCheck}, analyzer);
  const std::optional<IterSum> sum = rewriter.RewriteToSum(index);
  if (!sum || !rewriter.is_exact()) return {{}, index};
  struct Item {
    int64_t constant = 1;  // the factors of the scale
    size_t others = 0;
    IndexDigits::Digit digit;
  };
  std::vector<Item> items;
  for (const IterSplit& split : sum->args) {
    Item item{.digit = {split.source->expr ? As<tir::Var>(split.source->expr) : nullptr, split.lower_factor,
                        split.extent, split.scale}};
    std::vector<const PrimExpr*> factors{split.scale};
    while (!factors.empty()) {
      const PrimExpr* factor = factors.back();
      factors.pop_back();
      if (const auto* product = As<tir::Mul>(factor)) {
        factors.push_back(product->a);
        factors.push_back(product->b);
      } else if (const int64_t* value = AsInt(factor)) {
        item.constant *= *value;
      } else {
        ++item.others;
      }
    }
    items.push_back(item);
  }
  std::ranges::stable_sort(items, [](const Item& a, const Item& b) {
    return a.constant != b.constant ? a.constant > b.constant : a.others > b.others;
  });
  IndexDigits result{{}, analyzer.Simplify(sum->base)};
  for (const Item& item : items) result.digits.push_back(item.digit);
  return result;
}

}  // namespace iropt::arith

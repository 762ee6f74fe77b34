// Simplification of indices that are fused and split iterators.
//
//   // for i in range(4), j in range(8), where i * 8 + j < 30
//   (i * 8 + j) // 4 * 4 + j % 4      -->      i * 8 + j
//
// An index is an iterator map if it is a sum of iterators and their digits in some mixed radix (quotients and
// remainders) that takes every value of a range, as fused and split loops make it. The result is a normal form of such
// a map: the terms by decreasing scale, where terms that a condition bounds together stay together. An iterator of
// which a divisor does not divide the range is padded to a multiple of it. After TVM's DetectIterMap and
// IterMapSimplify (src/arith/iter_affine_map.cc).
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/int_set.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/support/lookup.h"

namespace iropt::arith {

// The iterators and their ranges, which depend on no iterator.
using IterRanges = LookupMap<const tir::Var*, tir::Range>;

// Condition under which indices are a map together. TVM's IterMapLevel.
enum class IterMapLevel : uint8_t {
  kNoCheck,     // each of them is a map; values of padding may be among theirs
  kSurjective,  // they take all values of their ranges together
  kBijective,   // and each of them once: all iterators are used, and none is padded
};

struct IterMapOptions {
  IterMapLevel level = IterMapLevel::kSurjective;
  bool simplify_trivial_iterators = true;  // iterators that run once are replaced by their value
};

// An index that takes the values base, base + scale, ..., `extent` of them.
struct IterMapIndex {
  const PrimExpr* expr;  // the normal form
  const PrimExpr* extent;
  const PrimExpr* scale;
  const PrimExpr* base;
};

struct IterMapResult {
  std::vector<IterMapIndex> indices;
  // Condition under which the values of padded iterators are padding; null without padded iterators.
  const PrimExpr* padding_predicate;
  // False if indices need different padding of one iterator. The normal forms then take the values of the indices for
  // other values of the iterators.
  bool is_exact;
};

// The indices as iterator maps that are independent of each other, where the condition holds (null: always); nothing if
// they are not. O(size of indices and condition), times the square of the number of terms.
std::optional<IterMapResult> DetectIterMap(std::span<const PrimExpr* const> indices, const IterRanges& iters,
                                           const PrimExpr* condition, IterMapOptions options, Analyzer& analyzer);

// The normal form of the index where all conditions hold, or the index itself if it is not an iterator map. O(size of
// index and conditions), times the square of the number of terms.
const PrimExpr* SimplifyIterMap(const PrimExpr* index, const IterRanges& iters,
                                std::span<const PrimExpr* const> conditions, Analyzer& analyzer);

// The normal forms of indices that are maps together, of different digits of the iterators, where the condition holds
// (null: always); the indices themselves if they are not. Nothing is known if the range of an iterator depends on
// another one. TVM's IterMapSimplify at the surjective level. The same cost for each index.
std::vector<const PrimExpr*> SimplifyIterMaps(std::span<const PrimExpr* const> indices, const IterRanges& iters,
                                              const PrimExpr* condition, bool simplify_trivial_iterators,
                                              Analyzer& analyzer);
// Returns whether no range depends on an iterator.
bool AreIndependentRanges(const IterRanges& iters);

// The values from range.min to range.min + range.extent - 1 for all values of the iterators for which the condition
// holds (null: always); nothing if the begin is not an iterator map, or if values in between are not taken. A condition
// on other iterators may exclude some of the values. The same cost.
std::optional<IntervalSet> EstimateIterMap(const tir::Range& range, const IterRanges& iters, const PrimExpr* condition,
                                           Analyzer& analyzer);

// Returns whether each value is an iterator map that takes neighboring values (a scale of 1), and all of them together
// use different digits of the iterators, where the condition holds (null: always). TVM's IsAffineBinding, for the
// bindings of a block. The same cost for each value.
bool AreIndependentIterMaps(std::span<const PrimExpr* const> values, const IterRanges& iters, const PrimExpr* condition,
                            Analyzer& analyzer);

// The values of the iterators from those of the indices, `outputs`: i * 8 + j, k gives i = out0 // 8, j = out0 % 8 and
// k = out1. Nothing if the indices are not a map together, or if two values of the iterators have the same indices.
// Iterators that run once have their only value. The same cost.
std::optional<tir::VarValues> InverseIterMap(std::span<const PrimExpr* const> indices,
                                             std::span<const PrimExpr* const> outputs, const IterRanges& iters,
                                             Analyzer& analyzer);
// Values of the iterators for indices that are a map at any level; they are not simplified. `padding_predicate`, in the
// iterators, says which values of the outputs are padding, for which the iterators get values outside of their ranges;
// null without padding.
struct InverseOfIterMap {
  tir::VarValues values;
  const PrimExpr* padding_predicate = nullptr;
};
std::optional<InverseOfIterMap> InverseIterMap(std::span<const PrimExpr* const> indices,
                                               std::span<const PrimExpr* const> outputs, const IterRanges& iters,
                                               IterMapOptions options, Analyzer& analyzer);

// An index as a sum of digits of iterators, var // lower_factor % extent * scale, and of a base. The digits are in the
// order of decreasing constant scales; whether they are independent is not asked. An index that is not such a sum is
// all base. TVM's NormalizeToIterSum. The same cost.
struct IndexDigits {
  struct Digit {
    const tir::Var* var;  // null for an iterator that is a sum of others
    const PrimExpr* lower_factor;
    const PrimExpr* extent;
    const PrimExpr* scale;
  };
  std::vector<Digit> digits;
  const PrimExpr* base;
};
IndexDigits NormalizeIndex(const PrimExpr* index, const IterRanges& iters, Analyzer& analyzer);

// The part of a buffer that accesses to `region` cover while the iterators run through the values for which the
// condition holds (null: always): every element of the box of these intervals is accessed, and no other. Nothing if
// that cannot be shown, for example because dimensions depend on each other. The extents of the region are constants.
std::optional<std::vector<IntervalSet>> EstimateRegionStrictBound(std::span<const tir::Range* const> region,
                                                                  const IterRanges& iters, const PrimExpr* condition,
                                                                  Analyzer& analyzer);
// A box that contains all elements that are accessed: the strict bound if it is known, else dimension by dimension.
std::vector<IntervalSet> EstimateRegionUpperBound(std::span<const tir::Range* const> region, const IterRanges& iters,
                                                  const PrimExpr* condition, Analyzer& analyzer);

// Indices as outer * inner.extent + inner: the outer part of the iterators that are not in `inner_iters`, the inner
// part of those that are. The conditions are those of each part; null: always.
struct SubspaceDivision {
  struct Part {
    const PrimExpr* expr;
    const PrimExpr* extent;
  };
  struct Index {
    Part outer, inner;
  };
  std::vector<Index> indices;
  const PrimExpr* outer_condition = nullptr;
  const PrimExpr* inner_condition = nullptr;
};
// Nothing if the indices are not iterator maps together, or if one of them cannot be divided so. TVM's SubspaceDivide.
// The cost of finding the maps, and the square of the number of digits.
std::optional<SubspaceDivision> DivideSubspace(std::span<const PrimExpr* const> indices, const IterRanges& iters,
                                               std::span<const tir::Var* const> inner_iters, const PrimExpr* condition,
                                               bool simplify_trivial_iterators, Analyzer& analyzer);

}  // namespace iropt::arith

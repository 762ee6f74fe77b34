#include <algorithm>
#include <deque>

#include "iropt/ir/structural.h"
#include "iter_map_detect.h"
#include "iter_map_rewriter.h"

namespace iropt::arith {

namespace {

enum class Side : uint8_t { kInner, kOuter, kMixed };

// outer * inner_extent + inner. Each part is a sum, or (`is_split`) one digit with a scale that does not count.
struct Part {
  IterSum sum;
  const PrimExpr* extent = nullptr;
  bool is_split = false;
};
struct Division {
  Part outer, inner;
  Side side = Side::kMixed;
};

class SubspaceDivider {
 public:
  using Splits = std::vector<std::pair<const IterMark*, std::vector<IterSplit>>>;

  SubspaceDivider(Splits splits, std::span<const tir::Var* const> inner_iters, IterMapRewriter& rewriter,
                  Analyzer& analyzer)
      : splits_(std::move(splits)), inner_iters_(inner_iters), rewriter_(rewriter), analyzer_(analyzer) {}

  const PrimExpr* outer_condition = nullptr;
  const PrimExpr* inner_condition = nullptr;

  // `extent` is that of an iterator that the sum makes; null for the sum of an index.
  std::optional<Division> DivideSum(const IterSum& sum, const PrimExpr* extent) {
    const DataType dtype = sum.base->dtype;
    if (sum.args.empty()) return Division{Nothing(dtype), {{{}, sum.base}, Const(1, dtype)}, Side::kMixed};
    const bool is_whole = !extent || analyzer_.CanProveEqual(sum.args[0].extent, extent);  // no condition bounds it
    if (sum.args.size() == 1 && is_whole) {
      if (!IsInt(sum.args[0].scale, 1)) return std::nullopt;
      std::optional<Division> division = DivideSplit(sum.args[0]);
      if (division && !IsInt(sum.base, 0)) {
        Part& inner = division->inner;
        inner.sum.base = inner.is_split ? sum.base : make().Add(inner.sum.base, sum.base);
        inner.is_split = false;
      }
      return division;
    }
    std::vector<IterSplit> outer_args, inner_args;
    const PrimExpr* product = Const(1, dtype);
    for (auto arg = sum.args.rbegin(); arg != sum.args.rend(); ++arg) {
      // Else the terms overlap: their sum is not a number with them as digits.
      if (!analyzer_.CanProveEqual(arg->scale, product)) return std::nullopt;
      const std::optional<Division> division = DivideSplit(*arg);
      if (!division || division->side == Side::kMixed) return std::nullopt;
      const bool is_inner = division->side == Side::kInner;
      if (is_inner && !outer_args.empty()) return std::nullopt;  // inner digits are below all outer ones
      (is_inner ? inner_args : outer_args).push_back(AsSplit(is_inner ? division->inner : division->outer));
      product = make().Mul(product, (is_inner ? inner_args : outer_args).back().extent);
    }
    const bool all_outer = inner_args.empty();
    const Part outer = Fuse(outer_args, all_outer ? sum.base : Const(0, dtype));
    const Part inner = Fuse(inner_args, all_outer ? Const(0, dtype) : sum.base);
    if (!extent) return std::nullopt;
    if (analyzer_.CanProveEqual(product, extent)) return Division{outer, inner, Side::kMixed};
    return WithCondition(outer, inner, extent, dtype, all_outer, outer_args.empty());
  }

  const PrimExpr* ToExpr(const Part& part) { return rewriter_.ToExpr(part.sum); }

 private:
  const PrimBuilder& make() const { return analyzer_.make(); }
  const PrimExpr* Const(int64_t value, DataType dtype) { return make().Const(value, dtype); }
  Part Nothing(DataType dtype) { return {{{}, Const(0, dtype)}, Const(1, dtype)}; }
  Part SplitPart(const IterSplit& split, const PrimExpr* extent) {
    return {{{split}, Const(0, extent->dtype), true}, extent, true};
  }

  // A sum that a condition bounds cannot be divided; it is all outer or all inner.
  std::optional<Division> WithCondition(const Part& outer, const Part& inner, const PrimExpr* extent, DataType dtype,
                                        bool all_outer, bool all_inner) {
    if (!all_outer && !all_inner) return std::nullopt;
    const Part& part = all_outer ? outer : inner;
    const PrimExpr* holds = make().Binary(NodeKind::kLT, rewriter_.ToExpr(part.sum), extent);
    const PrimExpr*& condition = all_outer ? outer_condition : inner_condition;
    condition = condition ? make().Binary(NodeKind::kAnd, condition, holds) : holds;
    const Part whole{part.sum, extent};
    return all_outer ? Division{whole, Nothing(dtype), Side::kOuter} : Division{Nothing(dtype), whole, Side::kInner};
  }

  IterSplit AsSplit(const Part& part) {
    if (part.is_split) return part.sum.args[0];
    const DataType dtype = part.extent->dtype;
    return {MarkOf(part), Const(1, dtype), part.extent, Const(1, dtype)};
  }

  const IterMark* MarkOf(const Part& part) {
    IterMark& mark = marks_.emplace_back();
    mark.sum = part.sum;
    mark.extent = part.extent;
    return &mark;
  }

  // Digits from inner to outer, as one number.
  Part Fuse(std::vector<IterSplit> args, const PrimExpr* base) {
    const PrimExpr* extent = Const(1, base->dtype);
    for (IterSplit& arg : args) {
      arg.scale = extent;
      extent = make().Mul(extent, arg.extent);
    }
    std::ranges::reverse(args);
    return {{std::move(args), base, true}, extent};
  }

  static bool Same(const IterSplit& a, const IterSplit& b) {
    return a.source == b.source && DeepEqual(a.lower_factor, b.lower_factor) && DeepEqual(a.extent, b.extent) &&
           DeepEqual(a.scale, b.scale);
  }

  std::optional<Division> DivideSplit(const IterSplit& split) {
    for (const auto& [known, division] : divided_) {
      if (Same(known, split)) return division;
    }
    const auto found =
        std::ranges::find(splits_, split.source, [](const Splits::value_type& item) { return item.first; });
    if (found == splits_.end()) return std::nullopt;
    const IterMark& mark = *split.source;
    if (mark.expr) {
      const auto* var = As<tir::Var>(IterOf(mark.expr));
      if (!var) return std::nullopt;
      const bool is_inner = std::ranges::find(inner_iters_, var) != inner_iters_.end();
      for (const IterSplit& digit : found->second) Know(digit, is_inner, digit);
    } else {
      std::optional<Division> whole = DivideSum(mark.sum, mark.extent);
      if (!whole) return std::nullopt;
      const bool is_whole = IsInt(split.lower_factor, 1) && analyzer_.CanProveEqual(split.extent, mark.extent);
      if (found->second.size() == 1 && is_whole) return whole;
      // An offset carries from one digit to the next.
      if (!IsInt(mark.sum.base, 0)) return std::nullopt;
      if (!DivideDigits(*whole, found->second, mark)) return std::nullopt;
    }
    for (const auto& [known, division] : divided_) {
      if (Same(known, split)) return division;
    }
    return std::nullopt;
  }

  // The variable of an iterator, which may be normalized to begin with 0.
  static const PrimExpr* IterOf(const PrimExpr* expr) {
    const auto* difference = As<tir::Sub>(expr);
    return difference ? difference->a : expr;
  }

  void Know(const IterSplit& digit, bool is_inner, const IterSplit& part) {
    const Part own = SplitPart(part, digit.extent);
    const DataType dtype = digit.extent->dtype;
    divided_.emplace_back(
        digit, is_inner ? Division{Nothing(dtype), own, Side::kInner} : Division{own, Nothing(dtype), Side::kOuter});
  }

  // The digits of an iterator that is divided itself: those up to the extent of its inner part are inner ones.
  bool DivideDigits(const Division& whole, const std::vector<IterSplit>& digits, const IterMark& mark) {
    const IterMark* outer_mark = MarkOf(whole.outer);
    const IterMark* inner_mark = MarkOf(whole.inner);
    bool is_outer = whole.side == Side::kOuter;
    std::vector<bool> used(digits.size());
    const PrimExpr* first_outer = nullptr;  // its lower factor
    const PrimExpr* expected = Const(1, mark.extent->dtype);
    for (size_t round = 0; round < digits.size(); ++round) {
      size_t next = 0;
      while (next < digits.size() && (used[next] || !analyzer_.CanProveEqual(digits[next].lower_factor, expected)))
        ++next;
      if (next == digits.size()) return false;
      used[next] = true;
      IterSplit part = digits[next];
      part.source = is_outer ? outer_mark : inner_mark;
      if (is_outer) {
        if (!first_outer) first_outer = digits[next].lower_factor;
        part.lower_factor = make().FloorDiv(part.lower_factor, first_outer);
      }
      Know(digits[next], !is_outer, part);
      expected = make().Mul(expected, digits[next].extent);
      if (analyzer_.CanProveEqual(expected, whole.inner.extent)) is_outer = true;
    }
    return is_outer;
  }

  Splits splits_;
  std::span<const tir::Var* const> inner_iters_;
  IterMapRewriter& rewriter_;
  Analyzer& analyzer_;
  std::deque<IterMark> marks_;
  std::vector<std::pair<IterSplit, Division>> divided_;
};

// Adds what does not follow from the ranges of the iterators and the conditions of the division so far. False if a
// condition is on outer and inner iterators together.
bool AddConditions(const PrimExpr* condition, const IterRanges& iters, std::span<const tir::Var* const> inner_iters,
                   Analyzer& analyzer, SubspaceDivision& division) {
  if (const auto* both = As<tir::And>(condition)) {
    return AddConditions(both->a, iters, inner_iters, analyzer, division) &&
           AddConditions(both->b, iters, inner_iters, analyzer, division);
  }
  Analyzer ranges(analyzer.make());
  iters.ForEachInAnyOrder(
      [&](const tir::Var* var, const tir::Range& range) { ranges.Bind(var, range.min, range.extent); });
  const PrimExpr* always = analyzer.make().Bool(true);
  const Analyzer::Constraint outer(ranges, division.outer_condition ? division.outer_condition : always);
  const Analyzer::Constraint inner(ranges, division.inner_condition ? division.inner_condition : always);
  if (ranges.CanProve(condition)) return true;
  const auto is_inner = [&](const tir::Var* var) { return std::ranges::find(inner_iters, var) != inner_iters.end(); };
  const bool uses_inner = tir::UsesVar(condition, is_inner);
  if (uses_inner && tir::UsesVar(condition, [&](const tir::Var* var) { return iters.contains(var) && !is_inner(var); }))
    return false;
  const PrimExpr*& side = uses_inner ? division.inner_condition : division.outer_condition;
  side = side ? analyzer.make().Binary(NodeKind::kAnd, side, condition) : condition;
  return true;
}

}  // namespace

std::optional<SubspaceDivision> DivideSubspace(std::span<const PrimExpr* const> indices, const IterRanges& iters,
                                               std::span<const tir::Var* const> inner_iters, const PrimExpr* condition,
                                               bool simplify_trivial_iterators, Analyzer& analyzer) {
  if (!AreIndependentRanges(iters)) return std::nullopt;
  if (condition && IsInt(condition, 1)) condition = nullptr;
  const IterMapOptions options{.level = IterMapLevel::kSurjective,
                               .simplify_trivial_iterators = simplify_trivial_iterators};
  const auto divide = [&](IterMapRewriter& rewriter,
                          const std::vector<IterSum>& sums) -> std::optional<SubspaceDivision> {
    if (!rewriter.is_exact()) return std::nullopt;
    SubspaceDivider divider(IterMapRewriter::SplitsOf(sums), inner_iters, rewriter, analyzer);
    SubspaceDivision result;
    for (const IterSum& sum : sums) {
      const std::optional<Division> division = divider.DivideSum(sum, nullptr);
      if (!division) return std::nullopt;
      result.indices.push_back({{divider.ToExpr(division->outer), division->outer.extent},
                                {divider.ToExpr(division->inner), division->inner.extent}});
    }
    result.outer_condition = divider.outer_condition;
    result.inner_condition = divider.inner_condition;
    if (condition && !AddConditions(condition, iters, inner_iters, analyzer, result)) return std::nullopt;
    return result;
  };
  return DetectSums<SubspaceDivision>(indices, iters, condition, options, analyzer, divide);
}

}  // namespace iropt::arith

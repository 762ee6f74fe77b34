#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include "choices.h"
#include "iropt/arith/iter_map.h"
#include "iropt/ir/module.h"
#include "iropt/support/hash.h"
#include "iropt/text/script/printer.h"
#include "scalar_checks.h"
#include "scalar_reference.h"

namespace iropt::generate {

namespace {

constexpr uint64_t kIterMapSeed = 37;

// Indices of loops that are split, fused, and reduced by constants, with and without conditions on them.
class IterMapCheck {
 public:
  explicit IterMapCheck(uint64_t index)
      : choices_(HashCombine(kIterMapSeed, index)),
        make_(arith::PrimBuilder(workspace_).Exact()),
        dtype_(choices_.OneIn(3) ? DataType::Int(64) : DataType::Int(32)) {}

  std::string Run() {
    MakeIterators();
    const int count = choices_.OneIn(2) ? 2 : 1;
    for (int i = 0; i < count; ++i) indices_.push_back(Index(1 + choices_.Below(4)));
    if (choices_.OneIn(3)) condition_ = Condition();
    AddPoints();
    CheckSimplified();
    CheckDetected();
    CheckEstimated();
    CheckInverse();
    CheckDivided();
    CheckNormalized();
    return failure_;
  }

 private:
  using Tuple = std::vector<Exact>;

  const PrimExpr* Constant(int64_t value) const { return make_.Int(value, dtype_); }
  int64_t Size() {
    static constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16};
    return choices_.Pick(kSizes);
  }

  void MakeIterators() {
    const int count = 1 + choices_.Below(3);
    for (int i = 0; i < count; ++i) {
      const tir::Var* var = workspace_.NewPrimVar(std::string(1, static_cast<char>('i' + i)), dtype_);
      const int64_t min = choices_.OneIn(6) ? choices_.Below(7) - 2 : 0;
      const int64_t extent = Size();
      iters_.insert_or_assign(var, tir::Range(Constant(min), Constant(extent)));
      order_.push_back({var, min, extent});
      if (extent == 1) units_.Set(var, min);
    }
  }

  const PrimExpr* Iterator() { return choices_.Pick(order_).var; }
  // All iterators, or some, as one.
  const PrimExpr* Fused() {
    const PrimExpr* sum = order_.front().var;
    for (size_t i = 1; i < order_.size(); ++i)
      sum = make_.Node(NodeKind::kAdd, make_.Node(NodeKind::kMul, sum, Constant(order_[i].extent)), order_[i].var);
    return sum;
  }
  const PrimExpr* Index(int depth) {
    if (depth <= 0) return choices_.OneIn(4) ? Fused() : Iterator();
    switch (choices_.Below(7)) {
      case 0: return make_.Node(NodeKind::kAdd, Index(depth - 1), Index(depth - 1));
      case 1: return make_.Node(NodeKind::kMul, Index(depth - 1), Constant(Size()));
      case 2:
        return make_.Node(NodeKind::kAdd, Index(depth - 1), Constant(choices_.Below(9) - (choices_.OneIn(3) ? 4 : 0)));
      case 3:
      case 4: return make_.Node(NodeKind::kFloorDiv, Index(depth - 1), Constant(Size()));
      default: return make_.Node(NodeKind::kFloorMod, Index(depth - 1), Constant(Size()));
    }
  }
  const PrimExpr* Condition() {
    if (choices_.OneIn(4)) return make_.Node(NodeKind::kAnd, Condition(), Condition());
    const NodeKind kinds[] = {NodeKind::kLT, NodeKind::kLT, NodeKind::kLE, NodeKind::kGE, NodeKind::kGT};
    const PrimExpr* index = choices_.OneIn(2) ? Fused() : Index(choices_.Below(3));
    return make_.Node(choices_.Pick(kinds), index, Constant(choices_.Below(40)));
  }

  // The values of the iterators for which the condition holds, or not, and the values of the indices.
  struct Point {
    Assignment at;
    bool holds;
    Tuple indices;
  };
  void AddPoints() {
    constexpr size_t kMost = 400;
    std::vector<Assignment> all(1);
    for (const auto& [var, min, extent] : order_) {
      std::vector<Assignment> longer;
      for (const Assignment& at : all) {
        for (int64_t i = 0; i < extent && longer.size() <= 4 * kMost; ++i) {
          longer.push_back(at);
          longer.back().Set(var, min + i);
        }
      }
      all = std::move(longer);
    }
    is_complete_ = all.size() <= kMost;
    if (!is_complete_) all.resize(kMost);
    for (const Assignment& at : all) {
      Point point{at, !condition_ || Value(condition_, at) != 0, {}};
      for (const PrimExpr* index : indices_) point.indices.push_back(Value(index, at));
      points_.push_back(std::move(point));
    }
  }

  Exact Value(const PrimExpr* e, const Assignment& at) {
    const auto value = ValueOf(e, at, Overflow::kWrapping);
    if (!value) Report(fmt::format("no value: {}", ScalarToString(e)));
    return value.value_or(0);
  }
  // A number of a result, which may name an iterator that has one value.
  Exact Number(const PrimExpr* e) { return Value(e, units_); }

  void Report(const std::string& text, const Point* point = nullptr) {
    if (!failure_.empty()) return;
    failure_ = "indices";
    for (const PrimExpr* index : indices_) failure_ += " " + ScalarToString(index);
    if (condition_) failure_ += " where " + ScalarToString(condition_);
    for (const auto& [var, min, extent] : order_)
      failure_ += fmt::format(", {} in [{}, {})", var->name, min, min + extent);
    failure_ += "\n  " + text;
    if (point) failure_ += " with " + point->at.ToString();
  }

  // ---- Comparisons

  void CompareAll(const char* what, const std::vector<const PrimExpr*>& exprs) {
    for (const Point& point : points_) {
      for (size_t i = 0; i < exprs.size() && point.holds; ++i) {
        if (ValueOf(exprs[i], point.at, Overflow::kWrapping) != point.indices[i])
          return Report(fmt::format("{}: {}", what, ScalarToString(exprs[i])), &point);
      }
    }
  }

  void CheckSimplified() {
    arith::Analyzer analyzer(make_);
    std::vector<const PrimExpr*> conditions;
    if (condition_) conditions.push_back(condition_);
    std::vector<const PrimExpr*> each;
    for (const PrimExpr* index : indices_) each.push_back(arith::SimplifyIterMap(index, iters_, conditions, analyzer));
    CompareAll("SimplifyIterMap", each);
    CompareAll("SimplifyIterMaps", arith::SimplifyIterMaps(indices_, iters_, condition_, choices_.OneIn(2), analyzer));
  }

  // The values of the indices, counted from their bases in steps of their scales.
  void CheckDetected() {
    arith::Analyzer analyzer(make_);
    const arith::IterMapLevel levels[] = {arith::IterMapLevel::kNoCheck, arith::IterMapLevel::kSurjective,
                                          arith::IterMapLevel::kBijective};
    for (const arith::IterMapLevel level : levels) {
      const arith::IterMapOptions options{.level = level, .simplify_trivial_iterators = choices_.OneIn(2)};
      const auto found = arith::DetectIterMap(indices_, iters_, condition_, options, analyzer);
      if (!found) continue;
      std::vector<const PrimExpr*> exprs;
      for (const arith::IterMapIndex& index : found->indices) exprs.push_back(index.expr);
      if (found->is_exact) CompareAll("DetectIterMap", exprs);
      // A condition may exclude values of indices that use some of its iterators only.
      if (level == arith::IterMapLevel::kNoCheck || !is_complete_ || !found->is_exact || condition_) continue;
      CheckSurjective(*found, level == arith::IterMapLevel::kBijective);
    }
  }

  void CheckSurjective(const arith::IterMapResult& found, bool is_bijective) {
    std::set<Tuple> steps;
    size_t count = 0;
    Exact expected = 1;
    for (const arith::IterMapIndex& index : found.indices) {
      if (!arith::AsInt(index.extent) || !arith::AsInt(index.base)) return;
      expected *= Number(index.extent);
    }
    for (const Point& point : points_) {
      ++count;
      Tuple step;
      for (size_t i = 0; i < point.indices.size(); ++i) {
        const arith::IterMapIndex& index = found.indices[i];
        const Exact offset = point.indices[i] - Number(index.base);
        const Exact scale = Number(index.scale);
        const bool is_step = scale != 0 && offset % scale == 0;
        step.push_back(is_step ? offset / scale : -1);
        if (step.back() < 0 || step.back() >= Number(index.extent))
          return Report("DetectIterMap: a value is not one of the steps", &point);
      }
      steps.insert(step);
    }
    if (static_cast<Exact>(steps.size()) != expected) return Report("DetectIterMap: values are left out");
    if (is_bijective && steps.size() != count) Report("DetectIterMap: values are taken twice");
  }

  // ---- Regions

  void CheckEstimated() {
    if (!is_complete_) return;
    arith::Analyzer analyzer(make_);
    std::vector<tir::Range> ranges;
    for (const PrimExpr* index : indices_) ranges.emplace_back(index, Constant(1 + choices_.Below(3)));
    std::vector<const tir::Range*> region;
    for (const tir::Range& range : ranges) region.push_back(&range);
    const std::set<Tuple> accessed = Accessed(ranges);
    if (accessed.empty()) return;
    if (const auto strict = arith::EstimateRegionStrictBound(region, iters_, condition_, analyzer))
      CompareBox("EstimateRegionStrictBound", *strict, accessed, /*is_strict=*/true);
    CompareBox("EstimateRegionUpperBound", arith::EstimateRegionUpperBound(region, iters_, condition_, analyzer),
               accessed, /*is_strict=*/false);
    if (ranges.size() != 1) return;
    if (const auto set = arith::EstimateIterMap(ranges[0], iters_, condition_, analyzer))
      CompareBox("EstimateIterMap", {*set}, accessed, /*is_strict=*/!condition_);
  }

  std::set<Tuple> Accessed(const std::vector<tir::Range>& ranges) {
    std::set<Tuple> accessed;
    for (const Point& point : points_) {
      if (!point.holds) continue;
      for (Exact i = 0; i < Number(ranges[0].extent); ++i) {
        if (ranges.size() == 1) accessed.insert({point.indices[0] + i});
        for (Exact j = 0; ranges.size() == 2 && j < Number(ranges[1].extent); ++j)
          accessed.insert({point.indices[0] + i, point.indices[1] + j});
      }
    }
    return accessed;
  }

  void CompareBox(const char* what, const std::vector<arith::IntervalSet>& box, const std::set<Tuple>& accessed,
                  bool is_strict) {
    std::vector<std::pair<Exact, Exact>> ends;
    Exact size = 1;
    for (const arith::IntervalSet& set : box) {
      if (!set.is_bounded()) return is_strict ? Report(fmt::format("{}: an unbounded set", what)) : void();
      ends.emplace_back(Number(set.min()), Number(set.max()));
      size *= ends.back().second - ends.back().first + 1;
    }
    for (const Tuple& element : accessed) {
      for (size_t i = 0; i < ends.size(); ++i) {
        if (element[i] < ends[i].first || element[i] > ends[i].second)
          return Report(fmt::format("{}: {} is not in [{}, {}]", what, ToString(element[i]), ToString(ends[i].first),
                                    ToString(ends[i].second)));
      }
    }
    if (is_strict && size != static_cast<Exact>(accessed.size()))
      Report(fmt::format("{}: {} of {} elements are accessed", what, accessed.size(), ToString(size)));
  }

  // ---- Inverses and divisions

  void CheckInverse() {
    if (condition_) return;
    arith::Analyzer analyzer(make_);
    std::vector<const tir::Var*> vars;
    std::vector<const PrimExpr*> outputs;
    for (size_t i = 0; i < indices_.size(); ++i) {
      vars.push_back(workspace_.NewPrimVar(fmt::format("out{}", i), dtype_));
      outputs.push_back(vars.back());
    }
    const auto values = arith::InverseIterMap(indices_, outputs, iters_, analyzer);
    if (!values) return;
    for (const Point& point : points_) {
      Assignment at;
      for (size_t i = 0; i < vars.size(); ++i) at.Set(vars[i], point.indices[i]);
      for (const auto& [var, min, extent] : order_) {
        const PrimExpr* const* found = values->Find(var);
        const PrimExpr* inverse = found ? *found : nullptr;
        if (!inverse || ValueOf(inverse, at, Overflow::kWrapping) != point.at.Find(var))
          return Report(
              fmt::format("InverseIterMap: {} is {}", var->name, inverse ? ScalarToString(inverse) : "missing"),
              &point);
      }
    }
  }

  void CheckDivided() {
    arith::Analyzer analyzer(make_);
    std::vector<const tir::Var*> inner;
    for (const Iter& iter : order_) {
      if (choices_.OneIn(2)) inner.push_back(iter.var);
    }
    const auto found = arith::DivideSubspace(indices_, iters_, inner, condition_, choices_.OneIn(2), analyzer);
    if (!found) return;
    for (const Point& point : points_) {
      const bool outer_holds = !found->outer_condition || Value(found->outer_condition, point.at) != 0;
      const bool inner_holds = !found->inner_condition || Value(found->inner_condition, point.at) != 0;
      if ((outer_holds && inner_holds) != point.holds) return Report("DivideSubspace: another condition", &point);
      for (size_t i = 0; i < indices_.size() && point.holds; ++i) {
        const auto& [outer_part, inner_part] = found->indices[i];
        const Exact sum =
            Value(outer_part.expr, point.at) * Value(inner_part.extent, point.at) + Value(inner_part.expr, point.at);
        if (sum != point.indices[i])
          return Report(fmt::format("DivideSubspace: {} * {} + {}", ScalarToString(outer_part.expr),
                                    ScalarToString(inner_part.extent), ScalarToString(inner_part.expr)),
                        &point);
      }
    }
  }

  void CheckNormalized() {
    arith::Analyzer analyzer(make_);
    const arith::IndexDigits digits = arith::NormalizeIndex(indices_[0], iters_, analyzer);
    const bool known = std::ranges::all_of(digits.digits, [](const auto& digit) { return digit.var != nullptr; });
    for (const Point& point : points_) {
      if (!known) return;
      Exact sum = Value(digits.base, point.at);
      for (const auto& digit : digits.digits) {
        const auto iter = std::ranges::find(order_, digit.var, &Iter::var);
        sum += (*point.at.Find(digit.var) - iter->min) / Number(digit.lower_factor) % Number(digit.extent) *
               Number(digit.scale);
      }
      if (sum != point.indices[0]) return Report("NormalizeIndex: another sum", &point);
    }
  }

  struct Iter {
    const tir::Var* var;
    int64_t min;
    int64_t extent;
  };
  Workspace workspace_;
  Choices choices_;
  arith::PrimBuilder make_;
  DataType dtype_;
  arith::IterRanges iters_;
  std::vector<Iter> order_;
  Assignment units_;  // of iterators that have one value
  std::vector<const PrimExpr*> indices_;
  const PrimExpr* condition_ = nullptr;
  std::vector<Point> points_;
  bool is_complete_ = true;
  std::string failure_;
};

}  // namespace

std::string CheckIterMap(uint64_t index) { return IterMapCheck(index).Run(); }

}  // namespace iropt::generate

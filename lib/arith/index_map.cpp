#include "iropt/arith/index_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/iter_map.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/context.h"
#include "iropt/support/stack.h"

namespace iropt::arith {

namespace {

// Part of a parameter: param // lower % extent.
struct Digit {
  size_t param = 0;
  int64_t lower = 1;
  const PrimExpr* extent = nullptr;  // of its values; may be symbolic for the highest digit
  bool is_highest = true;            // extent is what remains of the parameter, rounded up
  // The digit as a part of a result: result // scale, modulo the extent unless it is the first term.
  size_t result = 0;
  int64_t scale = 1;
  bool is_first = true;
};

class Inverter {
 public:
  Inverter(const IndexMapAttr& map, List<const PrimExpr*> dims) : map_(map), dims_(dims) {}

  // Null if the results are not sums of digits.
  const IndexMapAttr* Run() {
    if (map_.params.size() != dims_.size()) return nullptr;
    for (uint32_t i = 0; i < map_.results.size(); ++i) {
      if (!AddResult(map_.results[i], i)) return nullptr;
      const DataType dtype = map_.results[i]->dtype;
      axes_.push_back(IRContext::Current().NewSymVar(fmt::format("axis{}", i), dtype));
    }
    std::vector<const PrimExpr*> positions;
    for (size_t i = 0; i < dims_.size(); ++i) {
      const PrimExpr* position = PositionOf(i);
      if (!position) return nullptr;
      positions.push_back(position);
    }
    return IndexMapAttr::Get(axes_, positions);
  }

 private:
  std::optional<Digit> DigitOf(const PrimExpr* e) {
    if (const auto* var = As<tir::Var>(e)) {
      const auto param = std::ranges::find(map_.params, var);
      if (param == map_.params.end()) return std::nullopt;
      const auto index = static_cast<size_t>(param - map_.params.begin());
      return Digit{.param = index, .extent = make_.Cast(var->dtype, dims_[index])};
    }
    if (e->kind != NodeKind::kFloorDiv && e->kind != NodeKind::kFloorMod) return std::nullopt;
    const auto* binary = static_cast<const tir::BinaryExpr*>(e);
    const int64_t* by = AsInt(binary->b);
    std::optional<Digit> digit = WithStack([&] { return DigitOf(binary->a); });
    if (!digit || !by || *by <= 0) return std::nullopt;
    const int64_t* extent = AsInt(digit->extent);
    if (e->kind == NodeKind::kFloorMod) {
      // A remainder by more than there is changes nothing.
      if (extent && *extent <= *by) return digit;
      // The parts of a number that the divisor does not divide are not digits.
      if (!digit->is_highest && (!extent || *extent % *by != 0)) return std::nullopt;
      digit->extent = binary->b;
      digit->is_highest = false;
      return digit;
    }
    if (!digit->is_highest && (!extent || *extent % *by != 0)) return std::nullopt;
    if (__builtin_mul_overflow(digit->lower, *by, &digit->lower)) return std::nullopt;
    digit->extent = Simplify(make_.CeilDiv(digit->extent, binary->b));
    return digit;
  }

  // The terms of a sum; false if one is not a multiple of a digit.
  bool AddTerms(const PrimExpr* e, std::vector<Digit>& terms) {
    if (e->kind == NodeKind::kAdd) {
      const auto* sum = static_cast<const tir::BinaryExpr*>(e);
      return WithStack([&] { return AddTerms(sum->a, terms) && AddTerms(sum->b, terms); });
    }
    int64_t scale = 1;
    if (e->kind == NodeKind::kMul) {
      const auto* product = static_cast<const tir::BinaryExpr*>(e);
      const int64_t* factor = AsInt(product->b);
      if (!factor || *factor <= 0) return false;
      scale = *factor;
      e = product->a;
    }
    std::optional<Digit> digit = DigitOf(e);
    if (!digit) return false;
    digit->scale = scale;
    terms.push_back(*digit);
    return true;
  }

  bool AddResult(const PrimExpr* e, size_t index) {
    std::vector<Digit> terms;
    const int64_t* constant = AsInt(e);
    if (constant) return *constant == 0;
    if (!AddTerms(e, terms)) return false;
    std::ranges::sort(terms, std::ranges::greater(), &Digit::scale);
    int64_t scale = 1;
    for (size_t i = terms.size(); i-- > 0;) {
      if (terms[i].scale != scale) return false;
      terms[i].result = index;
      terms[i].is_first = i == 0;
      const int64_t* extent = AsInt(terms[i].extent);
      if (i > 0 && !extent) return false;
      if (i > 0 && __builtin_mul_overflow(scale, *extent, &scale)) return false;
    }
    digits_.insert(digits_.end(), terms.begin(), terms.end());
    return true;
  }

  const PrimExpr* ValueOf(const Digit& digit) {
    const PrimExpr* axis = axes_[digit.result];
    const PrimExpr* value = digit.scale == 1 ? axis : make_.FloorDiv(axis, make_.Const(digit.scale, axis->dtype));
    return digit.is_first ? value : make_.FloorMod(value, digit.extent);
  }

  // The position in the tensor along an axis; null if its digits do not make it up.
  const PrimExpr* PositionOf(size_t axis) {
    const DataType dtype = map_.params[axis]->dtype;
    std::vector<Digit> digits;
    // A digit of one value says nothing.
    std::ranges::copy_if(digits_, std::back_inserter(digits),
                         [&](const Digit& d) { return d.param == axis && !IsInt(d.extent, 1); });
    std::ranges::sort(digits, {}, &Digit::lower);
    if (digits.empty()) return IsInt(dims_[axis], 1) ? make_.Int(0, dtype) : nullptr;
    int64_t lower = 1;
    const PrimExpr* position = nullptr;
    for (const Digit& digit : digits) {
      if (digit.lower != lower) return nullptr;
      const PrimExpr* value = ValueOf(digit);
      if (lower != 1) value = make_.Mul(value, make_.Const(lower, dtype));
      position = position ? make_.Add(value, position) : value;
      const int64_t* extent = AsInt(digit.extent);
      const bool is_last = &digit == &digits.back();
      if (!is_last && !extent) return nullptr;
      if (!is_last && __builtin_mul_overflow(lower, *extent, &lower)) return nullptr;
    }
    return Covers(digits.back(), dims_[axis]) ? position : nullptr;
  }

  // Returns whether the digits up to the highest one hold all positions.
  bool Covers(const Digit& last, const PrimExpr* dim) {
    const PrimExpr* covered = make_.Mul(last.extent, make_.Const(last.lower, last.extent->dtype));
    if (ProveEqual(covered, make_.Cast(covered->dtype, dim))) return true;
    const int64_t* size = AsInt(dim);
    const int64_t* enough = AsInt(covered);
    return last.is_highest || (size && enough && *size <= *enough);
  }

  const IndexMapAttr& map_;
  const List<const PrimExpr*> dims_;
  const PrimBuilder make_;
  std::vector<Digit> digits_;
  std::vector<const tir::Var*> axes_;
};

// The inverse of a map whose results share the digits of the parameters in other ways, such as (i * 2 + j // 8) % 8.
const IndexMapAttr* InvertBijection(const IndexMapAttr& map, List<const PrimExpr*> dims) {
  if (map.params.size() != dims.size()) return nullptr;
  const PrimBuilder make;
  Analyzer analyzer(make);
  IterRanges iters;
  for (uint32_t i = 0; i < dims.size(); ++i) {
    const DataType dtype = map.params[i]->dtype;
    iters.insert_or_assign(map.params[i], tir::Range(make.Int(0, dtype), make.Cast(dtype, dims[i])));
  }
  // Positions that are not a result, such as that in front of i + 1, would be padding.
  const auto found = DetectIterMap(map.results.span(), iters, nullptr, {.level = IterMapLevel::kBijective}, analyzer);
  const auto is_dense = [](const IterMapIndex& index) { return IsInt(index.base, 0) && IsInt(index.scale, 1); };
  if (!found || !std::ranges::all_of(found->indices, is_dense)) return nullptr;
  std::vector<const tir::Var*> axes;
  for (uint32_t i = 0; i < map.results.size(); ++i)
    axes.push_back(IRContext::Current().NewSymVar(fmt::format("axis{}", i), map.results[i]->dtype));
  const std::vector<const PrimExpr*> outputs(axes.begin(), axes.end());
  const auto values = InverseIterMap(map.results.span(), outputs, iters, analyzer);
  if (!values) return nullptr;
  std::vector<const PrimExpr*> positions;
  for (const tir::Var* param : map.params) {
    const auto* value = values->Find(param);
    if (value == nullptr) return nullptr;
    positions.push_back(analyzer.Simplify(*value));
  }
  return IndexMapAttr::Get(axes, positions);
}

}  // namespace

const IndexMapAttr* InvertIndexMap(const IndexMapAttr& map, List<const PrimExpr*> dims) {
  if (map.inverse) return map.inverse;
  if (const IndexMapAttr* found = Inverter(map, dims).Run()) return found;
  return InvertBijection(map, dims);
}

}  // namespace iropt::arith

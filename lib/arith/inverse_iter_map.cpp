#include <algorithm>

#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/support/lookup.h"
#include "iter_map_rewriter.h"

namespace iropt::arith {
namespace {

class IterMapInverter {
 public:
  explicit IterMapInverter(Analyzer& analyzer) : analyzer_(analyzer), make_(analyzer.make()) {}

  // Gives values to the iterators of all sums. False if a sum has no digits to read off.
  bool Invert(std::span<const IterSum> sums, std::span<const PrimExpr* const> outputs) {
    for (const IterSum& sum : sums) Order(sum);
    bool ok = true;
    for (size_t i = 0; i < sums.size(); ++i) ok = ok && Read(sums[i], outputs[i]);
    // A sum that contains an iterator comes after it in the order, and gives it its value.
    for (auto mark = order_.rbegin(); ok && mark != order_.rend(); ++mark) {
      if (!(*mark)->expr) ok = Read((*mark)->sum, values_.at(*mark));
    }
    return ok;
  }

  // Null if the iterator does not occur.
  const PrimExpr* ValueOf(const IterMark* mark) const { return values_.Lookup(mark); }

 private:
  // Sums contain no more marks than the index has nodes.
  void Order(const IterSum& sum) {
    for (const IterSplit& arg : sum.args) {
      if (std::ranges::find(order_, arg.source) != order_.end()) continue;
      if (!arg.source->expr) Order(arg.source->sum);
      order_.push_back(arg.source);
    }
  }

  // The terms are the digits of the value, the outermost first.
  bool Read(const IterSum& sum, const PrimExpr* output) {
    const PrimExpr* value = make_.Sub(output, sum.base);
    if (sum.args.size() == 1) return ReadOnly(sum.args[0], value);
    if (!IsRowMajor(sum)) return false;
    for (size_t i = 0; i < sum.args.size(); ++i) {
      const IterSplit& arg = sum.args[i];
      const PrimExpr* digit = make_.FloorDiv(value, arg.scale);
      if (i > 0) digit = make_.FloorMod(digit, arg.extent);
      Add(arg, digit);
    }
    return true;
  }

  // Returns whether each digit is scaled by the number of values of those after it. A scale may be a variable, which is
  // then taken to be positive.
  bool IsRowMajor(const IterSum& sum) {
    const PrimExpr* expected = sum.args.empty() ? nullptr : sum.args.back().scale;
    for (size_t i = sum.args.size(); i > 0; --i) {
      const IterSplit& arg = sum.args[i - 1];
      const int64_t* constant = AsInt(arg.scale);
      if ((constant && *constant < 1) || !analyzer_.CanProveEqual(arg.scale, expected)) return false;
      expected = make_.Mul(expected, arg.extent);
    }
    return true;
  }

  // The value is the digit, or its negative.
  bool ReadOnly(const IterSplit& arg, const PrimExpr* value) {
    const PrimExpr* one = make_.Const(1, arg.scale->dtype);
    if (!analyzer_.CanProveEqual(arg.scale, one) &&
        !analyzer_.CanProveEqual(make_.Sub(make_.Const(0, one->dtype), arg.scale), one))
      return false;
    Add(arg, make_.Mul(value, arg.scale));
    return true;
  }

  void Add(const IterSplit& arg, const PrimExpr* digit) {
    const PrimExpr* part = make_.Mul(digit, arg.lower_factor);
    const auto [known, added] = values_.try_emplace(arg.source, part);
    if (!added) known = make_.Add(known, part);
  }

  Analyzer& analyzer_;
  const PrimBuilder& make_;
  std::vector<const IterMark*> order_;
  LookupMap<const IterMark*, const PrimExpr*> values_;
};

}  // namespace

std::optional<InverseOfIterMap> InverseIterMap(std::span<const PrimExpr* const> indices,
                                               std::span<const PrimExpr* const> outputs, const IterRanges& iters,
                                               IterMapOptions options, Analyzer& analyzer) {
  const IterRanges unconstrained;
  IterMapRewriter rewriter(iters, unconstrained, options, analyzer);
  const auto sums = rewriter.Rewrite(indices);
  if (!sums || !rewriter.is_exact() || !rewriter.AreIndependent(*sums)) return std::nullopt;
  IterMapInverter inverter(analyzer);
  if (!inverter.Invert(*sums, outputs)) return std::nullopt;
  InverseOfIterMap inverse{{}, rewriter.padding_predicate()};
  const bool is_complete = iters.AllOf([&](const tir::Var* var, const tir::Range& range) {
    const IterMark* mark = rewriter.MarkOf(var);
    const PrimExpr* from_zero = mark ? inverter.ValueOf(mark) : nullptr;
    if (!from_zero && !IsInt(range.extent, 1)) return false;
    inverse.values[var] =
        from_zero ? analyzer.make().Add(range.min, analyzer.make().Cast(var->dtype, from_zero)) : range.min;
    return true;
  });
  if (!is_complete) return std::nullopt;
  // Quotients of iterators that run once stay in the bases of the sums.
  Analyzer values(analyzer.make());
  iters.ForEachInAnyOrder([&](const tir::Var* var, const tir::Range& range) {
    if (IsInt(range.extent, 1)) values.Bind(var, range.min);
  });
  inverse.values.ForEachInAnyOrder([&](const tir::Var*, const PrimExpr*& value) {
    if (tir::UsesAnyOf(iters, value)) value = values.Simplify(value);
  });
  return inverse;
}

std::optional<tir::VarValues> InverseIterMap(std::span<const PrimExpr* const> indices,
                                             std::span<const PrimExpr* const> outputs, const IterRanges& iters,
                                             Analyzer& analyzer) {
  auto inverse = InverseIterMap(indices, outputs, iters, {.level = IterMapLevel::kBijective}, analyzer);
  if (!inverse) return std::nullopt;
  inverse->values.ForEachInAnyOrder([&](const tir::Var*, const PrimExpr*& value) { value = analyzer.Simplify(value); });
  return std::move(inverse->values);
}

}  // namespace iropt::arith

// Padding of iterators to multiples of divisors.
//
//   [(i + 10) // 32, ...], i in range(45)    -->    the values 10 to 54 of an iterator from 0 to 63
//
// Two rounds. The first one collects the divisors of each iterator, and the values that are missing before the first
// one. The second one replaces the iterator by a longer one, the same in all indices.

#include "iter_map_rewriter.h"

namespace iropt::arith {

namespace {

// symbol * factor; null for 1 as the symbol.
struct SymbolicProduct {
  const PrimExpr* symbol;
  int64_t factor;
};

SymbolicProduct ProductOf(const PrimExpr* e) {
  if (const int64_t* value = AsInt(e)) return {nullptr, *value};
  if (const auto* mul = As<tir::Mul>(e)) {
    if (const int64_t* factor = AsInt(mul->b)) return {mul->a, *factor};
    if (const int64_t* factor = AsInt(mul->a)) return {mul->b, *factor};
  }
  return {e, 1};
}

}  // namespace

// A common multiple, the least one as far as symbols can be compared.
const PrimExpr* IterMapRewriter::LeastCommonMultiple(const PrimExpr* a, const PrimExpr* b) {
  const SymbolicProduct x = ProductOf(a);
  const SymbolicProduct y = ProductOf(b);
  int64_t factor = ZeroAwareGcd(x.factor, y.factor);
  if (factor == 0 || __builtin_mul_overflow(x.factor / factor, y.factor, &factor)) {
    failed_ = true;
    return a;
  }
  const PrimExpr* symbol = x.symbol ? x.symbol : y.symbol;
  if (x.symbol && y.symbol && !IsDivisible(x.symbol, y.symbol)) {
    symbol = IsDivisible(y.symbol, x.symbol) ? y.symbol : make().Mul(x.symbol, y.symbol);
  }
  const PrimExpr* constant = make().Const(factor, a->dtype);
  return symbol ? make().Mul(symbol, constant) : constant;
}

std::optional<IterMapRewriter::PaddedSplit> IterMapRewriter::Pad(const IterSplit& split, const PrimExpr* base,
                                                                 const PrimExpr* divisor) {
  if (const int64_t* value = AsInt(divisor); value && *value <= 0) return std::nullopt;
  const PrimExpr* before = analyzer_.Simplify(make().FloorMod(base, divisor));
  if (is_first_round_) return NotePadding(split, before, divisor);
  auto* found = paddings_.Find(split.source);
  const bool needs_padding = found && !(IsInt(found->before, 0) && IsDivisible(split.source->extent, found->factor));
  if (!needs_padding) {
    is_exact_ &= Equal(before, make().Const(0, before->dtype));
    return PaddedSplit{split, before};
  }
  Padding& padding = *found;
  // The first division of an iterator is one of all of it.
  if (!IsInt(split.lower_factor, 1) || !IsDivisible(padding.factor, divisor)) return std::nullopt;
  if (!padding.padded) AddPaddedMark(split.source, padding);
  is_exact_ &= Equal(before, padding.before) || IsDivisible(make().Sub(base, padding.before), divisor);
  return PaddedSplit{{padding.padded, split.lower_factor, padding.padded->extent, split.scale}, padding.before};
}

IterMapRewriter::PaddedSplit IterMapRewriter::NotePadding(IterSplit split, const PrimExpr* before,
                                                          const PrimExpr* divisor) {
  const PrimExpr* zero = make().Const(0, before->dtype);
  const PrimExpr* end = make().Add(before, split.extent);
  const PrimExpr* after =
      IsDivisible(end, divisor) ? zero : analyzer_.Simplify(make().FloorMod(make().Sub(zero, end), divisor));
  Padding& padding = paddings_.try_emplace(split.source, Padding{make().Const(1, divisor->dtype), zero}).first;
  padding.factor = LeastCommonMultiple(padding.factor, make().Mul(divisor, split.lower_factor));
  if (IsInt(before, 0) && IsInt(after, 0)) return {split, zero};
  needs_padding_ = true;
  padding.before = make().Max(padding.before, make().Mul(before, split.lower_factor));
  split.extent = analyzer_.Simplify(make().Add(end, after));
  return {split, before};
}

void IterMapRewriter::AddPaddedMark(const IterMark* mark, Padding& padding) {
  const PrimExpr* zero = make().Const(0, mark->extent->dtype);
  const PrimExpr* one = make().Const(1, mark->extent->dtype);
  const PrimExpr* factor = padding.factor;
  const PrimExpr* end = make().Add(mark->extent, padding.before);
  padding.after = IsDivisible(end, factor) ? zero : make().FloorMod(make().Sub(zero, end), factor);
  IterMark& padded = marks_.emplace_back();
  padded.sum.args.push_back({mark, one, mark->extent, one});
  padded.sum.base = padding.before;
  padded.sum.has_iters = true;
  padded.extent = analyzer_.Simplify(make().Add(end, padding.after));
  padded.unpadded = mark;
  padding.padded = &padded;

  const PrimExpr* row = make().FloorDiv(ToExpr(padded.sum), factor);
  const PrimExpr* rest = make().FloorMod(ToExpr(padded.sum), factor);
  const auto all = [&](NodeKind kind, const PrimExpr* count, const PrimExpr* its_row, const PrimExpr* bound) {
    const PrimExpr* in_padding =
        make().Binary(NodeKind::kAnd, make().Binary(NodeKind::kEQ, row, its_row), make().Binary(kind, rest, bound));
    return make().Binary(NodeKind::kAnd, make().Binary(NodeKind::kNE, count, zero), in_padding);
  };
  const PrimExpr* is_before = all(NodeKind::kLT, padding.before, zero, padding.before);
  const PrimExpr* is_after =
      all(NodeKind::kGE, padding.after, make().FloorDiv(end, factor), make().FloorMod(end, factor));
  const PrimExpr* is_padding = make().Binary(NodeKind::kOr, is_before, is_after);
  padding_predicate_ = padding_predicate_ ? make().Binary(NodeKind::kOr, padding_predicate_, is_padding) : is_padding;
}

bool IterMapRewriter::ArePaddedDigits(const IterMark& mark, const std::vector<IterSplit>& splits,
                                      const PrimExpr* expected) {
  if (options_.level == IterMapLevel::kNoCheck) return true;
  const auto less = [&](const PrimExpr* a, const PrimExpr* b) {
    return analyzer_.CanProve(make().Binary(NodeKind::kLT, a, b));
  };
  if (!Equal(mark.extent, expected)) {
    // The values that are not padding run through all of the digits.
    return IsDivisible(mark.extent, expected) &&
           analyzer_.CanProve(make().Binary(NodeKind::kGE, mark.unpadded->extent, expected));
  }
  if (splits.size() != 1) return false;
  // Padding that is shorter than a step hides none of them.
  const Padding& padding = paddings_.at(mark.unpadded);
  const PrimExpr* step = splits[0].lower_factor;
  return Equal(padding.factor, step) || (less(padding.before, step) && less(padding.after, step));
}

}  // namespace iropt::arith

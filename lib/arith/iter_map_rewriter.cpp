#include "iter_map_rewriter.h"

#include <algorithm>

#include "iropt/ir/structural.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt::arith {

namespace {

bool SameTerm(const IterSplit& a, const IterSplit& b) {
  return a.source == b.source && DeepEqual(a.lower_factor, b.lower_factor) && DeepEqual(a.extent, b.extent);
}

bool SameSum(const IterSum& a, const IterSum& b) {
  return DeepEqual(a.base, b.base) && std::ranges::equal(a.args, b.args, [](const IterSplit& x, const IterSplit& y) {
           return SameTerm(x, y) && DeepEqual(x.scale, y.scale);
         });
}

// The terms of a sum that are not taken yet. Searches go from the last one to the first, and give null if there is
// none.
class OpenTerms {
 public:
  OpenTerms(const IterSum& sum, Analyzer& analyzer)
      : terms_(sum.args), taken_(terms_.size(), false), analyzer_(analyzer) {}

  bool IsOpen(const IterSplit& term) const { return !taken_[IndexOf(term)]; }
  void Take(const IterSplit& term) { taken_[IndexOf(term)] = true; }
  // The one with the smallest scale, of a source if that is not null.
  const IterSplit* FindBase(const IterMark* source) const;
  const IterSplit* FindScale(const PrimExpr* scale, const IterMark* source) const;
  // The one with the greatest scale that is not greater than this one.
  const IterSplit* FindSmallerScale(const PrimExpr* scale) const;

 private:
  size_t IndexOf(const IterSplit& term) const { return static_cast<size_t>(&term - terms_.data()); }
  bool IsCandidate(const IterSplit& term, const IterMark* source) const {
    return IsOpen(term) && (!source || term.source == source);
  }

  std::span<const IterSplit> terms_;
  std::vector<bool> taken_;
  Analyzer& analyzer_;
};

const IterSplit* OpenTerms::FindBase(const IterMark* source) const {
  const IterSplit* best = nullptr;
  for (size_t i = terms_.size(); i-- > 0;) {
    const IterSplit& term = terms_[i];
    const int64_t* scale = AsInt(term.scale);
    if (!scale || !IsCandidate(term, source)) continue;
    const int64_t least = best ? *AsInt(best->scale) : 0;
    if (!best || *scale < least || (*scale == least && IsInt(term.extent, 1) && !IsInt(best->extent, 1))) best = &term;
  }
  if (best) return best;
  // Without a constant scale, the one with the fewest factors.
  int fewest = 0;
  for (size_t i = terms_.size(); i-- > 0;) {
    const IterSplit& term = terms_[i];
    if (!IsCandidate(term, source)) continue;
    int factors = 1;
    for (const auto* mul = As<tir::Mul>(term.scale); mul; mul = As<tir::Mul>(mul->a)) ++factors;
    if (best && factors >= fewest) continue;
    best = &term;
    fewest = factors;
  }
  return best;
}

const IterSplit* OpenTerms::FindScale(const PrimExpr* scale, const IterMark* source) const {
  const IterSplit* found = nullptr;
  for (size_t i = terms_.size(); i-- > 0;) {
    const IterSplit& term = terms_[i];
    if (!IsCandidate(term, source) || !analyzer_.CanProveEqual(term.scale, scale)) continue;
    // Iterators that run once do not change the scale, so they come first.
    if (IsInt(term.extent, 1)) return &term;
    if (!found) found = &term;
  }
  return found;
}

const IterSplit* OpenTerms::FindSmallerScale(const PrimExpr* scale) const {
  const PrimBuilder& make = analyzer_.make();
  const IterSplit* found = nullptr;
  for (size_t i = terms_.size(); i-- > 0;) {
    const IterSplit& term = terms_[i];
    if (!IsOpen(term) || !analyzer_.CanProveGreaterEqual(make.Sub(scale, term.scale), 0) ||
        !analyzer_.CanProveGreaterEqual(term.scale, 0))
      continue;
    if (!found || analyzer_.CanProveLess(make.Sub(found->scale, term.scale), 0)) found = &term;
  }
  return found;
}

}  // namespace

// ---- Expressions to sums

std::optional<std::vector<IterSum>> IterMapRewriter::Rewrite(std::span<const PrimExpr* const> exprs) {
  const auto rewrite = [&]() -> std::optional<std::vector<IterSum>> {
    std::vector<IterSum> sums;
    for (const PrimExpr* expr : exprs) {
      std::optional<IterSum> sum = RewriteOne(expr);
      if (!sum) return std::nullopt;
      sums.push_back(*std::move(sum));
    }
    return sums;
  };
  if (options_.level == IterMapLevel::kBijective) return rewrite();
  is_first_round_ = true;
  auto sums = rewrite();
  is_first_round_ = false;
  return sums && needs_padding_ ? rewrite() : sums;
}

std::optional<IterSum> IterMapRewriter::RewriteOne(const PrimExpr* expr) {
  IterSum sum = Visit(expr);
  if (failed_) return std::nullopt;
  return sum.args.empty() ? std::optional(sum) : Fuse(std::move(sum), /*may_skip=*/true);
}

std::optional<IterSum> IterMapRewriter::RewriteToSum(const PrimExpr* expr) {
  IterSum sum = Visit(expr);
  if (failed_) return std::nullopt;
  if (sum.args.size() > 1) Combine(sum);
  return sum;
}

bool IterMapRewriter::UsesIter(const PrimExpr* expr) const { return tir::UsesAnyOf(iters_, expr); }

IterSum IterMapRewriter::Visit(const PrimExpr* expr) {
  return WithStack([&]() -> IterSum {
    if (failed_) return {{}, expr};
    const auto* binary = IsIndexType(expr->dtype) ? As<tir::BinaryExpr>(expr) : nullptr;
    switch (expr->kind) {
      case NodeKind::kPrimVar:
      case NodeKind::kSizeVar: return VisitVar(static_cast<const tir::Var*>(expr), expr);
      case NodeKind::kCast: {
        const auto* var = As<tir::Var>(static_cast<const tir::Cast*>(expr)->value);
        const bool widens = var && IsIndexType(var->dtype) && IsIndexType(expr->dtype) && iters_.contains(var) &&
                            expr->dtype.bits > var->dtype.bits;
        if (!widens) break;
        return VisitVar(var, expr);
      }
      case NodeKind::kAdd:
      case NodeKind::kSub:
        if (!binary) break;
        {
          IterSum sum = Visit(binary->a);
          Add(sum, Visit(binary->b), expr->kind);
          return sum;
        }
      case NodeKind::kMul:
        if (!binary) break;
        return VisitProduct(*binary);
      case NodeKind::kFloorDiv:
        if (!binary) break;
        return VisitQuotient(*binary, /*is_mod=*/false);
      case NodeKind::kFloorMod:
        if (!binary) break;
        return VisitQuotient(*binary, /*is_mod=*/true);
      default: break;
    }
    return UsesIter(expr) ? Fail(expr) : IterSum{{}, expr};
  });
}

IterSum IterMapRewriter::VisitVar(const tir::Var* var, const PrimExpr* value) {
  const auto* iter = iters_.Find(var);
  if (!iter) return {{}, value};
  const DataType dtype = value->dtype;
  // An iterator has one type.
  if (const auto* known = vars_.Find(var)) return known->base->dtype == dtype ? *known : Fail(value);
  const auto* constrained = constrained_.Find(var);
  const tir::Range& range = !constrained ? *iter : *constrained;
  const PrimExpr* min = make().Cast(dtype, range.min);
  const PrimExpr* extent = make().Cast(dtype, range.extent);
  const PrimExpr* one = make().Const(1, dtype);
  IterSum sum = {{}, min, /*has_iters=*/true};
  if (!options_.simplify_trivial_iterators || !IsInt(extent, 1)) {
    IterMark& mark = marks_.emplace_back();
    mark.expr = IsInt(min, 0) ? value : make().Sub(value, min);
    mark.extent = extent;
    sum.args.push_back({&mark, one, extent, one});
  }
  return vars_[var] = sum;
}

void IterMapRewriter::Add(IterSum& sum, const IterSum& other, NodeKind sign) {
  for (IterSplit term : other.args) {
    const auto same = std::ranges::find_if(sum.args, [&](const IterSplit& arg) { return SameTerm(arg, term); });
    if (same != sum.args.end()) {
      same->scale = make().Binary(sign, same->scale, term.scale);
    } else {
      term.scale = sign == NodeKind::kSub ? make().Sub(make().Const(0, term.scale->dtype), term.scale) : term.scale;
      sum.args.push_back(term);
    }
  }
  sum.base = make().Binary(sign, sum.base, other.base);
  sum.has_iters |= other.has_iters;
}

IterSum IterMapRewriter::VisitProduct(const tir::BinaryExpr& expr) {
  IterSum a = Visit(expr.a);
  IterSum b = Visit(expr.b);
  if (failed_ || (a.has_iters && b.has_iters)) return Fail(&expr);
  if (!a.has_iters && !b.has_iters) return {{}, make().Mul(a.base, b.base)};
  if (!a.has_iters) std::swap(a, b);
  if (IsInt(b.base, 0)) return b;
  for (IterSplit& term : a.args) term.scale = make().Mul(term.scale, b.base);
  a.base = make().Mul(a.base, b.base);
  return a;
}

IterSum IterMapRewriter::VisitQuotient(const tir::BinaryExpr& expr, bool is_mod) {
  IterSum a = Visit(expr.a);
  const IterSum b = Visit(expr.b);
  if (failed_ || b.has_iters) return Fail(&expr);
  if (!a.has_iters) return {{}, make().Binary(expr.kind, a.base, b.base)};
  if (a.args.empty()) return {{}, &expr};
  // A constraint makes an iterator of one that it bounds.
  const IterSum* constraint = a.args.size() == 1 ? FindConstraint(a.args[0]) : nullptr;
  if (a.args.size() > 1 || (constraint && constraint->args.size() == 1)) {
    std::optional<IterSum> fused = Fuse(std::move(a), /*may_skip=*/true);
    if (!fused) return Fail(&expr);
    a = std::move(*fused);
  }
  if (a.args.size() != 1) return Fail(&expr);
  return is_mod ? Modulo(a.args[0], a.base, b.base) : Divide(a.args[0], a.base, b.base);
}

IterSum IterMapRewriter::Divide(IterSplit split, const PrimExpr* base, const PrimExpr* divisor) {
  if (IsInt(divisor, 1)) return {{split}, base, true};
  const PrimExpr* one = make().Const(1, divisor->dtype);
  if (!IsInt(split.scale, 1)) {
    if (IsDivisible(split.scale, divisor) && IsDivisible(base, divisor)) {
      split.scale = make().FloorDiv(split.scale, divisor);
      return {{split}, make().FloorDiv(base, divisor), true};
    }
    if (!IsDivisible(divisor, split.scale) || !IsDivisible(base, split.scale)) return Fail(base);
    base = make().FloorDiv(base, split.scale);
    divisor = make().FloorDiv(divisor, split.scale);
    split.scale = one;
  }
  const std::optional<PaddedSplit> padded = Pad(split, base, divisor);
  if (!padded) return Fail(base);
  split = padded->split;
  if (IsDivisible(split.extent, divisor)) {
    split.lower_factor = make().Mul(split.lower_factor, divisor);
    split.extent = analyzer_.Simplify(make().FloorDiv(split.extent, divisor));
  } else {
    const bool is_whole = IsInt(split.lower_factor, 1) && Equal(split.extent, split.source->extent);
    if (!is_whole) split = {MarkOfSplit(split), one, split.extent, one};
    split.lower_factor = divisor;
    split.extent = analyzer_.Simplify(make().CeilDiv(split.extent, divisor));
  }
  return {{split}, analyzer_.Simplify(make().FloorDiv(make().Sub(base, padded->before), divisor), 6), true};
}

IterSum IterMapRewriter::Modulo(IterSplit split, const PrimExpr* base, const PrimExpr* divisor) {
  const PrimExpr* zero = make().Const(0, divisor->dtype);
  if (IsInt(divisor, 1)) return {{}, zero};
  const PrimExpr* one = make().Const(1, divisor->dtype);
  const PrimExpr* scale = split.scale;
  if (!IsInt(scale, 1)) {
    if (IsDivisible(scale, divisor) && IsDivisible(base, divisor)) return {{}, zero};
    if (!IsDivisible(divisor, scale) || !IsDivisible(base, scale)) return Fail(base);
    base = make().FloorDiv(base, scale);
    divisor = make().FloorDiv(divisor, scale);
    split.scale = one;
  }
  const std::optional<PaddedSplit> padded = Pad(split, base, divisor);
  if (!padded) return Fail(base);
  split = padded->split;
  // s // l % e % d is s // l % d if d divides e, or if s // l is always less than e.
  const bool is_last = Equal(make().Mul(split.lower_factor, split.extent), split.source->extent);
  if (!is_last && !IsDivisible(split.extent, divisor)) split = {MarkOfSplit(split), one, split.extent, one};
  split.extent = divisor;
  split.scale = scale;
  return {{split}, zero, true};
}

const IterMark* IterMapRewriter::MarkOfSplit(const IterSplit& split) {
  for (const IterMark& mark : marks_) {
    if (mark.is_split && SameTerm(mark.sum.args[0], split) && DeepEqual(mark.sum.args[0].scale, split.scale))
      return &mark;
  }
  IterMark& mark = marks_.emplace_back();
  mark.sum.args.push_back(split);
  mark.sum.base = make().Const(0, split.extent->dtype);
  mark.sum.has_iters = true;
  mark.extent = split.extent;
  mark.is_split = true;
  return &mark;
}

const PrimExpr* IterMapRewriter::Product(const PrimExpr* a, const PrimExpr* b) {
  const PrimExpr* product = make().Mul(a, b);
  return AsInt(product) ? product : analyzer_.Simplify(product);
}

bool IterMapRewriter::IsDivisible(const PrimExpr* a, const PrimExpr* b) {
  const int64_t* x = AsInt(a);
  const int64_t* y = AsInt(b);
  if (y && *y == 0) return false;
  if (x && y) return FoldIntegers(NodeKind::kMod, *x, *y) == 0;
  if (Equal(a, b)) return true;
  const PrimExpr* rest = make().FloorMod(a, b);
  return Equal(rest, make().Const(0, rest->dtype));
}

// ---- Sums to one iterator

bool IterMapRewriter::Combine(IterSum& sum) {
  LookupMap<const IterMark*, int> counts;
  for (const IterSplit& arg : sum.args) ++counts[arg.source];
  if (counts.size() == sum.args.size()) return false;
  OpenTerms terms(sum, analyzer_);
  std::vector<IterSplit> combined;  // from the last
  for (size_t i = sum.args.size(); i-- > 0;) {
    const IterSplit& last = sum.args[i];
    const IterMark* source = last.source;
    while (terms.IsOpen(last)) {
      const IterSplit& base = counts[source] == 1 ? last : *terms.FindBase(source);
      terms.Take(base);
      IterSplit low = base;
      while (counts[source] > 1) {
        const IterSplit* high = terms.FindScale(Product(low.extent, low.scale), source);
        if (!high || !Equal(high->lower_factor, Product(low.lower_factor, low.extent))) break;
        terms.Take(*high);
        low.extent = Product(high->extent, low.extent);
      }
      combined.push_back(low);
    }
  }
  sum.args.assign(combined.rbegin(), combined.rend());
  return true;
}

const IterSum* IterMapRewriter::FindConstraint(const IterSplit& split) const {
  const IterSum* longest = nullptr;
  for (const IterSum& constraint : constraints_) {
    if (SameTerm(split, constraint.args.back()) && (!longest || longest->args.size() < constraint.args.size()))
      longest = &constraint;
  }
  return longest;
}

IterMapRewriter::Fused* IterMapRewriter::FindFused(const IterSum& flat) {
  const auto found = std::ranges::find_if(fused_, [&](const Fused& fused) { return SameSum(fused.flat, flat); });
  return found == fused_.end() ? nullptr : &*found;
}

std::optional<IterSum> IterMapRewriter::Fuse(IterSum sum, bool may_skip) {
  if (Combine(sum) && sum.args.size() <= 1 && may_skip) return sum;
  OpenTerms terms(sum, analyzer_);
  const IterSplit* first = terms.FindBase(nullptr);
  if (!first) return std::nullopt;
  const PrimExpr* base_scale = first->scale;
  const PrimExpr* zero = make().Const(0, base_scale->dtype);
  const PrimExpr* extra_base = zero;
  const PrimExpr* tail = zero;
  const PrimExpr* expected = base_scale;
  // Of the current scale to that of the base, which nobody divides by: a symbolic one may be 0.
  const PrimExpr* ratio = make().Const(1, base_scale->dtype);
  std::vector<IterSplit> flat, grouped;  // innermost first
  for (size_t i = 0; i < sum.args.size();) {
    const IterSplit* arg = i == 0 ? first : terms.FindScale(expected, nullptr);
    const bool is_exact = arg != nullptr;
    if (!is_exact && options_.level != IterMapLevel::kBijective && IsInt(base_scale, 1))
      arg = terms.FindSmallerScale(expected);
    if (!arg) return std::nullopt;
    const PrimExpr* scale = is_exact ? expected : arg->scale;
    if (!is_exact) tail = make().Add(tail, make().Sub(expected, scale));
    if (!is_exact) ratio = scale;  // that of the base is 1
    if (const IterSum* constraint = FindConstraint(*arg)) {
      for (auto term = constraint->args.rbegin(); term != constraint->args.rend(); ++term) {
        const auto found = std::ranges::find_if(sum.args, [&](const IterSplit& own) {
          return terms.IsOpen(own) && SameTerm(own, *term) && Equal(make().Mul(term->scale, scale), own.scale);
        });
        if (found == sum.args.end()) return std::nullopt;
        terms.Take(*found);
        flat.push_back(*found);
      }
      const Fused* known = FindFused(*constraint);
      if (!known) return std::nullopt;
      const PrimExpr* one = make().Const(1, base_scale->dtype);
      grouped.push_back({known->mark, one, known->mark->extent, ratio});
      extra_base = make().Add(extra_base, make().Mul(known->offset, scale));
      expected = Product(known->mark->extent, scale);
      ratio = Product(known->mark->extent, ratio);
      i += constraint->args.size();
    } else {
      terms.Take(*arg);
      IterSplit term = *arg;
      term.scale = ratio;
      flat.push_back(term);
      grouped.push_back(term);
      expected = Product(arg->extent, scale);
      ratio = Product(arg->extent, ratio);
      ++i;
    }
  }
  const IterSum flat_form = {{flat.rbegin(), flat.rend()}, zero};
  const IterMark* mark = nullptr;
  if (const Fused* known = FindFused(flat_form)) {
    if (!Equal(extra_base, make().Mul(known->offset, base_scale))) return std::nullopt;
    mark = known->mark;
  } else {
    const PrimExpr* extent = make().Add(ratio, tail);
    IterMark& fused = marks_.emplace_back();
    fused.sum.args.assign(grouped.rbegin(), grouped.rend());
    fused.sum.base = zero;
    fused.sum.has_iters = true;
    fused.extent = extent;
    fused.flat = flat_form;
    mark = &fused;
    fused_.push_back({flat_form, mark, extra_base});
  }
  const PrimExpr* one = make().Const(1, base_scale->dtype);
  return IterSum{{{mark, one, mark->extent, base_scale}}, make().Add(sum.base, extra_base), true};
}

// ---- Constraints

bool IterMapRewriter::Constrain(const PrimExpr* expr, const PrimExpr* lower, const PrimExpr* upper) {
  IterSum sum = Visit(expr);
  if (failed_ || !is_exact_) return false;
  if (!IsInt(sum.base, 0)) {
    if (lower) lower = make().Sub(lower, sum.base);
    if (upper) upper = make().Sub(upper, sum.base);
    sum.base = make().Const(0, sum.base->dtype);
  }
  if (sum.args.empty()) {  // all of its iterators run once
    return (!lower || analyzer_.CanProve(make().Binary(NodeKind::kLE, lower, sum.base))) &&
           (!upper || analyzer_.CanProve(make().Binary(NodeKind::kLT, sum.base, upper)));
  }
  const std::optional<IterSum> fused = Fuse(std::move(sum), /*may_skip=*/false);
  if (!fused || fused->args.size() != 1 || !IsInt(fused->args[0].scale, 1)) return false;
  const IterMark& old = *fused->args[0].source;
  Fused* known = old.expr ? nullptr : FindFused(old.flat);
  if (!known) return false;
  const PrimExpr* min = known->offset;
  const PrimExpr* max = make().Add(min, old.extent);
  IterMark mark = old;
  if (lower) {
    const PrimExpr* raised = make().Max(lower, min);
    const PrimExpr* delta = make().Sub(raised, min);
    if (!IsInt(delta, 0)) mark.sum.base = make().Sub(mark.sum.base, delta);
    min = raised;
  }
  if (upper) {
    const bool is_less = analyzer_.CanProve(make().Binary(NodeKind::kLE, upper, max));
    max = is_less ? upper : make().Min(upper, max);
  }
  mark.extent = make().Sub(max, min);
  marks_.push_back(mark);
  known->mark = &marks_.back();
  known->offset = min;
  constraints_.push_back(mark.flat);
  return true;
}

bool IterMapRewriter::AreConstraintsNested() const {
  for (size_t i = 0; i < constraints_.size(); ++i) {
    for (size_t j = i + 1; j < constraints_.size(); ++j) {
      size_t common = 0;
      for (const IterSplit& term : constraints_[i].args) {
        common += std::ranges::any_of(constraints_[j].args, [&](const IterSplit& other) {
          return SameTerm(term, other) && DeepEqual(term.scale, other.scale);
        });
      }
      if (common != 0 && common != constraints_[i].args.size()) return false;
    }
  }
  return true;
}

// ---- Checks and results

std::vector<std::pair<const IterMark*, std::vector<IterSplit>>> IterMapRewriter::SplitsOf(
    std::span<const IterSum> sums) {
  std::vector<std::pair<const IterMark*, std::vector<IterSplit>>> splits;
  std::vector<const IterSum*> work;
  for (const IterSum& sum : sums) work.push_back(&sum);
  while (!work.empty()) {
    const IterSum* current = work.back();
    work.pop_back();
    for (const IterSplit& arg : current->args) {
      auto entry = std::ranges::find(splits, arg.source, [](const auto& item) { return item.first; });
      if (entry == splits.end()) {
        entry = splits.insert(splits.end(), {arg.source, {}});
        if (!arg.source->expr) work.push_back(&arg.source->sum);
      }
      entry->second.push_back(arg);
    }
  }
  return splits;
}

bool IterMapRewriter::AreIndependent(std::span<const IterSum> sums) {
  const auto splits = SplitsOf(sums);
  if (!std::ranges::all_of(splits, [&](const auto& item) { return AreDigits(*item.first, item.second); })) return false;
  if (options_.level != IterMapLevel::kBijective) return true;
  return iters_.AllOf([&](const tir::Var* var, const tir::Range& range) {
    const tir::Range* constrained = constrained_.Find(var);
    const IterMark* mark = MarkOf(var);
    return IsInt((constrained ? *constrained : range).extent, 1) ||
           std::ranges::any_of(splits, [&](const auto& item) { return item.first == mark; });
  });
}

namespace {

// Adds the iterators in the sums, and all that they are made of.
void AddMarks(std::span<const IterSum> sums, std::vector<const IterMark*>& marks) {
  for (const IterSum& sum : sums) {
    for (const IterSplit& arg : sum.args) {
      if (std::ranges::find(marks, arg.source) != marks.end()) continue;
      marks.push_back(arg.source);
      AddMarks(std::span(&arg.source->sum, 1), marks);
    }
  }
}

}  // namespace

bool IterMapRewriter::AreConstraintsUsed(std::span<const IterSum> sums) {
  std::vector<const IterMark*> used;
  AddMarks(sums, used);
  const auto occurs = [&](const IterMark* mark) { return std::ranges::find(used, mark) != used.end(); };
  return std::ranges::all_of(constraints_, [&](const IterSum& constraint) {
    std::vector<const IterMark*> constrained;
    AddMarks(std::span(&constraint, 1), constrained);
    const Fused* fused = FindFused(constraint);
    return (fused && occurs(fused->mark)) || std::ranges::none_of(constrained, occurs);
  });
}

// Each split begins where another one ends, or further out unless all digits are asked for, and the last one ends at a
// divisor of the extent, or at the extent.
bool IterMapRewriter::AreDigits(const IterMark& mark, const std::vector<IterSplit>& splits) {
  const bool all = options_.level == IterMapLevel::kBijective;
  const PrimExpr* expected = make().Const(1, mark.extent->dtype);
  for (std::vector<IterSplit> rest = splits; !rest.empty();) {
    auto next = std::ranges::find_if(rest, [&](const IterSplit& s) { return Equal(s.lower_factor, expected); });
    if (next == rest.end()) {
      if (all) return false;
      next = rest.begin();
      for (auto it = rest.begin(); it != rest.end(); ++it) {
        if (!IsDivisible(it->lower_factor, expected)) return false;
        if (IsDivisible(next->lower_factor, it->lower_factor)) next = it;
      }
    }
    expected = make().Mul(next->lower_factor, next->extent);
    rest.erase(next);
  }
  if (mark.unpadded) return !all && ArePaddedDigits(mark, splits, expected);
  return Equal(expected, mark.extent) || (!all && IsDivisible(mark.extent, expected));
}

const PrimExpr* IterMapRewriter::ToExpr(const IterSum& sum) {
  const PrimExpr* result = nullptr;
  for (const IterSplit& arg : sum.args) {
    const PrimExpr* term = ToExpr(arg);
    result = result ? make().Add(result, term) : term;
  }
  return result ? make().Add(result, sum.base) : sum.base;
}

const PrimExpr* IterMapRewriter::ToExpr(const IterSplit& split) {
  const IterMark& mark = *split.source;
  const PrimExpr* source = mark.expr ? mark.expr : WithStack([&] { return ToExpr(mark.sum); });
  const PrimExpr* end = make().Mul(split.lower_factor, split.extent);
  if (!AsInt(end) && make().version() >= TextVersion::kV0_24)
    end = analyzer_.CanonicalSimplify(make().Mul(split.extent, split.lower_factor));
  if (IsInt(split.lower_factor, 1) && Equal(split.extent, mark.extent)) return make().Mul(source, split.scale);
  if (Equal(mark.extent, end)) {
    if (IsInt(split.extent, 1) && !IsInt(mark.extent, 1)) return make().Const(0, split.extent->dtype);
    return make().Mul(make().FloorDiv(source, split.lower_factor), split.scale);
  }
  return make().Mul(make().FloorDiv(make().FloorMod(source, end), split.lower_factor), split.scale);
}

}  // namespace iropt::arith

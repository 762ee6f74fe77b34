#include <algorithm>

#include "iropt/ir/structural.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"
#include "simple_sum.h"
#include "simplifier.h"

namespace iropt::arith {
namespace {
// Not a modulus: coefficients are less.
constexpr int64_t kNoUpper = std::numeric_limits<int64_t>::max();
}  // namespace

// (index % upper // lower) * scale, with upper % lower == 0.
struct CanonicalSimplifier::Split {
  const PrimExpr* index;
  int64_t lower = 1;
  int64_t upper = kNoUpper;
  int64_t scale = 1;
  bool floor = false;  // how upper and lower round

  bool plain() const { return lower == 1 && upper == kNoUpper; }
  bool ModeFits(bool mode) const { return floor == mode || plain(); }
};

// base + the sum of the terms. Terms of one index are adjacent, those with larger lower factors first.
struct CanonicalSimplifier::Sum {
  DataType dtype;
  std::vector<Split> terms;
  int64_t base = 0;

  bool is_zero() const { return base == 0 && terms.empty(); }

  // For sums of many terms, the position of the first term of each index; valid for the given number of terms. A copy
  // of the sum makes its own when it needs it.
  struct Places {
    Places() = default;
    Places(const Places&) {}
    Places(Places&&) = default;
    Places& operator=(const Places&) { return *this = Places(); }
    Places& operator=(Places&&) = default;

    std::unique_ptr<LookupMap<const PrimExpr*, size_t>> by_index;  // by node
    size_t num_placed = 0;
  };
  mutable Places places = {};

  // The position of the first term of an index; the number of terms if there are none.
  size_t Find(const PrimExpr* index) const {
    constexpr size_t kMany = 32;
    // Variables are equal only to themselves, so they are found by their node.
    if (!tir::Var::ClassOf(index->kind) || terms.size() < kMany) {
      const auto it = std::ranges::find_if(terms, [&](const Split& s) { return DeepEqual(s.index, index); });
      return static_cast<size_t>(it - terms.begin());
    }
    if (!places.by_index || places.num_placed > terms.size()) {
      places.by_index = std::make_unique<LookupMap<const PrimExpr*, size_t>>();
      places.num_placed = 0;
    }
    size_t& i = places.num_placed;
    for (; i < terms.size(); ++i) places.by_index->try_emplace(terms[i].index, i);
    return places.by_index->Lookup(index, terms.size());
  }
  void Insert(size_t i, const Split& term) {
    if (i != terms.size()) places = {};
    terms.insert(terms.begin() + static_cast<ptrdiff_t>(i), term);
  }
};

struct CanonicalSimplifier::Form {
  std::variant<const PrimExpr*, Split, Sum> value;
  const Sum* sum() const { return std::get_if<Sum>(&value); }
};

// Cached forms of quotients and remainders. Dividing a sum needs the forms of its parts; in a chain of divisions the
// parts contain all previous divisions.
class CanonicalSimplifier::FormCache : public RememberedForms {
 public:
  struct Entry {
    size_t epoch;
    Form form;
  };
  LookupMap<std::pair<const PrimExpr*, uint32_t>, Entry> entries;
  // What remainders became, by dividend, divisor and rounding: a new expression would have no cached form.
  LookupMap<std::pair<const PrimExpr*, std::pair<int64_t, bool>>, const PrimExpr*> remainders;
};

CanonicalSimplifier::FormCache& CanonicalSimplifier::forms() {
  if (!memo()->forms) memo()->forms = std::make_unique<FormCache>();
  return static_cast<FormCache&>(*memo()->forms);
}

template <class F>
CanonicalSimplifier::Form CanonicalSimplifier::RememberForm(const PrimExpr* e, F&& compute) {
  if (!memo()) return compute();
  const std::pair<const PrimExpr*, uint32_t> key{memo()->KeyOf(e), Depths()};
  const auto* known = forms().entries.Find(key);
  if (known && known->epoch == Epoch()) return known->form;
  const size_t epoch = Epoch();
  Form form = compute();
  if (!overflow_ && Epoch() == epoch) forms().entries.insert_or_assign(key, FormCache::Entry{epoch, form});
  return form;
}

const PrimExpr* CanonicalSimplifier::Constant(int64_t value, DataType dtype) {
  overflow_ = overflow_ || !FitsIn(value, dtype);
  return make_.Const(value, dtype);
}

int64_t CanonicalSimplifier::Scale(int64_t a, int64_t b) {
  const auto r = CheckedMul(a, b);
  overflow_ = overflow_ || !r || *r == std::numeric_limits<int64_t>::min() || *r == kNoUpper;
  return overflow_ ? 0 : *r;
}

int64_t CanonicalSimplifier::Plus(int64_t a, int64_t b) {
  const auto r = CheckedAdd(a, b);
  overflow_ = overflow_ || !r || *r == std::numeric_limits<int64_t>::min();
  return overflow_ ? 0 : *r;
}

// ---- Back to expressions

const PrimExpr* CanonicalSimplifier::Remainder(const PrimExpr* e, int64_t divisor, bool floor) {
  const PrimExpr* constant = Constant(divisor, e->dtype);
  const PrimExpr* made = nullptr;
  const PrimExpr*& known = memo() ? forms().remainders[{memo()->KeyOf(e), {divisor, floor}}] : made;
  if (!known) known = make_.Binary(floor ? NodeKind::kFloorMod : NodeKind::kMod, e, constant);
  return known;
}

const PrimExpr* CanonicalSimplifier::Normal(const Split& s, int64_t scale) {
  const DataType dtype = s.index->dtype;
  if (s.scale == 0) return make_.Const(0, dtype);
  const PrimExpr* e = s.index;
  if (s.upper != kNoUpper) e = Remainder(e, s.upper, s.floor);
  if (s.lower != 1) e = make_.Binary(s.floor ? NodeKind::kFloorDiv : NodeKind::kDiv, e, Constant(s.lower, dtype));
  scale = Scale(s.scale, scale);
  return scale == 1 ? e : make_.Mul(e, Constant(scale, dtype));
}

namespace {

// Adds up the terms of one index that together are a quotient: (x // 6) * 6 + (x % 6 // 3) * 3 == (x // 3) * 3.
template <class Split, class PlusFn>
void MergeTerms(std::vector<Split>& terms, PlusFn plus) {
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].scale == 0) continue;
    for (size_t j = i + 1; j < terms.size(); ++j) {
      Split& a = terms[i];
      Split& b = terms[j];
      if (!DeepEqual(a.index, b.index) || a.upper < b.lower) break;
      if (!a.ModeFits(b.floor)) continue;
      if (a.upper == b.upper && a.lower == b.lower) {
        b.scale = plus(b.scale, a.scale);
        a.scale = 0;
      } else if (a.lower == b.upper && b.scale != 0 && a.scale % b.scale == 0 &&
                 a.lower / b.lower == a.scale / b.scale) {
        b.upper = a.upper;
        a.scale = 0;
        break;
      }
    }
  }
}

// The terms that are multiples of the divisor, and the rest.
template <class Sum>
std::pair<Sum, Sum> SeparateMultiples(const Sum& sum, int64_t divisor) {
  std::pair<Sum, Sum> parts{{.dtype = sum.dtype, .terms = {}, .base = 0}, {.dtype = sum.dtype, .terms = {}, .base = 0}};
  (sum.base % divisor == 0 ? parts.first : parts.second).base = sum.base;
  for (const auto& term : sum.terms) (term.scale % divisor == 0 ? parts.first : parts.second).terms.push_back(term);
  return parts;
}

}  // namespace

const PrimExpr* CanonicalSimplifier::Normal(const Sum& sum) {
  const PrimExpr* base = Constant(sum.base, sum.dtype);
  if (sum.terms.empty()) return base;
  std::vector<Split> terms = sum.terms;
  MergeTerms(terms, [this](int64_t a, int64_t b) { return Plus(a, b); });
  const auto precedes = [](const Split& a, const Split& b) {
    return std::tie(a.scale, a.lower, a.upper, a.floor) > std::tie(b.scale, b.lower, b.upper, b.floor);
  };
  // Most are in order; sorting allocates.
  if (!std::ranges::is_sorted(terms, precedes)) std::ranges::stable_sort(terms, precedes);
  // The least integer cannot be subtracted.
  const bool is_least = sum.base < 0 && !FitsIn(-sum.base, sum.dtype);
  const PrimExpr* e = is_least ? base : make_.Const(0, sum.dtype);
  for (const Split& term : terms) {
    if (term.scale > 0) e = make_.Add(e, Normal(term));
  }
  if (sum.base > 0) e = make_.Add(e, base);
  for (const Split& term : terms) {
    if (term.scale < 0)
      e = FitsIn(-term.scale, sum.dtype) ? make_.Sub(e, Normal(term, -1)) : make_.Add(e, Normal(term));
  }
  return sum.base < 0 && !is_least ? make_.Sub(e, make_.Const(-sum.base, sum.dtype)) : e;
}

const PrimExpr* CanonicalSimplifier::Normal(const Form& form) {
  if (const auto* plain = std::get_if<const PrimExpr*>(&form.value)) return *plain;
  if (const auto* split = std::get_if<Split>(&form.value)) return Normal(*split);
  return Normal(std::get<Sum>(form.value));
}

CanonicalSimplifier::Split CanonicalSimplifier::ToSplit(const PrimExpr* e) { return {.index = e}; }

CanonicalSimplifier::Split CanonicalSimplifier::ToSplit(const Sum& sum) {
  return sum.base == 0 && sum.terms.size() == 1 ? sum.terms[0] : ToSplit(Normal(sum));
}

CanonicalSimplifier::Split CanonicalSimplifier::ToSplit(const Form& form) {
  if (const auto* split = std::get_if<Split>(&form.value)) return *split;
  if (const Sum* sum = form.sum()) return ToSplit(*sum);
  return ToSplit(std::get<const PrimExpr*>(form.value));
}

CanonicalSimplifier::Sum CanonicalSimplifier::ToSum(const Form& form) {
  if (const Sum* sum = form.sum()) return *sum;
  if (const auto* plain = std::get_if<const PrimExpr*>(&form.value)) {
    if (const int64_t* value = AsInt(*plain)) {
      overflow_ = overflow_ || *value == std::numeric_limits<int64_t>::min();
      return {.dtype = (*plain)->dtype, .terms = {}, .base = *value};
    }
  }
  const Split split = ToSplit(form);
  Sum sum{.dtype = split.index->dtype, .terms = {}, .base = 0};
  sum.terms.reserve(4);
  sum.terms.push_back(split);
  return sum;
}

void CanonicalSimplifier::AddTo(Sum& sum, Split term, int64_t scale) {
  if (term.scale == 0) return;
  term.scale = Scale(term.scale, scale);
  size_t i = sum.Find(term.index);
  for (; i < sum.terms.size(); ++i) {
    Split& other = sum.terms[i];
    if (!DeepEqual(other.index, term.index) || term.lower > other.lower) break;
    if (term.lower == other.lower && term.upper == other.upper && term.ModeFits(other.floor)) {
      other.scale = Plus(other.scale, term.scale);
      return;
    }
  }
  sum.Insert(i, term);
}

// ---- From expressions

const PrimExpr* CanonicalSimplifier::Visit(const PrimExpr* e) {
  if (IsSimpleSum(e, analyzer_)) return e;
  return Remember(1, e, [&] {
    const bool outer_overflow = overflow_;
    overflow_ = false;
    const PrimExpr* result = Normal(Canonicalize(e));
    if (overflow_) result = e;
    overflow_ = outer_overflow;
    return result;
  });
}

CanonicalSimplifier::Form CanonicalSimplifier::Canonicalize(const PrimExpr* e) {
  if (IsStackLow()) [[unlikely]]
    return OnFreshStack([&] { return Canonicalize(e); });
  const auto* binary = As<tir::BinaryExpr>(e);
  const bool is_cast = e->kind == NodeKind::kCast && IsIndexType(e->dtype);
  if (is_cast || (e->kind == NodeKind::kLT && IsIndexType(binary->a->dtype))) {
    const auto canonicalize = [&] {
      return is_cast ? CanonicalizeCast(static_cast<const tir::Cast*>(e)) : Form{CanonicalizeLess(binary)};
    };
    return memo() && memo()->is_long() ? RememberForm(e, canonicalize) : canonicalize();
  }
  if (binary && IsIndexType(e->dtype)) {
    switch (e->kind) {
      case NodeKind::kAdd:
      case NodeKind::kSub: return AddSub(binary);
      case NodeKind::kMul: return Multiply(binary);
      case NodeKind::kDiv:
      case NodeKind::kFloorDiv: return RememberForm(e, [&] { return Divide(binary); });
      case NodeKind::kMod:
      case NodeKind::kFloorMod: return RememberForm(e, [&] { return Modulo(binary); });
      default: break;
    }
  }
  return {VisitByRules(e)};
}

CanonicalSimplifier::Form CanonicalSimplifier::AddSub(const tir::BinaryExpr* e) {
  Form a = Canonicalize(e->a);
  const Form b = Canonicalize(e->b);
  const auto* plain_a = std::get_if<const PrimExpr*>(&a.value);
  const auto* plain_b = std::get_if<const PrimExpr*>(&b.value);
  if (plain_a && plain_b) {
    if (const PrimExpr* folded = TryFold(e->kind, *plain_a, *plain_b, make_)) return {folded};
  }
  const int64_t sign = e->kind == NodeKind::kAdd ? 1 : -1;
  // Long sums grow term by term: the terms so far are not copied.
  Sum* grown = std::get_if<Sum>(&a.value);
  Sum sum = grown ? std::move(*grown) : ToSum(a);
  const auto* constant = plain_b ? AsInt(*plain_b) : nullptr;
  if (const Sum* other = b.sum()) {
    for (const Split& term : other->terms) AddTo(sum, term, sign);
    sum.base = Plus(sum.base, Scale(other->base, sign));
  } else if (constant) {
    sum.base = Plus(sum.base, Scale(*constant, sign));
  } else {
    AddTo(sum, ToSplit(b), sign);
  }
  return {std::move(sum)};
}

CanonicalSimplifier::Form CanonicalSimplifier::Multiply(const tir::BinaryExpr* e) {
  Form a = Canonicalize(e->a);
  Form b = Canonicalize(e->b);
  const auto constant = [](const Form& form) -> const int64_t* {
    const auto* plain = std::get_if<const PrimExpr*>(&form.value);
    return plain ? AsInt(*plain) : nullptr;
  };
  if (constant(a)) std::swap(a, b);
  if (const int64_t* factor = constant(b)) {
    if (constant(a)) {
      const auto* plain_a = std::get_if<const PrimExpr*>(&a.value);
      const PrimExpr* folded = TryFold(NodeKind::kMul, *plain_a, std::get<const PrimExpr*>(b.value), make_);
      overflow_ = overflow_ || !folded;
      return {folded ? folded : *plain_a};
    }
    if (*factor == 0 || *factor == 1) return *factor == 0 ? b : a;
    if (Sum* sum = std::get_if<Sum>(&a.value)) {
      for (Split& term : sum->terms) term.scale = Scale(term.scale, *factor);
      sum->base = Scale(sum->base, *factor);
      return a;
    }
    Split split = ToSplit(a);
    split.scale = Scale(split.scale, *factor);
    return {split};
  }
  // A product of symbolic factors: factors in order of occurrence, the constant last.
  const PrimExpr* product = make_.Const(1, e->dtype);
  int64_t factor = 1;
  const auto collect = [&](auto& self, const PrimExpr* x) -> void {
    if (const auto* mul = As<tir::Mul>(x)) {
      WithStack([&] { self(self, mul->a), self(self, mul->b); });
    } else if (const int64_t* value = AsInt(x)) {
      factor = Scale(factor, *value);
    } else {
      product = make_.Mul(product, x);
    }
  };
  const PrimExpr* left = Normal(a);
  const PrimExpr* right = Normal(b);
  collect(collect, left);
  collect(collect, right);
  if (factor != 1) product = make_.Mul(product, Constant(factor, e->dtype));
  return {DeepEqual(product, e) ? e : product};
}

// Converts a term to the rounding mode; a term that rounds the other way becomes the index of a new one.
CanonicalSimplifier::Split CanonicalSimplifier::WithMode(Split split, bool floor) {
  if (!split.ModeFits(floor)) split = ToSplit(Normal(split));
  split.floor = floor;
  return split;
}

CanonicalSimplifier::Split CanonicalSimplifier::DivideSplit(Split s, int64_t divisor, bool floor) {
  s = WithMode(s, floor);
  if (s.scale % divisor == 0) {
    s.scale /= divisor;
    return s;
  }
  // x * -1 // 2 == x // -2
  if (s.scale < 0 && s.plain() && divisor % s.scale == 0) {
    s.lower = divisor / s.scale;
    s.scale = 1;
    return s;
  }
  if (s.scale > 0 && divisor % s.scale == 0) {
    const int64_t lower = Scale(s.lower, divisor / s.scale);
    if (overflow_) return s;
    if (s.upper != kNoUpper && s.upper % lower != 0) {
      // Truncated remainders may be negative, but then are closer to zero than the divisor.
      if (s.upper <= lower) return ToSplit(make_.Const(0, s.index->dtype));
      s.index = Remainder(s.index, s.upper, floor);
      s.upper = kNoUpper;
    }
    s.scale = 1;
    s.lower = lower;
    return s;
  }
  Split whole = ToSplit(Normal(s));
  whole.lower = divisor;
  whole.floor = floor;
  return whole;
}

CanonicalSimplifier::Split CanonicalSimplifier::ModuloSplit(Split s, int64_t divisor, bool floor) {
  s = WithMode(s, floor);
  if (s.scale % divisor == 0) {
    s.scale = 0;
    return s;
  }
  // x * -1 % 2 == x % -2 * -1
  if (s.scale < 0 && s.plain() && divisor % s.scale == 0) {
    s.upper = divisor / s.scale;
    return s;
  }
  if (s.scale > 0 && divisor % s.scale == 0) {
    // (index % upper // lower) * scale % divisor == (index % upper % (lower * divisor // scale) // lower) * scale
    const int64_t upper = Scale(s.lower, divisor / s.scale);
    if (overflow_) return s;
    if (s.upper == kNoUpper || s.upper == upper) {
      s.upper = upper;
      return s;
    }
    if (s.upper % upper == 0) {
      Split updated = ToSplit(Visit(Remainder(s.index, upper, floor)));
      if (s.lower != 1) updated = DivideSplit(updated, s.lower, floor);
      updated.scale = Scale(updated.scale, s.scale);
      return updated;
    }
    if (upper % s.upper == 0) return s;
  }
  Split whole = ToSplit(Normal(s));
  whole.upper = divisor;
  whole.floor = floor;
  return whole;
}

CanonicalSimplifier::Form CanonicalSimplifier::DivideSum(const Sum& sum, int64_t divisor, bool floor) {
  auto [multiples, rest] = SeparateMultiples(sum, divisor);
  const bool splits =
      floor || rest.is_zero() ||
      (analyzer_.CanProveGreaterEqual(Normal(multiples), 0) && analyzer_.CanProveGreaterEqual(Normal(rest), 0));
  if (!splits) return {DivideSplit(ToSplit(sum), divisor, floor)};
  multiples.base /= divisor;
  for (Split& term : multiples.terms) term.scale /= divisor;
  if (rest.is_zero()) return {std::move(multiples)};
  const PrimExpr* remainder = Normal(rest);
  if (const int64_t* value = AsInt(remainder)) {
    multiples.base = Plus(multiples.base, FloorDivInt(*value, divisor));
    return {std::move(multiples)};
  }
  // The quotient of a remainder below the divisor is 0.
  if (CompareWith(remainder, divisor) != Order::kLess || !analyzer_.CanProveGreaterEqual(remainder, 0))
    AddTo(multiples, DivideSplit(ToSplit(remainder), divisor, floor), 1);
  return {std::move(multiples)};
}

CanonicalSimplifier::Form CanonicalSimplifier::Divide(const tir::BinaryExpr* e) {
  const bool floor = e->kind == NodeKind::kFloorDiv;
  Form a = Canonicalize(e->a);
  const PrimExpr* b = Normal(Canonicalize(e->b));
  const int64_t* divisor = AsInt(b);
  if (divisor && *divisor > 0) {
    if (const auto* plain = std::get_if<const PrimExpr*>(&a.value)) {
      if (const PrimExpr* folded = TryFold(e->kind, *plain, b, make_)) return {folded};
    }
    if (*divisor == 1) return a;
    if (const Sum* sum = a.sum()) return DivideSum(*sum, *divisor, floor);
    const IntBound bound = analyzer_.Bound(Normal(a));
    if (bound.min >= 0 && bound.max < *divisor) return {make_.Const(0, e->dtype)};
    return {DivideSplit(ToSplit(a), *divisor, floor)};
  }
  const PrimExpr* dividend = Normal(a);
  if (const PrimExpr* folded = TryFold(e->kind, dividend, b, make_)) return {folded};
  const PrimExpr* common;
  if (CancelFactors(dividend, b, common)) return {make_.Binary(e->kind, dividend, b)};
  return {dividend == e->a && b == e->b ? e : make_.Node(e->kind, dividend, b)};
}

// The remainder of a sum; nothing if the sum (with multiples of the divisor dropped where that is sound) continues as a
// single term.
std::optional<CanonicalSimplifier::Form> CanonicalSimplifier::ModuloSum(Sum& sum, int64_t divisor, bool floor) {
  auto [multiples, rest] = SeparateMultiples(sum, divisor);
  if (rest.is_zero()) return Form{make_.Const(0, sum.dtype)};
  const bool drops = floor || (analyzer_.CanProveGreaterEqual(Normal(multiples), 0) &&
                               analyzer_.CanProveGreaterEqual(Normal(rest), 0));
  if (drops) {
    const PrimExpr* remainder = Normal(rest);
    if (const int64_t* value = AsInt(remainder)) return Form{make_.Const(FloorModInt(*value, divisor), sum.dtype)};
    if (CompareWith(remainder, divisor) == Order::kLess && analyzer_.CanProveGreaterEqual(remainder, 0))
      return Form{remainder};
    sum = std::move(rest);
  }
  if (floor) {
    sum.base = FloorModInt(sum.base, divisor);
    return std::nullopt;
  }
  // A truncated remainder keeps its value under a shift by a multiple as long as no sign changes.
  const IntBound bound = analyzer_.Bound(Normal(sum));
  const int64_t base = sum.base % divisor;
  const auto shifted = CheckedAdd(bound.min, base - sum.base);
  if (bound.min >= 0 && shifted && *shifted >= 0) sum.base = base;
  return std::nullopt;
}

CanonicalSimplifier::Form CanonicalSimplifier::Modulo(const tir::BinaryExpr* e) {
  const bool floor = e->kind == NodeKind::kFloorMod;
  Form a = Canonicalize(e->a);
  const PrimExpr* b = Normal(Canonicalize(e->b));
  const int64_t* divisor = AsInt(b);
  if (divisor && *divisor > 0 && *divisor < kNoUpper) {
    if (const auto* plain = std::get_if<const PrimExpr*>(&a.value)) {
      if (const PrimExpr* folded = TryFold(e->kind, *plain, b, make_)) return {folded};
    }
    if (Sum* sum = std::get_if<Sum>(&a.value)) {
      if (auto result = ModuloSum(*sum, *divisor, floor)) return *std::move(result);
    } else {
      const IntBound bound = analyzer_.Bound(Normal(a));
      if (bound.min >= 0 && bound.max < *divisor) return a;
    }
    return {ModuloSplit(ToSplit(a), *divisor, floor)};
  }
  const PrimExpr* dividend = Normal(a);
  if (const PrimExpr* folded = TryFold(e->kind, dividend, b, make_)) return {folded};
  const PrimExpr* common;
  if (CancelFactors(dividend, b, common)) return {make_.Mul(make_.Binary(e->kind, dividend, b), common)};
  return {dividend == e->a && b == e->b ? e : make_.Node(e->kind, dividend, b)};
}

// ---- Casts are pushed down to the indices if no intermediate result can leave the narrower type.

bool CanonicalSimplifier::CastIsSafe(DataType dtype, const PrimExpr* value) {
  if (!IsIndexType(dtype)) return false;
  const IntBound range = IntBound::Everything(dtype);
  const IntBound bound = analyzer_.Bound(value);
  return value->dtype.bits <= dtype.bits || (bound.min >= range.min && bound.max <= range.max);
}

bool CanonicalSimplifier::CanPushCast(const Split& s, DataType dtype) {
  if (dtype.bits >= s.index->dtype.bits || s.scale == 0) return true;
  Split step{.index = s.index, .lower = 1, .upper = kNoUpper, .scale = 1, .floor = s.floor};
  if (!CastIsSafe(dtype, s.index)) return false;
  step.upper = s.upper;
  if (!CastIsSafe(dtype, Normal(step))) return false;
  step.lower = s.lower;
  return CastIsSafe(dtype, Normal(step)) && CastIsSafe(dtype, Normal(s));
}

bool CanonicalSimplifier::CanPushCast(const Sum& sum, DataType dtype) {
  if (dtype.bits >= sum.dtype.bits) return true;
  Sum prefix{.dtype = sum.dtype, .terms = {}, .base = 0};
  for (const Split& term : sum.terms) {
    prefix.terms.push_back(term);
    if (!CanPushCast(term, dtype) || !CastIsSafe(dtype, Normal(prefix))) return false;
  }
  return CastIsSafe(dtype, Normal(sum));
}

CanonicalSimplifier::Form CanonicalSimplifier::CanonicalizeCast(const tir::Cast* e) {
  Form value = Canonicalize(e->value);
  if (Sum* sum = std::get_if<Sum>(&value.value); sum && CanPushCast(*sum, e->dtype)) {
    for (Split& term : sum->terms) term.index = make_.Cast(e->dtype, term.index);
    sum->places = {};
    sum->dtype = e->dtype;
    return value;
  }
  if (Split* split = std::get_if<Split>(&value.value); split && CanPushCast(*split, e->dtype)) {
    split->index = make_.Cast(e->dtype, split->index);
    return value;
  }
  const PrimExpr* plain = Normal(value);
  return {Rewrite(plain == e->value ? e : make_.Keep(tir::Cast(e->dtype, plain)))};
}

// x * 8 + y < 16 is x < 2 if y is in [0, 8).
const PrimExpr* CanonicalSimplifier::CanonicalizeLess(const tir::BinaryExpr* e) {
  const Form form = Canonicalize(make_.Sub(e->a, e->b));
  const Sum* sum = form.sum();
  int64_t gcd = sum ? sum->base : 0;
  bool scaled = false;
  for (size_t i = 0; sum && i < sum->terms.size(); ++i) {
    const int64_t scale = sum->terms[i].scale;
    if (scale >= -1 && scale <= 1) continue;
    scaled = true;
    gcd = ZeroAwareGcd(gcd, scale);
  }
  if (!scaled || gcd <= 1) return VisitByRules(e);
  auto [multiples, rest] = SeparateMultiples(*sum, gcd);
  const PrimExpr* remainder = Normal(rest);
  const IntBound bound = analyzer_.Bound(analyzer_.RewriteSimplify(remainder));
  multiples.base /= gcd;
  for (Split& term : multiples.terms) term.scale /= gcd;
  const PrimExpr* zero = make_.Const(0, sum->dtype);
  if (bound.min >= 0 && bound.max < gcd) return VisitByRules(make_.Binary(NodeKind::kLT, Normal(multiples), zero));
  if (rest.base == 0 && rest.terms.size() == 1) {
    const Split& term = rest.terms[0];
    const int64_t lower = Scale(gcd, term.lower);
    if (!overflow_ && term.floor && term.scale == 1 && term.upper != kNoUpper && term.upper % lower == 0) {
      const PrimExpr* reduced = make_.FloorMod(make_.FloorDiv(term.index, make_.Const(lower, sum->dtype)),
                                               make_.Const(term.upper / lower, sum->dtype));
      return VisitByRules(make_.Binary(NodeKind::kLT, make_.Add(Normal(multiples), reduced), zero));
    }
  }
  return VisitByRules(e);
}

}  // namespace iropt::arith

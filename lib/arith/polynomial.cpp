#include "polynomial.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "iropt/ir/structural.h"
#include "iropt/support/stack.h"

namespace iropt::arith {

namespace {

// Beyond these nothing is proven: shapes have a handful of symbols, and expanding may square the number of terms.
constexpr size_t kMaxNodes = 512;
constexpr size_t kMaxPolynomialTerms = 256;
constexpr size_t kMaxAtoms = 64;
constexpr size_t kMaxDegree = 64;
// The depth to which atoms are compared by the polynomials within them.
constexpr int kMaxAtomDepth = 3;

}  // namespace

class Polynomial::Expander {
 public:
  // With a divisor, the result is equal up to its multiples.
  Expander(Polynomial& result, int depth, const PrimExpr* divisor = nullptr)
      : result_(result), depth_(depth), divisor_(divisor) {}

  // Adds the expression times `scale` to `terms`. False if it is too big.
  bool Add(const PrimExpr* e, int64_t scale, Terms& terms) {
    return WithStack([&] {
      // Every node adds a term or multiplies; expressions beyond the limit of work are given up.
      if (++nodes_ > kMaxNodes) return false;
      if (const int64_t* value = AsInt(e)) return AddTerm({}, *value, scale, terms);
      const auto* binary = As<tir::BinaryExpr>(e);
      switch (e->kind) {
        case NodeKind::kAdd: return Add(binary->a, scale, terms) && Add(binary->b, scale, terms);
        case NodeKind::kSub: {
          const auto negated = CheckedSub(0, scale);
          return negated && Add(binary->a, scale, terms) && Add(binary->b, *negated, terms);
        }
        case NodeKind::kMul: {
          Terms a;
          Terms b;
          return Add(binary->a, scale, a) && Add(binary->b, 1, b) && AddProducts(a, b, terms);
        }
        default: {
          const bool is_remainder = e->kind == NodeKind::kFloorMod || e->kind == NodeKind::kMod;
          if (divisor_ && is_remainder && DeepEqual(binary->b, divisor_)) return Add(binary->a, scale, terms);
          const auto atom = AtomOf(e);
          return atom && AddTerm({*atom}, 1, scale, terms);
        }
      }
    });
  }

 private:
  static bool AddTerm(Monomial monomial, int64_t a, int64_t b, Terms& terms) {
    const auto product = CheckedMul(a, b);
    if (!product) return false;
    const auto [it, added] = terms.emplace(std::move(monomial), 0);
    const auto sum = CheckedAdd(it->second, *product);
    if (!sum) return false;
    it->second = *sum;
    if (*sum == 0) terms.erase(it);
    return terms.size() <= kMaxPolynomialTerms;
  }

  static bool AddProducts(const Terms& a, const Terms& b, Terms& terms) {
    for (const auto& [left, x] : a) {
      for (const auto& [right, y] : b) {
        Monomial both;
        std::ranges::merge(left, right, std::back_inserter(both));
        if (both.size() > kMaxDegree || !AddTerm(std::move(both), x, y, terms)) return false;
      }
    }
    return true;
  }

  std::optional<uint32_t> AtomOf(const PrimExpr* e) {
    const auto it = std::ranges::find_if(result_.atoms_, [&](const PrimExpr* atom) { return AtomsEqual(atom, e); });
    if (it != result_.atoms_.end()) return static_cast<uint32_t>(it - result_.atoms_.begin());
    if (result_.atoms_.size() == kMaxAtoms) return std::nullopt;
    result_.atoms_.push_back(e);
    return static_cast<uint32_t>(result_.atoms_.size() - 1);
  }

  bool AtomsEqual(const PrimExpr* a, const PrimExpr* b) const {
    if (a->kind != b->kind || a->dtype != b->dtype) return false;
    if (DeepEqual(a, b)) return true;
    const auto* x = As<tir::BinaryExpr>(a);
    const auto* y = As<tir::BinaryExpr>(b);
    if (!x || !y || depth_ >= kMaxAtomDepth || !IsIndexType(x->a->dtype) || !IsIndexType(y->a->dtype)) return false;
    if (OperandsEqual(x->a, y->a) && OperandsEqual(x->b, y->b)) return true;
    const bool commutes = a->kind == NodeKind::kMin || a->kind == NodeKind::kMax;
    return commutes && OperandsEqual(x->a, y->b) && OperandsEqual(x->b, y->a);
  }

  bool OperandsEqual(const PrimExpr* a, const PrimExpr* b) const {
    if (DeepEqual(a, b)) return true;
    Polynomial difference;
    Expander expander(difference, depth_ + 1);
    Terms terms;
    return expander.Add(a, 1, terms) && expander.Add(b, -1, terms) && terms.empty();
  }

  Polynomial& result_;
  const int depth_;
  const PrimExpr* const divisor_;
  size_t nodes_ = 0;
};

std::optional<Polynomial> Polynomial::Difference(const PrimExpr* a, const PrimExpr* b) {
  Polynomial result;
  Expander expander(result, 0);
  Terms terms;
  if (!expander.Add(a, 1, terms) || !expander.Add(b, -1, terms)) return std::nullopt;
  result.terms_ = std::move(terms);
  return result;
}

bool Polynomial::IsMultiple(const PrimExpr* e, const PrimExpr* divisor) {
  Polynomial atoms;
  Terms terms;
  Terms factor;
  if (!Expander(atoms, 0, divisor).Add(e, 1, terms) || !Expander(atoms, 0).Add(divisor, 1, factor)) return false;
  if (factor.size() != 1) return false;
  const Monomial& monomial = factor.begin()->first;
  const int64_t scale = factor.begin()->second;
  return std::ranges::all_of(terms, [&](const auto& term) {
    // The remainder of the least integer by -1 does not exist.
    return std::ranges::includes(term.first, monomial) && (scale == -1 || term.second % scale == 0);
  });
}

std::optional<int64_t> Polynomial::AsConstant() const {
  if (terms_.empty()) return 0;
  const auto& [monomial, value] = *terms_.begin();
  return terms_.size() == 1 && monomial.empty() ? std::optional(value) : std::nullopt;
}

const PrimExpr* Polynomial::ToExpr(DataType dtype, const PrimBuilder& make) const {
  const PrimExpr* sum = make.Const(0, dtype);
  for (const auto& [monomial, scale] : terms_) {
    const PrimExpr* product = make.Const(1, dtype);
    for (const uint32_t atom : monomial) product = make.Mul(product, atoms_[atom]);
    const bool negative = scale < 0 && scale != std::numeric_limits<int64_t>::min();
    product = make.Mul(product, make.Const(negative ? -scale : scale, dtype));
    sum = negative ? make.Sub(sum, product) : make.Add(sum, product);
  }
  return sum;
}

}  // namespace iropt::arith

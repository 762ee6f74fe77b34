#include <algorithm>
#include <vector>

#include "iropt/ir/structural.h"
#include "iropt/support/stack.h"
#include "simplifier.h"

namespace iropt::arith {

// Drops the factors that the dividend shares with a symbolic divisor: (x * n) // (4 * n) == x // 4. For the remainder
// the common factor becomes the scale. False if they share none.
bool CanonicalSimplifier::CancelFactors(const PrimExpr*& a, const PrimExpr*& b, const PrimExpr*& common) {
  if (AsInt(b)) return false;
  std::vector<const PrimExpr*> a_factors;
  std::vector<const PrimExpr*> b_factors;
  int64_t a_scale = 1;
  int64_t b_scale = 1;
  const auto collect = [&](auto& self, const PrimExpr* x, std::vector<const PrimExpr*>& factors,
                           int64_t& scale) -> void {
    if (const auto* mul = As<tir::Mul>(x)) {
      WithStack([&] { self(self, mul->a, factors, scale), self(self, mul->b, factors, scale); });
    } else if (const int64_t* value = AsInt(x)) {
      scale = Scale(scale, *value);
    } else {
      factors.push_back(x);
    }
  };
  collect(collect, a, a_factors, a_scale);
  collect(collect, b, b_factors, b_scale);
  if (overflow_ || a_scale == 0 || b_scale == 0) return false;
  const DataType dtype = b->dtype;
  const PrimExpr* shared = make_.Const(1, dtype);
  const PrimExpr* new_b = shared;
  bool found = false;
  for (const PrimExpr* factor : b_factors) {
    const auto it =
        std::find_if(a_factors.begin(), a_factors.end(), [&](const PrimExpr* x) { return DeepEqual(x, factor); });
    if (it == a_factors.end()) {
      new_b = make_.Mul(new_b, factor);
      continue;
    }
    a_factors.erase(it);
    shared = make_.Mul(shared, factor);
    found = true;
  }
  const int64_t gcd = ZeroAwareGcd(a_scale, b_scale);
  if (!found && gcd == 1) return false;
  const PrimExpr* new_a = make_.Const(1, dtype);
  for (const PrimExpr* factor : a_factors) new_a = make_.Mul(new_a, factor);
  a = make_.Mul(new_a, Constant(a_scale / gcd, dtype));
  b = make_.Mul(new_b, Constant(b_scale / gcd, dtype));
  common = make_.Mul(shared, Constant(gcd, dtype));
  return true;
}

}  // namespace iropt::arith

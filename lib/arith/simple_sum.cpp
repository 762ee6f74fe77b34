#include "simple_sum.h"

#include <algorithm>
#include <array>

namespace iropt::arith {
namespace {

// A variable, or its product with a constant above 1. The variable of other expressions is null.
struct ScaledVar {
  explicit ScaledVar(const PrimExpr* e) {
    const auto* product = As<tir::Mul>(e);
    const int64_t* factor = product ? AsInt(product->b) : nullptr;
    if (product && (!factor || *factor <= 1)) return;
    var = As<tir::Var>(product ? product->a : e);
    scale = product ? *factor : 1;
  }

  const tir::Var* var = nullptr;
  int64_t scale = 0;
};

}  // namespace

bool IsSimpleSum(const PrimExpr* e, const Analyzer& analyzer) {
  constexpr size_t kMaxTerms = 8;
  if ((e->kind != NodeKind::kAdd && e->kind != NodeKind::kMul) || !IsIndexType(e->dtype)) return false;
  const auto* sum = As<tir::Add>(e);
  const int64_t* constant = sum ? AsInt(sum->b) : nullptr;
  if (constant && *constant <= 0) return false;
  const PrimExpr* rest = constant ? sum->a : e;
  std::array<const tir::Var*, kMaxTerms> vars;
  size_t count = 0;
  int64_t least = 1;
  const auto takes = [&](const ScaledVar& term) {
    const auto end = vars.begin() + count;
    if (!term.var || term.scale < least || count == kMaxTerms || std::find(vars.begin(), end, term.var) != end)
      return false;
    vars[count++] = term.var;
    least = term.scale;
    return analyzer.ValueOf(term.var) == nullptr;
  };
  while (const auto* add = As<tir::Add>(rest)) {
    if (!takes(ScaledVar(add->b))) return false;
    rest = add->a;
  }
  const ScaledVar first(rest);
  const bool has_common_factor = count == 1 && first.scale == least && least != 1;
  return !has_common_factor && takes(first);
}

}  // namespace iropt::arith

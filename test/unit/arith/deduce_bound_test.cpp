// The values of a variable for which a comparison holds.
#include "iropt/arith/deduce_bound.h"

#include <string>

#include "catch.h"
#include "expr_eval.h"
#include "iropt/ir/context.h"

namespace iropt::arith::test {
namespace {

class Bounds {
 protected:
  Bounds() : scope_(context_), n(context_.NewSymVar("n")), i(context_.NewSymVar("i")), j(context_.NewSymVar("j")) {}

  const PrimExpr* Int(int64_t value) const { return make.Int(value); }
  const PrimExpr* Compare(NodeKind kind, const PrimExpr* a, const PrimExpr* b) const { return make.Node(kind, a, b); }
  // Of i, for all values of j in [0, 3].
  IntervalSet Of(const PrimExpr* condition) {
    const VarDomains relax = {{j, IntervalSet::Interval(Int(0), Int(3))}};
    VarDomains hints = relax;
    hints.try_emplace(i, IntervalSet::Interval(Int(0), Int(100)));
    return DeduceBound(i, condition, hints, relax, analyzer);
  }
  // "min..max" of a set with constant ends.
  static std::string Ends(IntervalSet set) {
    if (set.is_nothing()) return "nothing";
    const auto show = [](const PrimExpr* end) { return end ? std::to_string(*AsInt(end)) : std::string(); };
    return show(set.min()) + ".." + show(set.max());
  }

  IRContext context_;
  IRContext::Scope scope_;
  PrimBuilder make;
  Analyzer analyzer{make, Analyzer::SymVars::kAny};
  const tir::Var* n;
  const tir::Var* i;
  const tir::Var* j;
};

}  // namespace

TEST_CASE_METHOD(Bounds, "the worst case of other variables decides", "[deduce_bound]") {
  const PrimExpr* index = make.Add(make.Mul(i, Int(4)), j);
  CHECK(Ends(Of(Compare(NodeKind::kLT, index, Int(30)))) == "..6");
  CHECK(Ends(Of(Compare(NodeKind::kGE, index, Int(30)))) == "8..");
  CHECK(Ends(Of(Compare(NodeKind::kGT, Int(30), index))) == "..6");
  CHECK(Ends(Of(Compare(NodeKind::kEQ, index, Int(30)))) == "nothing");
  CHECK(Ends(Of(Compare(NodeKind::kEQ, make.Add(i, Int(2)), Int(30)))) == "28..28");
}

TEST_CASE_METHOD(Bounds, "factors and divisors of either sign", "[deduce_bound]") {
  const std::vector<int64_t> factors = {-7, -6, -2, -1, 1, 2, 6, 7};
  for (const int64_t factor : factors) {
    for (int64_t bound = -20; bound <= 20; ++bound) {
      for (const bool divides : {false, true}) {
        const auto value = [&](int64_t x) {
          if (!divides) return x * factor;
          const int64_t quotient = x / factor;
          return quotient - (x % factor != 0 && (x % factor < 0) != (factor < 0) ? 1 : 0);
        };
        const PrimExpr* side = make.Binary(divides ? NodeKind::kFloorDiv : NodeKind::kMul, i, Int(factor));
        const IntervalSet set = Of(Compare(NodeKind::kLE, side, Int(bound)));
        REQUIRE_FALSE(set.is_nothing());
        for (int64_t x = -200; x <= 200; ++x) {
          const bool in_set = (!set.min() || *AsInt(set.min()) <= x) && (!set.max() || x <= *AsInt(set.max()));
          CHECK(in_set == (value(x) <= bound));
        }
      }
    }
  }
}

TEST_CASE_METHOD(Bounds, "no bound of two uses, unknown factors or other comparisons", "[deduce_bound]") {
  CHECK(Of(Compare(NodeKind::kLT, make.Add(make.Mul(i, i), n), Int(3))).is_nothing());
  CHECK(Of(Compare(NodeKind::kLT, make.Mul(i, n), Int(3))).is_nothing());
  CHECK(Of(Compare(NodeKind::kNE, i, Int(3))).is_nothing());
  CHECK(Of(Compare(NodeKind::kLT, make.FloorMod(i, Int(4)), Int(3))).is_nothing());
}

}  // namespace iropt::arith::test

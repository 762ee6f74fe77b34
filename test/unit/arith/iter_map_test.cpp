// Iterator maps: the forms of TVM's results, and random indices against brute force.
#include "iropt/arith/iter_map.h"

#include <algorithm>
#include <random>

#include "catch.h"
#include "expr_eval.h"
#include "iropt/ir/context.h"

namespace iropt::arith::test {
namespace {

class IterMaps {
 protected:
  IterMaps() : scope_(context_), i(context_.NewSymVar("i")), j(context_.NewSymVar("j")), k(context_.NewSymVar("k")) {}

  const PrimExpr* Int(int64_t value) const { return make.Int(value); }
  void Iterate(const tir::Var* var, int64_t min, int64_t extent) {
    iters.insert_or_assign(var, tir::Range(Int(min), Int(extent)));
  }
  // i * scale + j
  const PrimExpr* Fuse(const PrimExpr* outer, int64_t scale, const PrimExpr* inner) const {
    return make.Add(make.Mul(outer, Int(scale)), inner);
  }
  const PrimExpr* Less(const PrimExpr* a, int64_t b) const { return make.Node(NodeKind::kLT, a, Int(b)); }
  std::string Of(const PrimExpr* index, std::vector<const PrimExpr*> conditions = {}) {
    return Show(SimplifyIterMap(index, iters, conditions, analyzer));
  }

  IRContext context_;
  IRContext::Scope scope_;
  PrimBuilder make;
  Analyzer analyzer{make, Analyzer::SymVars::kAny};
  IterRanges iters;
  const tir::Var* i;
  const tir::Var* j;
  const tir::Var* k;
};

}  // namespace

TEST_CASE_METHOD(IterMaps, "digits of a fused iterator are joined") {
  Iterate(i, 0, 4);
  Iterate(j, 0, 8);
  const PrimExpr* fused = Fuse(i, 8, j);
  CHECK(Of(Fuse(make.FloorDiv(fused, Int(8)), 8, make.FloorMod(fused, Int(8)))) == "(i * 8) + j");
  CHECK(Of(Fuse(make.FloorDiv(fused, Int(4)), 4, make.FloorMod(fused, Int(4)))) == "(i * 8) + j");
  CHECK(Of(make.FloorMod(j, Int(4))) == "j % 4");
}

TEST_CASE_METHOD(IterMaps, "what a condition bounds stays together") {
  Iterate(i, 0, 4);
  Iterate(j, 0, 4);
  Iterate(k, 0, 5);
  const PrimExpr* inner = Fuse(j, 5, k);
  CHECK(Of(Fuse(i, 16, inner), {Less(inner, 16)}) == "(i * 16) + ((j * 5) + k)");
  CHECK(Of(Fuse(i, 4, make.Sub(j, Int(1))), {make.Node(NodeKind::kLE, Int(1), j)}) == "((i * 4) + j) + -1");
  CHECK(Of(Fuse(i, 3, make.Sub(j, Int(1))), {make.Node(NodeKind::kLE, Int(1), j)}) == "(i * 3) + (j - 1)");
}

TEST_CASE_METHOD(IterMaps, "indices that are not maps stay") {
  Iterate(i, 0, 4);
  Iterate(j, 0, 8);
  const PrimExpr* product = make.Mul(i, j);
  CHECK(SimplifyIterMap(product, iters, {}, analyzer) == product);
  const PrimExpr* overlap = Fuse(i, 4, j);
  CHECK(SimplifyIterMap(make.FloorDiv(overlap, Int(3)), iters, {}, analyzer) == make.FloorDiv(overlap, Int(3)));
}

TEST_CASE_METHOD(IterMaps, "random indices keep their values, and are within their ranges") {
  std::mt19937 random(7);
  const auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  const tir::Var* vars[] = {i, j, k};
  for (int round = 0; round < 3000; ++round) {
    int64_t mins[3], extents[3];
    for (int v = 0; v < 3; ++v) {
      mins[v] = pick(0, 3) == 0 ? pick(-2, 2) : 0;
      extents[v] = pick(1, 6);
      Iterate(vars[v], mins[v], extents[v]);
    }
    // Sums, and quotients and remainders of them.
    const auto sum = [&] {
      const int64_t inner = pick(0, 1) ? extents[2] : pick(1, 6);
      const int64_t outer = pick(0, 1) ? inner * extents[1] : pick(1, 24);
      return Fuse(i, outer, Fuse(j, inner, make.Add(k, Int(pick(-1, 1)))));
    };
    const PrimExpr* index = sum();
    const int64_t divisor = pick(0, 1) ? extents[2] : pick(1, 6);
    if (pick(0, 2) == 0) index = make.FloorDiv(index, Int(divisor));
    if (pick(0, 2) == 0) index = make.FloorMod(index, Int(pick(0, 1) ? extents[1] : pick(1, 6)));
    if (pick(0, 3) == 0) index = Fuse(index, pick(1, 4), make.FloorMod(sum(), Int(divisor)));
    std::vector<const PrimExpr*> conditions;
    if (pick(0, 1)) conditions.push_back(Less(Fuse(j, extents[2], k), pick(1, 20)));
    if (pick(0, 2) == 0) conditions.push_back(make.Node(NodeKind::kLE, Int(pick(-1, 2)), i));

    const PrimExpr* simplified = SimplifyIterMap(index, iters, conditions, analyzer);
    const PrimExpr* condition = nullptr;
    for (const PrimExpr* c : conditions) condition = condition ? make.Node(NodeKind::kAnd, condition, c) : c;
    const auto range = EstimateIterMap(tir::Range(index, Int(1)), iters, condition, analyzer);
    INFO(Show(index) << " became " << Show(simplified) << " where " << (condition ? Show(condition) : "True"));
    Env env;
    for (int64_t p = 0; p < extents[0] * extents[1] * extents[2]; ++p) {
      env[i] = mins[0] + p / (extents[1] * extents[2]);
      env[j] = mins[1] + p / extents[2] % extents[1];
      env[k] = mins[2] + p % extents[2];
      if (std::ranges::any_of(conditions, [&](const PrimExpr* c) { return Eval(c, env) == 0; })) continue;
      REQUIRE(Eval(index, env) == Eval(simplified, env));
      if (!range) continue;
      REQUIRE(*Eval(range->min(), env) <= *Eval(index, env));
      REQUIRE(*Eval(range->max(), env) >= *Eval(index, env));
    }
  }
}

}  // namespace iropt::arith::test

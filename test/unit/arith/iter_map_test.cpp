// Iterator maps: the forms of TVM's results, and random indices against brute force.
#include "iropt/arith/iter_map.h"

#include <algorithm>
#include <random>
#include <set>

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

TEST_CASE_METHOD(IterMaps, "sums of iterators become what they become where a condition holds always") {
  // Without conditions, row-major sums are recognized; with one, all are taken apart.
  const std::vector<const PrimExpr*> always = {make.Node(NodeKind::kLT, Int(0), Int(1))};
  for (int64_t code = 0; code < 4 * 4 * 4 * 5 * 5 * 3 * 3; ++code) {
    int64_t rest = code;
    const auto digit = [&](int64_t radix) {
      const int64_t value = rest % radix;
      rest /= radix;
      return value;
    };
    Iterate(i, digit(4) == 3 ? 1 : 0, 1 + digit(4));
    Iterate(j, 0, 1 + digit(4));
    Iterate(k, 0, 3);
    const int64_t outer = 1 + 3 * digit(5);
    const int64_t middle = 1 + digit(5);
    const PrimExpr* terms = make.Add(make.Mul(i, Int(outer)), make.Mul(j, Int(middle)));
    if (const int64_t inner = digit(3); inner > 0) terms = make.Add(terms, make.Mul(k, Int(inner)));
    const PrimExpr* index = make.Add(terms, Int(digit(3) - 1));
    CHECK(Of(index) == Of(index, always));
  }
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

TEST_CASE_METHOD(IterMaps, "iterators are padded to multiples of divisors") {
  Iterate(i, 0, 18);
  const std::vector<const PrimExpr*> digits = {make.FloorDiv(i, Int(4)), make.FloorMod(i, Int(4))};
  const auto detect = [&](IterMapLevel level) { return DetectIterMap(digits, iters, nullptr, {level}, analyzer); };
  CHECK_FALSE(detect(IterMapLevel::kBijective));
  CHECK_FALSE(detect(IterMapLevel::kSurjective));
  const auto found = detect(IterMapLevel::kNoCheck);
  REQUIRE(found);
  CHECK(found->is_exact);
  CHECK(IsInt(found->indices[0].extent, 5));
  CHECK(IsInt(found->indices[1].extent, 4));
  // Two of the five times four values are padding.
  REQUIRE(found->padding_predicate);
  for (int64_t value = 0; value < 20; ++value) {
    CHECK((Eval(found->padding_predicate, {{i, value}}) == 1) == (value >= 18));
  }
  Iterate(i, 0, 20);
  const auto whole = detect(IterMapLevel::kBijective);
  REQUIRE(whole);
  CHECK_FALSE(whole->padding_predicate);
}

TEST_CASE_METHOD(IterMaps, "random digits of padded iterators take exactly the values that are found") {
  std::mt19937 random(5);
  const auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  int num_found = 0;
  for (int round = 0; round < 2000; ++round) {
    const int64_t extent = pick(2, 60);
    Iterate(i, 0, extent);
    const auto digit = [&] {
      const PrimExpr* e = make.Add(i, Int(pick(0, 2) ? 0 : pick(0, 40)));
      if (pick(0, 1)) e = make.FloorDiv(e, Int(pick(2, 9)));
      if (pick(0, 2) == 0) e = make.FloorMod(e, Int(pick(2, 9)));
      return pick(0, 2) == 0 ? make.FloorDiv(e, Int(pick(2, 4))) : e;
    };
    const PrimExpr* indices[] = {digit(), digit()};
    const std::span<const PrimExpr* const> used = std::span(indices).first(pick(0, 1) ? 1 : 2);
    const auto found = DetectIterMap(used, iters, nullptr, {}, analyzer);
    if (!found) continue;
    ++num_found;
    for (size_t n = 0; n < used.size(); ++n) {
      const IterMapIndex& index = found->indices[n];
      INFO(Show(used[n]) << " became " << Show(index.expr) << " for i in range(" << extent << ")");
      std::set<int64_t> values, expected;
      for (int64_t value = 0; value < extent; ++value) {
        values.insert(*Eval(used[n], {{i, value}}));
        if (found->is_exact) REQUIRE(Eval(used[n], {{i, value}}) == Eval(index.expr, {{i, value}}));
      }
      if (!found->is_exact) continue;
      for (int64_t k = 0; k < *AsInt(index.extent); ++k) expected.insert(*AsInt(index.base) + k * *AsInt(index.scale));
      REQUIRE(values == expected);
    }
  }
  CHECK(num_found > 500);
}

TEST_CASE_METHOD(IterMaps, "the values of iterators from those of indices") {
  const tir::Var* outputs[] = {context_.NewSymVar("a"), context_.NewSymVar("b"), context_.NewSymVar("c")};
  const auto invert = [&](std::vector<const PrimExpr*> indices) {
    const std::vector<const PrimExpr*> out(outputs, outputs + indices.size());
    return InverseIterMap(indices, out, iters, analyzer);
  };
  Iterate(i, 0, 64);
  Iterate(j, 0, 64);
  Iterate(k, 5, 1);
  const auto div = [&](const PrimExpr* e, int64_t by) { return make.FloorDiv(e, Int(by)); };
  const auto mod = [&](const PrimExpr* e, int64_t by) { return make.FloorMod(e, Int(by)); };
  const auto found = invert({Fuse(mod(i, 16), 4, mod(j, 4)), div(i, 16), div(j, 4)});
  REQUIRE(found);
  const auto [a, b, c] = std::tuple{outputs[0], outputs[1], outputs[2]};
  CHECK(analyzer.CanProveEqual(found->at(i), Fuse(b, 16, div(a, 4))));
  CHECK(analyzer.CanProveEqual(found->at(j), Fuse(c, 4, mod(a, 4))));
  CHECK(IsInt(found->at(k), 5));
  CHECK_FALSE(invert({i}));
  CHECK_FALSE(invert({i, div(j, 2)}));
  CHECK_FALSE(invert({i, make.Add(i, j)}));
  CHECK(invert({make.Sub(Int(63), i), j, Int(7)}));
}

TEST_CASE_METHOD(IterMaps, "iterators may be cast to a wider type") {
  const tir::Var* n = context_.NewSymVar("n", DataType::Int(32));
  iters.insert_or_assign(n, tir::Range(make.Const(0, n->dtype), make.Const(8, n->dtype)));
  Iterate(j, 0, 4);
  const PrimExpr* wide = make.Cast(DataType::Int(64), n);
  const auto are_independent = [&](std::vector<const PrimExpr*> values) {
    return AreIndependentIterMaps(values, iters, nullptr, analyzer);
  };
  CHECK(are_independent({wide, j}));
  CHECK(are_independent({Fuse(j, 8, wide)}));
  // It is one iterator in both types.
  CHECK_FALSE(are_independent({wide, n}));
  const std::vector<const PrimExpr*> outputs = {context_.NewSymVar("a")};
  const PrimExpr* index = Fuse(j, 8, wide);
  const auto found = InverseIterMap(std::span(&index, 1), outputs, iters, analyzer);
  REQUIRE(found);
  CHECK(found->at(n)->dtype == n->dtype);
  CHECK(analyzer.CanProveEqual(found->at(j), make.FloorDiv(outputs[0], Int(8))));
}

TEST_CASE_METHOD(IterMaps, "random maps have inverses") {
  std::mt19937 random(21);
  const tir::Var* outputs[] = {context_.NewSymVar("a"), context_.NewSymVar("b"), context_.NewSymVar("c")};
  int inverted = 0;
  for (int round = 0; round < 1500; ++round) {
    const int64_t extents[] = {static_cast<int64_t>(4 * (1 + random() % 2)), static_cast<int64_t>(2 + random() % 3), 4};
    Iterate(i, 0, extents[0]);
    Iterate(j, static_cast<int64_t>(random() % 3), extents[1]);
    Iterate(k, 0, extents[2]);
    std::vector<const PrimExpr*> digits = {make.FloorDiv(i, Int(2)), make.FloorMod(i, Int(2)), j,
                                           make.FloorDiv(k, Int(2)), make.FloorMod(k, Int(2))};
    int64_t sizes[] = {extents[0] / 2, 2, extents[1], 2, 2};
    std::vector<size_t> order = {0, 1, 2, 3, 4};
    std::shuffle(order.begin(), order.end(), random);
    std::vector<const PrimExpr*> indices;
    for (size_t d = 0; d < order.size();) {
      const PrimExpr* index = digits[order[d]];
      for (++d; d < order.size() && random() % 2; ++d) index = Fuse(index, sizes[order[d]], digits[order[d]]);
      indices.push_back(index);
    }
    if (indices.size() > 3) continue;
    const std::vector<const PrimExpr*> out(outputs, outputs + indices.size());
    const auto found = InverseIterMap(indices, out, iters, analyzer);
    if (!found) continue;
    ++inverted;
    for (int64_t x = 0; x < extents[0]; ++x)
      for (int64_t y = 0; y < extents[1]; ++y)
        for (int64_t z = 0; z < extents[2]; ++z) {
          const int64_t begin = *AsInt(iters.at(j).min);
          Env env{{i, x}, {j, begin + y}, {k, z}};
          Env outer;
          for (size_t d = 0; d < indices.size(); ++d) outer[outputs[d]] = *Eval(indices[d], env);
          for (const tir::Var* var : {i, j, k}) CHECK(Eval(found->at(var), outer) == env.at(var));
        }
  }
  CHECK(inverted > 200);
}

}  // namespace iropt::arith::test

// Inverses of index maps, compared with brute force.
#include "iropt/arith/index_map.h"

#include <random>
#include <vector>

#include "catch.h"
#include "expr_eval.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/context.h"

namespace iropt::arith::test {
namespace {

class IndexMaps {
 protected:
  IndexMaps() : scope_(context_), i(context_.NewSymVar("i")), j(context_.NewSymVar("j")) {}

  const PrimExpr* Int(int64_t value) const { return make.Int(value); }
  const PrimExpr* Div(const PrimExpr* a, int64_t b) const { return make.FloorDiv(a, Int(b)); }
  const PrimExpr* Mod(const PrimExpr* a, int64_t b) const { return make.FloorMod(a, Int(b)); }
  const PrimExpr* Fuse(const PrimExpr* outer, int64_t scale, const PrimExpr* inner) const {
    return make.Add(make.Mul(outer, Int(scale)), inner);
  }

  const IndexMapAttr* Invert(std::vector<const PrimExpr*> results, std::vector<int64_t> dims) {
    const tir::Var* const params[] = {i, j};
    map_ = IndexMapAttr::Get(std::span(params).first(dims.size()), results);
    dims_.clear();
    for (const int64_t dim : dims) dims_.push_back(Int(dim));
    return InvertIndexMap(*map_, List<const PrimExpr*>(dims_.data(), dims_.size()));
  }

  static std::vector<int64_t> Apply(const IndexMapAttr& map, const std::vector<int64_t>& position) {
    Env values;
    for (uint32_t n = 0; n < map.params.size(); ++n) values[map.params[n]] = position[n];
    std::vector<int64_t> result;
    for (const PrimExpr* e : map.results) result.push_back(*Eval(e, values));
    return result;
  }

  // Returns whether the inverse maps every position of the tensor back.
  bool Undoes(const IndexMapAttr& inverse, std::vector<int64_t> dims) const {
    dims.resize(2, 1);
    const size_t rank = map_->params.size();
    for (int64_t a = 0; a < dims[0]; ++a) {
      for (int64_t b = 0; b < dims[1]; ++b) {
        std::vector<int64_t> position = {a, b};
        position.resize(rank);
        if (Apply(inverse, Apply(*map_, position)) != position) return false;
      }
    }
    return true;
  }

  IRContext context_;
  IRContext::Scope scope_;
  PrimBuilder make;
  const tir::Var* i;
  const tir::Var* j;
  const IndexMapAttr* map_ = nullptr;
  std::vector<const PrimExpr*> dims_;
};

}  // namespace

TEST_CASE_METHOD(IndexMaps, "maps made of digits have an inverse", "[index_map]") {
  struct Sample {
    std::vector<const PrimExpr*> results;
    std::vector<int64_t> dims;
  };
  const PrimExpr* fused = Fuse(i, 2, Div(j, 8));
  const Sample samples[] = {
      {{j, i}, {3, 4}},
      // The layout of a matrix in the registers of a warp.
      {{Mod(fused, 16), Fuse(Div(fused, 16), 8, Mod(j, 8))}, {16, 16}},
      {{Div(i, 4), Mod(i, 4)}, {16}},
      {{Div(i, 4), Mod(i, 4)}, {14}},
      {{Mod(i, 4), Div(i, 4)}, {3}},
      {{Fuse(i, 4, j)}, {6, 4}},
      {{Fuse(Mod(i, 2), 4, j), Div(i, 2)}, {6, 4}},
      {{Fuse(Mod(i, 2), 4, j), Div(i, 2)}, {5, 4}},
      {{Div(i, 8), Mod(Div(i, 2), 4), Mod(i, 2), j}, {24, 3}},
      {{Div(Mod(i, 8), 2), Div(i, 8), Mod(i, 2), j}, {20, 3}},
      {{j, Int(0)}, {1, 4}},
  };
  for (const Sample& sample : samples) {
    const IndexMapAttr* inverse = Invert(sample.results, sample.dims);
    REQUIRE(inverse);
    CHECK(Undoes(*inverse, sample.dims));
  }
}

TEST_CASE_METHOD(IndexMaps, "other maps have none", "[index_map]") {
  CHECK_FALSE(Invert({Div(i, 4)}, {16}));
  CHECK_FALSE(Invert({Mod(i, 4), Mod(i, 4)}, {16}));
  CHECK_FALSE(Invert({Div(i, 4), Mod(i, 2)}, {16}));
  CHECK_FALSE(Invert({Fuse(i, 3, j)}, {6, 4}));
  CHECK_FALSE(Invert({Fuse(i, 8, j)}, {6, 4}));
  CHECK_FALSE(Invert({make.Add(i, Int(1))}, {16}));
  CHECK_FALSE(Invert({i}, {6, 4}));
  CHECK_FALSE(Invert({i, j, make.Mul(i, j)}, {6, 4}));
  // The remainders modulo 6 are not made of digits of 4 values.
  CHECK_FALSE(Invert({Div(i, 4), Mod(Mod(i, 6), 4)}, {24}));
  CHECK_FALSE(Invert({Div(i, 8), Div(Mod(i, 6), 4), Mod(i, 4)}, {24}));
  CHECK(Invert({Div(i, 8), Div(Mod(i, 8), 4), Mod(Mod(i, 8), 4)}, {24}));
  CHECK_FALSE(Invert({Div(Div(i, 3), 2), Mod(Mod(i, 6), 4), Mod(i, 2)}, {24}));
  CHECK_FALSE(Invert({Div(i, 6), Div(Mod(i, 6), 4), Mod(i, 4)}, {12}));
}

TEST_CASE_METHOD(IndexMaps, "inverses of random maps undo them", "[index_map]") {
  std::mt19937 random(1);
  const auto below = [&](int64_t end) { return static_cast<int64_t>(random() % end); };
  constexpr int64_t kDivisors[] = {1, 2, 3, 4, 6};
  int inverses = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::vector<int64_t> dims = {1 + below(24), 1 + below(3)};
    std::vector<const PrimExpr*> results;
    const auto part = [&] {
      const PrimExpr* e = below(3) == 0 ? static_cast<const PrimExpr*>(j) : i;
      for (int64_t steps = below(3); steps > 0; --steps) {
        const int64_t by = kDivisors[below(5)];
        e = below(2) == 0 ? Div(e, by) : Mod(e, by);
      }
      return e;
    };
    for (int64_t left = 1 + below(4); left > 0; --left)
      results.push_back(below(4) == 0 ? Fuse(part(), kDivisors[below(5)], part()) : part());
    const IndexMapAttr* inverse = Invert(results, dims);
    if (!inverse) continue;
    ++inverses;
    CHECK(Undoes(*inverse, dims));
  }
  CHECK(inverses > 50);
}

TEST_CASE_METHOD(IndexMaps, "the inverse that a map states is taken", "[index_map]") {
  const tir::Var* const params[] = {i};
  const PrimExpr* const same[] = {i};
  const PrimExpr* const sum[] = {make.Add(i, Int(1))};
  const IndexMapAttr* stated = IndexMapAttr::Get(params, same);
  const IndexMapAttr* map = IndexMapAttr::Get(params, sum, stated);
  const PrimExpr* const dims[] = {Int(4)};
  const IndexMapAttr* inverse = InvertIndexMap(*map, List<const PrimExpr*>(dims, 1));
  CHECK(inverse == stated);
}

}  // namespace iropt::arith::test

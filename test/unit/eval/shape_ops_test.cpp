// Operators that make, move and select elements.
#include <algorithm>
#include <functional>
#include <numeric>

#include "eval_test_util.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

namespace {

// The element of a row-major tensor at an index.
double At(const NDArray& tensor, const Dims& index) {
  int64_t place = 0;
  for (size_t d = 0; d < index.size(); ++d) {
    REQUIRE((index[d] >= 0 && index[d] < tensor.shape()[d]));
    place = place * tensor.shape()[d] + index[d];
  }
  return Elements(tensor)[static_cast<size_t>(place)];
}

// Calls f(index) for every index of the shape.
void ForEachIndex(const Dims& shape, const std::function<void(const Dims&)>& f) {
  const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  for (int64_t i = 0; i < count; ++i) {
    Dims index(shape.size());
    int64_t rest = i;
    for (size_t d = shape.size(); d-- > 0;) {
      index[d] = rest % shape[d];
      rest /= shape[d];
    }
    f(index);
  }
}

// Checks a result element by element: `source` maps an index of the result to that of the operand.
void CheckMoved(const Tensor& result, const Dims& shape, const Tensor& x,
                const std::function<Dims(const Dims&)>& source) {
  REQUIRE(ShapeOf(*result) == shape);
  REQUIRE(result->dtype() == x->dtype());
  ForEachIndex(shape, [&](const Dims& index) { REQUIRE(At(*result, index) == At(*x, source(index))); });
}

}  // namespace

TEST_CASE("create: fills", "[eval]") {
  const auto attrs = [](DataType dtype) { return Attrs({{"dtype", DTypeAttr::Get(dtype)}}); };
  for (DataType dtype : NumberTypes()) {
    const Tensor zeros = Run("zeros", {ShapeValue{2, 3}}, attrs(dtype));
    CHECK(zeros->dtype() == dtype);
    CHECK(Elements(*zeros) == std::vector<double>(6, 0));
    CHECK(Values("ones", {ShapeValue{4}}, attrs(dtype)) == std::vector<double>(4, 1));
    CHECK(Values("full", {ShapeValue{2}, I32({}, {7})}, attrs(dtype)) == std::vector<double>(2, 7));
  }
  CHECK(Run("full", {ShapeValue{}, F32({}, {7})}, attrs(DataType::Void()))->dtype() == DataType::Float(32));
  CHECK(Elements(*Run("full_like", {I32({2}, {1, 2}), F32({}, {3.5})})) == std::vector<double>{3, 3});
  CHECK(Run("ones_like", {I32({0, 2}, {})})->shape().size() == 2);
  CHECK(Run("zeros_like", {I32({2}, {1, 2})}, attrs(DataType::Float(16)))->dtype() == DataType::Float(16));
  CHECK_FALSE(Try("full", {ShapeValue{2}, F32({}, {300})}, attrs(DataType::UInt(8))).ok());
  CHECK_FALSE(Try("zeros", {ShapeValue{-1}}, attrs(DataType::Int(8))).ok());
  CHECK_FALSE(Try("zeros", {ShapeValue{int64_t{1} << 40, int64_t{1} << 40}}, attrs(DataType::Int(8))).ok());
}

TEST_CASE("create: ranges", "[eval]") {
  const auto range = [](Scalar start, Scalar end, Scalar step, DataType dtype) {
    return Values("arange", {start, end, step}, Attrs({{"dtype", DTypeAttr::Get(dtype)}}));
  };
  const DataType i64 = DataType::Int(64);
  CHECK(range(Scalar::Int(0), Scalar::Int(5), Scalar::Int(2), i64) == std::vector<double>{0, 2, 4});
  CHECK(range(Scalar::Int(5), Scalar::Int(0), Scalar::Int(-2), i64) == std::vector<double>{5, 3, 1});
  CHECK(range(Scalar::Int(5), Scalar::Int(0), Scalar::Int(1), i64).empty());
  CHECK(range(Scalar::Int(1), Scalar::Int(3), Scalar::Float(0.5), DataType::Float(32)) ==
        std::vector<double>{1, 1.5, 2, 2.5});
  CHECK_FALSE(Try("arange", {Scalar::Int(0), Scalar::Int(5), Scalar::Int(0)}).ok());
  CHECK_FALSE(Try("arange", {Scalar::Int(INT64_MIN), Scalar::Int(INT64_MAX), Scalar::Int(1)}).ok());
}

TEST_CASE("create: triangles", "[eval]") {
  const Tensor x = I32({2, 3, 4}, Iota(24, 1));
  for (const int64_t k : {-3, -1, 0, 2, 5}) {
    const Tensor lower = Run("tril", {x, Scalar::Int(k)});
    const Tensor upper = Run("triu", {x, Scalar::Int(k)});
    ForEachIndex({2, 3, 4}, [&](const Dims& i) {
      CHECK(At(*lower, i) == (i[2] <= i[1] + k ? At(*x, i) : 0));
      CHECK(At(*upper, i) == (i[2] >= i[1] + k ? At(*x, i) : 0));
    });
  }
}

TEST_CASE("create: shapes and tensors", "[eval]") {
  CHECK(Values("shape_to_tensor", {ShapeValue{2, 0, 5}}) == std::vector<double>{2, 0, 5});
  Result<HostValue> shape = Try("tensor_to_shape", {I64({2}, {3, 4})});
  REQUIRE(shape.ok());
  CHECK(*(*shape).shape() == ShapeValue{3, 4});
  CHECK_FALSE(Try("tensor_to_shape", {I64({1}, {-3})}).ok());
  CHECK_FALSE(Try("tensor_to_shape", {I32({1}, {3})}).ok());
}

TEST_CASE("move: other shapes of the same elements", "[eval]") {
  const Tensor x = I32({2, 1, 3}, Iota(6));
  CHECK(ShapeOf(*Run("reshape", {x, ShapeValue{3, 2}})) == Dims{3, 2});
  CHECK(ShapeOf(*Run("reshape", {x, ShapeValue{-1, 2}})) == Dims{3, 2});
  CHECK(Values("reshape", {x, ShapeValue{6}}) == Iota(6));
  CHECK(ShapeOf(*Run("flatten", {x})) == Dims{6});
  CHECK(ShapeOf(*Run("squeeze", {x})) == Dims{2, 3});
  CHECK(ShapeOf(*Run("squeeze", {x}, Attrs({{"axis", Ints({-2})}}))) == Dims{2, 3});
  CHECK(ShapeOf(*Run("expand_dims", {x}, Attrs({{"axis", Ints({0, -1})}}))) == Dims{1, 2, 1, 3, 1});
  CHECK_FALSE(Try("reshape", {x, ShapeValue{4}}).ok());
  CHECK_FALSE(Try("reshape", {x, ShapeValue{-1, 4}}).ok());
  CHECK_FALSE(Try("reshape", {x, ShapeValue{INT64_MAX, 2}}).ok());
  CHECK_FALSE(Try("reshape", {I32({0}, {}), ShapeValue{int64_t{1} << 32, int64_t{1} << 32}}).ok());
  CHECK_FALSE(Try("reshape", {I32({0}, {}), ShapeValue{int64_t{1} << 40, int64_t{1} << 40, 0}}).ok());
  CHECK_FALSE(Try("squeeze", {x}, Attrs({{"axis", Ints({0})}})).ok());
  CHECK_FALSE(Try("expand_dims", {x}, Attrs({{"axis", Ints({0, 0})}})).ok());
}

TEST_CASE("move: permutations, flips, repetitions", "[eval]") {
  for (const DataType dtype : {DataType::Int(8), DataType::Float(16), DataType::Float(32), DataType::Int(64)}) {
    const Tensor x = T(dtype, {2, 3, 4}, Iota(24));
    CheckMoved(Run("permute_dims", {x}), {4, 3, 2}, x, [](const Dims& i) { return Dims{i[2], i[1], i[0]}; });
    CheckMoved(Run("permute_dims", {x}, Attrs({{"axes", Ints({1, -1, 0})}})), {3, 4, 2}, x, [](const Dims& i) {
      return Dims{i[2], i[0], i[1]};
    });
    CheckMoved(Run("flip", {x}, Attrs({{"axis", IntAttr::Get(1)}})), {2, 3, 4}, x, [](const Dims& i) {
      return Dims{i[0], 2 - i[1], i[2]};
    });
    CheckMoved(Run("tile", {x}, Attrs({{"repeats", Ints({2, 1})}})), {2, 6, 4}, x, [](const Dims& i) {
      return Dims{i[0], i[1] % 3, i[2]};
    });
    CheckMoved(Run("tile", {x}, Attrs({{"repeats", Ints({3, 1, 1, 2})}})), {3, 2, 3, 8}, x, [](const Dims& i) {
      return Dims{i[1], i[2], i[3] % 4};
    });
    CheckMoved(Run("repeat", {x}, Attrs({{"repeats", IntAttr::Get(2)}, {"axis", IntAttr::Get(1)}})), {2, 6, 4}, x,
               [](const Dims& i) {
                 return Dims{i[0], i[1] / 2, i[2]};
               });
    CheckMoved(Run("repeat", {x}, Attrs({{"repeats", IntAttr::Get(2)}})), {48}, x, [](const Dims& i) {
      return Dims{i[0] / 24, i[0] / 8 % 3, i[0] / 2 % 4};
    });
  }
  CHECK_FALSE(Try("permute_dims", {F32({2, 2}, Iota(4))}, Attrs({{"axes", Ints({0})}})).ok());
  CHECK_FALSE(Try("flip", {F32({2}, Iota(2))}, Attrs({{"axis", IntAttr::Get(1)}})).ok());
}

TEST_CASE("move: broadcasts and their inverse", "[eval]") {
  const Tensor x = F32({3, 1}, {1, 2, 3});
  CheckMoved(Run("broadcast_to", {x, ShapeValue{2, 3, 4}}), {2, 3, 4}, x, [](const Dims& i) { return Dims{i[1], 0}; });
  CHECK(Values("collapse_sum_to", {F32({2, 3, 4}, std::vector<double>(24, 1)), ShapeValue{3, 1}}) ==
        std::vector<double>(3, 8));
  CHECK(Values("collapse_sum_like", {F32({2, 2}, {1, 2, 3, 4}), F32({2}, {0, 0})}) == std::vector<double>{4, 6});
  CHECK_FALSE(Try("broadcast_to", {F32({2}, {1, 2}), ShapeValue{3}}).ok());
  CHECK_FALSE(Try("collapse_sum_to", {F32({2}, {1, 2}), ShapeValue{3}}).ok());
}

TEST_CASE("move: joining and splitting are inverse", "[eval]") {
  const Tensor x = I32({2, 7}, Iota(14));
  for (const Attr* pieces : {static_cast<const Attr*>(IntAttr::Get(1)), static_cast<const Attr*>(IntAttr::Get(2)),
                             static_cast<const Attr*>(IntAttr::Get(3)), Ints({2, 2, 5}), Ints({})}) {
    Result<HostValue> split = Try("split", {x}, Attrs({{"indices_or_sections", pieces}, {"axis", IntAttr::Get(1)}}));
    REQUIRE(split.ok());
    CHECK(Values("concat", {*split}, Attrs({{"axis", IntAttr::Get(-1)}})) == Iota(14));
  }
  // Pieces have the same length, up to the last.
  Result<HostValue> split =
      Try("split", {x}, Attrs({{"indices_or_sections", IntAttr::Get(3)}, {"axis", IntAttr::Get(1)}}));
  CHECK(ShapeOf(*(*split).tuple()->fields[0].tensor()) == Dims{2, 3});
  CHECK(ShapeOf(*(*split).tuple()->fields[2].tensor()) == Dims{2, 1});
  CHECK(Values("concat", {Tensors({I32({2, 1}, {1, 2}), I32({1, 1}, {3})})}) == std::vector<double>{1, 2, 3});
  CHECK_FALSE(Try("concat", {Tensors({I32({2}, {1, 2}), F32({1}, {3})})}, Attrs({{"axis", IntAttr::Get(0)}})).ok());
  CHECK_FALSE(
      Try("concat", {Tensors({I32({2, 1}, {1, 2}), I32({1, 2}, {3, 4})})}, Attrs({{"axis", IntAttr::Get(0)}})).ok());
  CHECK_FALSE(Try("concat", {Tensors({})}).ok());
  CHECK_FALSE(
      Try("split", {x}, Attrs({{"indices_or_sections", IntAttr::Get(INT64_MAX)}, {"axis", IntAttr::Get(1)}})).ok());
  CHECK_FALSE(Try("split", {x}, Attrs({{"indices_or_sections", IntAttr::Get(0)}, {"axis", IntAttr::Get(1)}})).ok());
}

TEST_CASE("move: slices are Python's", "[eval]") {
  const Tensor x = I32({10}, Iota(10));
  for (const int64_t step : {1, 2, 3, -1, -2, 7}) {
    for (int64_t begin = -12; begin <= 12; ++begin) {
      for (int64_t end = -12; end <= 12; ++end) {
        std::vector<double> expected;
        const int64_t first = begin < 0 ? begin + 10 : begin;
        const int64_t last = end < 0 ? end + 10 : end;
        // Iterates from a clamped end as long as both limits allow.
        int64_t i = step > 0 ? std::max<int64_t>(first, 0) : std::min<int64_t>(first, 9);
        for (; step > 0 ? i < std::min<int64_t>(last, 10) : i > std::max<int64_t>(last, -1); i += step) {
          if (i >= 0 && i < 10) expected.push_back(static_cast<double>(i));
        }
        REQUIRE(Values("strided_slice", {x, Ints(Dims{0}), Ints(Dims{begin}), Ints(Dims{end}), Ints(Dims{step})}) ==
                expected);
      }
    }
  }
  const Tensor y = I32({3, 4}, Iota(12));
  CheckMoved(Run("strided_slice", {y, Ints(Dims{-1}), Ints(Dims{1}), Ints(Dims{3})}), {3, 2}, y, [](const Dims& i) {
    return Dims{i[0], i[1] + 1};
  });
  CheckMoved(Run("dynamic_strided_slice", {y, I64({2}, {2, 0}), I64({2}, {-4, 4}), I64({2}, {-2, 3})}), {2, 2}, y,
             [](const Dims& i) {
               return Dims{2 - 2 * i[0], 3 * i[1]};
             });
  CHECK(ShapeOf(*Run("strided_slice", {x, Ints(Dims{0}), Ints(Dims{INT64_MIN + 10}), Ints(Dims{INT64_MAX}),
                                       Ints(Dims{INT64_MAX})})) == Dims{1});
  CHECK_FALSE(Try("strided_slice", {x, Ints(Dims{0}), Ints(Dims{0}), Ints(Dims{1}), Ints(Dims{0})}).ok());
  CHECK_FALSE(Try("strided_slice", {x, Ints(Dims{1}), Ints(Dims{0}), Ints(Dims{1})}).ok());
}

TEST_CASE("move: padding", "[eval]") {
  const Tensor x = F32({2, 2}, {1, 2, 3, 4});
  const Tensor result = Run("nn.pad", {x, F32({}, {9})}, Attrs({{"pad_width", Ints({1, 0, 0, 2})}}));
  CHECK(Elements(*result) == std::vector<double>{9, 9, 9, 9, 1, 2, 9, 9, 3, 4, 9, 9});
  CHECK_FALSE(Try("nn.pad", {x}, Attrs({{"pad_width", Ints({1, 0, 0})}})).ok());
  CHECK_FALSE(Try("nn.pad", {x}, Attrs({{"pad_width", Ints({-1, 0, 0, 0})}})).ok());
  const auto padded = [](const Tensor& tensor, const char* mode) {
    return Try("nn.pad", {tensor}, Attrs({{"pad_width", Ints({2, 3})}, {"pad_mode", StrAttr::Get(mode)}}));
  };
  const Tensor row = F32({3}, {1, 2, 3});
  CHECK(Elements(*padded(row, "reflect")->tensor()) == std::vector<double>{3, 2, 1, 2, 3, 2, 1, 2});
  CHECK(Elements(*padded(row, "replicate")->tensor()) == std::vector<double>{1, 1, 1, 2, 3, 3, 3, 3});
  CHECK(Elements(*padded(row, "circular")->tensor()) == std::vector<double>{2, 3, 1, 2, 3, 1, 2, 3});
  CHECK(Elements(*padded(F32({1}, {7}), "reflect")->tensor()) == std::vector<double>(6, 7));
  CHECK_FALSE(padded(F32({0}, {}), "circular").ok());
  CHECK_FALSE(padded(row, "mirror").ok());
}

TEST_CASE("index: take", "[eval]") {
  const Tensor x = I32({2, 3, 2}, Iota(12));
  const Tensor indices = I64({2, 2}, {2, 0, 1, 1});
  CheckMoved(Run("take", {x, indices}, Attrs({{"axis", IntAttr::Get(1)}})), {2, 2, 2, 2}, x, [&](const Dims& i) {
    return Dims{i[0], static_cast<int64_t>(At(*indices, {i[1], i[2]})), i[3]};
  });
  CHECK(Values("take", {I32({3}, {5, 6, 7}), I32({}, {2})}) == std::vector<double>{7});
  CHECK(Values("take", {I32({3}, {5, 6, 7}), Scalar::Int(1)}) == std::vector<double>{6});
  CHECK_FALSE(Try("take", {I32({3}, {5, 6, 7}), Scalar::Int(3)}).ok());
  CHECK_FALSE(Try("take", {I32({3}, {5, 6, 7}), I32({}, {3})}).ok());
  CHECK_FALSE(Try("take", {I32({3}, {5, 6, 7}), I32({}, {-1})}).ok());
  CHECK_FALSE(Try("take", {I32({3}, {5, 6, 7}), F32({}, {1})}).ok());
}

TEST_CASE("index: scatter", "[eval]") {
  const auto reduction = [](std::string_view name) {
    return Attrs({{"axis", IntAttr::Get(1)}, {"reduction", StrAttr::Get(name)}});
  };
  const Tensor data = I32({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor indices = I64({2, 2}, {0, -1, 1, 1});
  const Tensor updates = I32({2, 2}, {10, 20, 30, 40});
  CHECK(Values("scatter_elements", {data, indices, updates}, reduction("update")) ==
        std::vector<double>{10, 2, 20, 4, 40, 6});
  CHECK(Values("scatter_elements", {data, indices, updates}, reduction("add")) ==
        std::vector<double>{11, 2, 23, 4, 75, 6});
  CHECK(Values("scatter_elements", {data, indices, updates}, reduction("mul")) ==
        std::vector<double>{10, 2, 60, 4, 6000, 6});
  CHECK(Values("scatter_elements", {data, indices, updates}, reduction("max")) ==
        std::vector<double>{10, 2, 20, 4, 40, 6});
  CHECK(Values("scatter_elements", {data, indices, updates}, reduction("min")) ==
        std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK_FALSE(Try("scatter_elements", {data, I64({1, 1}, {3}), I32({1, 1}, {0})}, reduction("update")).ok());
  CHECK(Values("scatter_elements", {data, indices, updates}, reduction("mean")) ==
        std::vector<double>{5, 2, 11, 4, 28, 6});
  CHECK_FALSE(Try("scatter_elements", {data, indices, updates}, reduction("median")).ok());
  // Whole rows, and single elements.
  CHECK(Values("scatter_nd", {data, I64({1, 1}, {1}), I32({1, 3}, {7, 8, 9})}) ==
        std::vector<double>{1, 2, 3, 7, 8, 9});
  CHECK(Values("scatter_nd", {data, I64({2, 2}, {0, 0, 1, 2}), I32({2}, {7, 8})}) ==
        std::vector<double>{7, 2, 3, 4, 5, 8});
  CHECK_FALSE(Try("scatter_nd", {data, I64({1, 1}, {2}), I32({1, 3}, {7, 8, 9})}).ok());
  CHECK_FALSE(Try("scatter_nd", {data, I64({1, 1}, {0}), I32({1, 2}, {7, 8})}).ok());
}

TEST_CASE("layout_transform: blocks of channels, with padding", "[eval]") {
  IRContext& context = IRContext::Current();
  const tir::Var* c = context.NewSymVar("c");
  const tir::Var* w = context.NewSymVar("w");
  Arena arena;
  const PrimExpr* four = context.Int(4);
  const PrimExpr* outer = context.Intern(arena.New<tir::FloorDiv>(c, four));
  const PrimExpr* inner = context.Intern(arena.New<tir::FloorMod>(c, four));
  const tir::Var* const params[] = {c, w};
  const PrimExpr* const results[] = {outer, w, inner};
  const IndexMapAttr* map = IndexMapAttr::Get(params, results);
  const Tensor x = I32({6, 3}, Iota(18, 1));
  const Tensor result =
      Run("layout_transform", {x}, Attrs({{"index_map", map}, {"pad_value", ExprAttr::Get(context.Int(-1))}}));
  REQUIRE(ShapeOf(*result) == Dims{2, 3, 4});
  ForEachIndex({2, 3, 4}, [&](const Dims& i) {
    const int64_t channel = i[0] * 4 + i[2];
    CHECK(At(*result, i) == (channel < 6 ? At(*x, {channel, i[1]}) : -1));
  });
  CHECK_FALSE(Try("layout_transform", {I32({6}, Iota(6))}, Attrs({{"index_map", map}})).ok());
}

}  // namespace iropt

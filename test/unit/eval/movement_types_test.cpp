// Operators that make and move elements, for every dtype: each element of the result is compared with the one at its
// source index.
#include "iropt/ir/context.h"
#include "iropt/ir/tir/stmt.h"
#include "reference.h"

namespace iropt {

namespace {

// Numbers that every dtype holds, without a pattern that a wrong index could match by chance.
Ref Pattern(DataType dtype, Dims shape) {
  int64_t i = 0;
  return Ref::Of(std::move(shape), [&](const Dims&) {
    const int64_t value = (i * i + 3 * i + 1) % 7;
    ++i;
    return static_cast<double>(dtype.is_bool() ? value % 2 : value);
  });
}

using ElementSource = std::function<Dims(const Dims&)>;

// Checks that the result has the shape, and at each index the element of x at `source`.
void CheckMoves(const Tensor& found, const Ref& x, DataType dtype, Dims shape, const ElementSource& source) {
  CheckExact(*found, Ref::Of(std::move(shape), [&](const Dims& i) { return x.at(source(i)); }), dtype);
}

Dims SameIndices(const Dims& i) { return i; }

}  // namespace

TEST_CASE("types: other shapes of the same elements", "[eval]") {
  for (const DataType dtype : AllTypes()) {
    INFO(dtype.ToString());
    const Ref x = Pattern(dtype, {2, 1, 3});
    const Tensor t = x.As(dtype);
    const auto flat = [](int64_t place) { return Dims{place / 3, 0, place % 3}; };
    CheckMoves(Run("reshape", {t, ShapeValue{3, 2}}), x, dtype, {3, 2},
               [&](const Dims& i) { return flat(i[0] * 2 + i[1]); });
    CheckMoves(Run("flatten", {t}), x, dtype, {6}, [&](const Dims& i) { return flat(i[0]); });
    CheckMoves(Run("squeeze", {t}, Attrs({{"axis", Ints({1})}})), x, dtype, {2, 3}, [](const Dims& i) {
      return Dims{i[0], 0, i[1]};
    });
    CheckMoves(Run("expand_dims", {t}, Attrs({{"axis", Ints({1})}})), x, dtype, {2, 1, 1, 3}, [](const Dims& i) {
      return Dims{i[0], 0, i[3]};
    });
    const HostValue none{TupleValue{}};
    CheckMoves(Run("memory.view", {t, ShapeValue{6}, none, none}), x, dtype, {6},
               [&](const Dims& i) { return flat(i[0]); });
    for (const char* op : {"grad.no_grad", "grad.start_checkpoint", "grad.end_checkpoint", "memory.ensure_zero_offset"})
      CheckMoves(Run(op, {t}), x, dtype, x.shape, SameIndices);
    const Result<HostValue> kept = Try("nn.dropout", {t}, Attrs({{"rate", Number(0)}}));
    REQUIRE(kept.ok());
    CheckExact(*kept->tuple()->fields[0].tensor(), x, dtype);
    CheckExact(*kept->tuple()->fields[1].tensor(), Ref::Of(x.shape, [](const Dims&) { return 1; }), dtype);
  }
}

TEST_CASE("types: permutations, repetitions, pieces", "[eval]") {
  for (const DataType dtype : AllTypes()) {
    INFO(dtype.ToString());
    const Ref x = Pattern(dtype, {2, 3, 4});
    const Tensor t = x.As(dtype);
    CheckMoves(Run("permute_dims", {t}, Attrs({{"axes", Ints({2, 0, 1})}})), x, dtype, {4, 2, 3}, [](const Dims& i) {
      return Dims{i[1], i[2], i[0]};
    });
    CheckMoves(Run("flip", {t}, Attrs({{"axis", Int(1)}})), x, dtype, x.shape, [](const Dims& i) {
      return Dims{i[0], 2 - i[1], i[2]};
    });
    CheckMoves(Run("tile", {t}, Attrs({{"repeats", Ints({2, 3})}})), x, dtype, {2, 6, 12}, [](const Dims& i) {
      return Dims{i[0], i[1] % 3, i[2] % 4};
    });
    CheckMoves(Run("repeat", {t}, Attrs({{"repeats", Int(3)}, {"axis", Int(2)}})), x, dtype, {2, 3, 12},
               [](const Dims& i) {
                 return Dims{i[0], i[1], i[2] / 3};
               });
    CheckMoves(Run("broadcast_to", {Run("reshape", {t, ShapeValue{2, 3, 1, 4}}), ShapeValue{5, 2, 3, 6, 4}}), x, dtype,
               {5, 2, 3, 6, 4}, [](const Dims& i) {
                 return Dims{i[1], i[2], i[4]};
               });
    CheckMoves(Run("concat", {Tensors({t, t})}, Attrs({{"axis", Int(1)}})), x, dtype, {2, 6, 4}, [](const Dims& i) {
      return Dims{i[0], i[1] % 3, i[2]};
    });
    const Result<HostValue> pieces =
        Try("split", {t}, Attrs({{"indices_or_sections", Ints({1, 3})}, {"axis", Int(2)}}));
    REQUIRE(pieces.ok());
    const int64_t begins[] = {0, 1, 3, 4};
    for (size_t p = 0; p < 3; ++p) {
      const Tensor piece = std::get<Tensor>(pieces->tuple()->fields[p].state);
      CheckMoves(piece, x, dtype, {2, 3, begins[p + 1] - begins[p]}, [&](const Dims& i) {
        return Dims{i[0], i[1], i[2] + begins[p]};
      });
    }
  }
}

TEST_CASE("types: slices, picks, padding, triangles", "[eval]") {
  for (const DataType dtype : AllTypes()) {
    INFO(dtype.ToString());
    const Ref x = Pattern(dtype, {3, 5});
    const Tensor t = x.As(dtype);
    CheckMoves(Run("strided_slice", {t, Ints(Dims{1}), Ints(Dims{4}), Ints(Dims{0}), Ints(Dims{-2})}), x, dtype, {3, 2},
               [](const Dims& i) {
                 return Dims{i[0], 4 - 2 * i[1]};
               });
    CheckMoves(Run("dynamic_strided_slice", {t, I64({2}, {1, 0}), I64({2}, {3, 5}), I64({2}, {1, 3})}), x, dtype,
               {2, 2}, [](const Dims& i) {
                 return Dims{i[0] + 1, 3 * i[1]};
               });
    // Indices of every integer dtype.
    for (const DataType index : NumberTypes()) {
      if (index.is_floating()) continue;
      CheckMoves(Run("take", {t, T(index, {2}, {4, 1})}, Attrs({{"axis", Int(1)}})), x, dtype, {3, 2},
                 [](const Dims& i) {
                   return Dims{i[0], i[1] == 0 ? 4 : 1};
                 });
    }
    const auto within = [](const Dims& i) { return i[0] >= 1 && i[0] < 4 && i[1] < 5; };
    CheckExact(*Run("nn.pad", {t, T(dtype, {}, {1})}, Attrs({{"pad_width", Ints({1, 1, 0, 2})}})),
               Ref::Of({5, 7},
                       [&](const Dims& i) {
                         return within(i) ? x.at({i[0] - 1, i[1]}) : 1;
                       }),
               dtype);
    CheckExact(*Run("tril", {t, Scalar::Int(1)}),
               Ref::Of(x.shape, [&](const Dims& i) { return i[1] <= i[0] + 1 ? x.at(i) : 0; }), dtype);
    CheckExact(*Run("triu", {t, Scalar::Int(-1)}),
               Ref::Of(x.shape, [&](const Dims& i) { return i[1] >= i[0] - 1 ? x.at(i) : 0; }), dtype);
  }
}

TEST_CASE("types: scattered elements", "[eval]") {
  for (const DataType dtype : AllTypes()) {
    INFO(dtype.ToString());
    const Ref x = Pattern(dtype, {3, 4});
    const Ref updates = Pattern(dtype, {2, 2});
    const Tensor rows = I64({2, 2}, {2, 0, 0, 1});
    const auto scatter = [&](std::string_view reduction) {
      return Try("scatter_elements", {x.As(dtype), rows, updates.As(dtype)},
                 Attrs({{"axis", Int(0)}, {"reduction", Text(reduction)}}));
    };
    // In column j, row `rows` becomes `combine` of it and the update.
    const auto check = [&](std::string_view reduction, const std::function<double(double, double)>& combine) {
      INFO(reduction);
      Ref expected = x;
      updates.ForEach([&](const Dims& i) {
        double& place =
            expected.at({static_cast<int64_t>(Elements(*rows)[static_cast<size_t>(i[0] * 2 + i[1])]), i[1]});
        place = combine(place, updates.at(i));
      });
      const Result<HostValue> result = scatter(reduction);
      REQUIRE(result.ok());
      CheckExact(*result->tensor(), expected, dtype);
    };
    check("update", [](double, double b) { return b; });
    if (dtype.is_bool()) {
      for (const char* reduction : {"add", "mul", "max", "min"}) CHECK_FALSE(scatter(reduction).ok());
    } else {
      check("max", [](double a, double b) { return std::max(a, b); });
      check("min", [](double a, double b) { return std::min(a, b); });
    }
    // The formats of 8 bits cannot hold all of these.
    if (dtype.bits > 8 || (dtype.is_integer() && !dtype.is_bool())) {
      check("add", [](double a, double b) { return a + b; });
      check("mul", [](double a, double b) { return a * b; });
    }
    const Ref row = Pattern(dtype, {1, 4});
    CheckExact(*Run("scatter_nd", {x.As(dtype), I64({1, 1}, {1}), row.As(dtype)}),
               Ref::Of(x.shape,
                       [&](const Dims& i) {
                         return i[0] == 1 ? row.at({0, i[1]}) : x.at(i);
                       }),
               dtype);
  }
}

TEST_CASE("types: layouts", "[eval]") {
  IRContext& context = IRContext::Current();
  const tir::Var* c = context.NewSymVar("c");
  Arena arena;
  const PrimExpr* four = context.Int(4);
  const tir::Var* const params[] = {c};
  const PrimExpr* const results[] = {context.Intern(arena.New<tir::FloorDiv>(c, four)),
                                     context.Intern(arena.New<tir::FloorMod>(c, four))};
  const IndexMapAttr* map = IndexMapAttr::Get(params, results);
  for (const DataType dtype : AllTypes()) {
    INFO(dtype.ToString());
    const Ref x = Pattern(dtype, {8});
    CheckMoves(Run("layout_transform", {x.As(dtype)}, Attrs({{"index_map", map}})), x, dtype, {2, 4},
               [](const Dims& i) { return Dims{i[0] * 4 + i[1]}; });
  }
}

TEST_CASE("types: tensors that are made", "[eval]") {
  for (const DataType dtype : AllTypes()) {
    INFO(dtype.ToString());
    const ObjectAttr* attrs = Attrs({{"dtype", DType(dtype)}});
    const auto all = [](double value) { return Ref::Of({2, 3}, [=](const Dims&) { return value; }); };
    CheckExact(*Run("zeros", {ShapeValue{2, 3}}, attrs), all(0), dtype);
    CheckExact(*Run("ones", {ShapeValue{2, 3}}, attrs), all(1), dtype);
    const double value = dtype.is_bool() ? 1 : 5;
    CheckExact(*Run("full", {ShapeValue{2, 3}, T(dtype, {}, {value})}), all(value), dtype);
    const Tensor x = Pattern(dtype, {2, 3}).As(dtype);
    CheckExact(*Run("zeros_like", {x}), all(0), dtype);
    CheckExact(*Run("ones_like", {x}), all(1), dtype);
    CheckExact(*Run("full_like", {x, T(dtype, {}, {value})}), all(value), dtype);
    for (const DataType other : AllTypes()) {
      CheckExact(*Run("full", {ShapeValue{2, 3}, T(other, {}, {1})}, attrs), all(1), dtype);
      CheckExact(*Run("zeros_like", {x}, Attrs({{"dtype", DType(other)}})), all(0), other);
      CheckExact(*Run("ones_like", {x}, Attrs({{"dtype", DType(other)}})), all(1), other);
      CheckExact(*Run("full_like", {x, T(dtype, {}, {1})}, Attrs({{"dtype", DType(other)}})), all(1), other);
    }
    const Result<HostValue> range = Try("arange", {Scalar::Int(1), Scalar::Int(8), Scalar::Int(3)}, attrs);
    REQUIRE(range.ok() == !dtype.is_bool());
    if (range) CheckExact(*range->tensor(), Ref::Of({3}, [](const Dims& i) { return 1 + 3 * i[0]; }), dtype);
  }
}

TEST_CASE("types: properties of a tensor", "[eval]") {
  for (const DataType dtype : AllTypes()) {
    INFO(dtype.ToString());
    const Tensor x = Pattern(dtype, {2, 3, 4}).As(dtype);
    const auto field = [&](std::string_view op, std::vector<HostValue> more = {}) {
      more.insert(more.begin(), HostValue(x));
      const Result<HostValue> result = Try(op, std::move(more));
      REQUIRE(result.ok());
      return result->scalar()->integer;
    };
    CHECK(field("inspect.tensor_ndim") == 3);
    CHECK(field("inspect.tensor_dtype_bits") == dtype.bits);
    CHECK(field("inspect.tensor_dtype_lanes") == 1);
    CHECK(field("inspect.tensor_byte_offset") == 0);
    CHECK(field("inspect.tensor_elem_offset") == 0);
    CHECK(field("inspect.tensor_shape_i", {Scalar::Int(2)}) == 4);
    CHECK(field("inspect.tensor_stride_i", {Scalar::Int(0)}) == 12);
    // DLPack's numbers of kinds, and TVM's for those that DLPack lacks.
    const int64_t code = dtype.is_int()                        ? 0
                         : dtype.is_uint()                     ? 1
                         : dtype.code == TypeCode::kFloat      ? 2
                         : dtype.code == TypeCode::kBFloat     ? 4
                         : dtype.code == TypeCode::kFloat8E4M3 ? 6
                                                               : 7;
    CHECK(field("inspect.tensor_dtype_code") == code);
    const Result<HostValue> shape = Try("shape_of", {x});
    REQUIRE(shape.ok());
    CHECK(*shape->shape() == ShapeValue{2, 3, 4});
  }
}

}  // namespace iropt

// Resizing, quantization, einsum, sets, sampling, inspection.
#include <algorithm>

#include "reference.h"

namespace iropt {

namespace {

const DataType f32 = DataType::Float(32);

const ObjectAttr* ResizeAttrs(std::string_view method, std::string_view mode, std::string_view rounding = "round",
                              const Attr* roi = nullptr, int64_t exclude = 0, std::string_view layout = "NCHW") {
  return Attrs({{"roi", roi ? roi : op_attrs::FromFloats(std::vector<double>(4, 0.0))},
                {"layout", Text(layout)},
                {"method", Text(method)},
                {"coordinate_transformation_mode", Text(mode)},
                {"rounding_method", Text(rounding)},
                {"cubic_alpha", Number(-0.75)},
                {"cubic_exclude", Int(exclude)},
                {"extrapolation_value", Number(9)},
                {"out_dtype", DType(DataType::Void())}});
}

// A row of an image, resized: columns are treated alike.
std::vector<double> ResizeRow(const std::vector<double>& row, int64_t length, const ObjectAttr* attrs) {
  const Tensor x = F32({1, 1, 1, static_cast<int64_t>(row.size())}, row);
  return Values("image.resize2d", {x, ShapeValue{1, length}}, attrs);
}

}  // namespace

TEST_CASE("resize: nearest elements", "[eval]") {
  const std::vector<double> row{1, 2, 3};
  const auto near = [&](int64_t n, std::string_view mode, std::string_view rounding) {
    return ResizeRow(row, n, ResizeAttrs("nearest_neighbor", mode, rounding));
  };
  CHECK(near(6, "asymmetric", "floor") == std::vector<double>{1, 1, 2, 2, 3, 3});
  // Coordinates 0, 0.75, 1.5, 2.25.
  CHECK(near(4, "asymmetric", "round") == std::vector<double>{1, 2, 3, 3});
  CHECK(near(2, "asymmetric", "round") == std::vector<double>{1, 3});
  // Coordinates 0.5, 2.5 (of the last element): halves are rounded to even numbers.
  CHECK(ResizeRow({1, 2, 3, 4}, 2, ResizeAttrs("nearest_neighbor", "half_pixel", "round")) ==
        std::vector<double>{1, 3});
  CHECK(near(4, "asymmetric", "round_prefer_floor") == std::vector<double>{1, 2, 2, 3});
  CHECK(near(4, "asymmetric", "floor") == std::vector<double>{1, 1, 2, 3});
  CHECK(near(4, "asymmetric", "ceil") == std::vector<double>{1, 2, 3, 3});
  // Coordinates -0.125, 0.625, 1.375, 2.125.
  CHECK(near(4, "half_pixel", "round_prefer_ceil") == std::vector<double>{1, 2, 2, 3});
  CHECK(near(2, "align_corners", "") == std::vector<double>{1, 3});
  CHECK(near(2, "tf_half_pixel_for_nn", "floor") == std::vector<double>{1, 3});
}

TEST_CASE("resize: linear and cubic interpolation", "[eval]") {
  CHECK(ResizeRow({1, 3}, 4, ResizeAttrs("linear", "half_pixel")) == std::vector<double>{1, 1.5, 2.5, 3});
  CHECK(ResizeRow({1, 3}, 3, ResizeAttrs("linear", "align_corners")) == std::vector<double>{1, 2, 3});
  CHECK(ResizeRow({1, 3, 5, 7}, 2, ResizeAttrs("linear", "asymmetric")) == std::vector<double>{1, 5});
  CHECK(ResizeRow({1, 3, 5, 7}, 1, ResizeAttrs("linear", "pytorch_half_pixel")) == std::vector<double>{1});
  // Cubic interpolation goes through the points, and is exact on lines between them (away from the border).
  const std::vector<double> cubic = ResizeRow({0, 1, 2, 3, 4, 5, 6}, 13, ResizeAttrs("cubic", "align_corners"));
  for (size_t i = 3; i < 10; ++i) CHECK(cubic[i] == Approx(static_cast<double>(i) / 2));
  for (size_t i = 0; i < 13; i += 2) CHECK(cubic[i] == Approx(static_cast<double>(i) / 2).margin(1e-6));
  // Keys' kernel with a = -0.75 at distances 0.5 and 1.5, one element is outside and does not count.
  const double a = -0.75;
  const double w1 = (a + 2) * 0.125 - (a + 3) * 0.25 + 1;
  const double w2 = a * 3.375 - 5 * a * 2.25 + 8 * a * 1.5 - 4 * a;
  const std::vector<double> excluded =
      ResizeRow({4, 8, 0}, 5, ResizeAttrs("cubic", "align_corners", "round", nullptr, 1));
  CHECK(excluded[1] == Approx((4 * w1 + 8 * w1 + 0 * w2) / (w1 + w1 + w2)));
  const std::vector<double> clamped = ResizeRow({4, 8, 0}, 5, ResizeAttrs("cubic", "align_corners"));
  CHECK(clamped[1] == Approx(4 * w2 + 4 * w1 + 8 * w1 + 0 * w2));
}

TEST_CASE("resize: regions of interest, layouts, dtypes, refusals", "[eval]") {
  std::vector<const Attr*> roi;
  for (const double edge : {0.0, 0.5, 0.0, 1.5}) roi.push_back(FloatAttr::Get(edge));
  const ObjectAttr* crop = ResizeAttrs("linear", "tf_crop_and_resize", "round", ListAttr::Get(roi));
  // From coordinate 0.5 * 2 to 1.5 * 2: positions beyond the last element are extrapolated.
  CHECK(ResizeRow({1, 2, 4}, 3, crop) == std::vector<double>{2, 4, 9});
  const Ref x = Ref::Whole({1, 2, 2, 3}, 51, 0, 3);
  const Ref doubled = Ref::Of({1, 2, 4, 6}, [&](const Dims& i) { return x.at({i[0], i[1], i[2] / 2, i[3] / 2}); });
  for (const DataType dtype : AllNumberTypes()) {
    const HostValue size{ShapeValue{4, 6}};
    CheckExact(*Run("image.resize2d", {x.As(dtype), size}, ResizeAttrs("nearest_neighbor", "asymmetric", "floor")),
               doubled, dtype);
    CheckExact(*Run("image.resize2d", {x.Permuted({0, 2, 3, 1}).As(dtype), size},
                    ResizeAttrs("nearest_neighbor", "asymmetric", "floor", nullptr, 0, "NHWC")),
               doubled.Permuted({0, 2, 3, 1}), dtype);
  }
  const auto refuses = [&](const HostValue& size, const ObjectAttr* attrs) {
    return !Try("image.resize2d", {x.As(f32), size}, attrs).ok();
  };
  CHECK(refuses(ShapeValue{-1, 1}, ResizeAttrs("linear", "align_corners")));
  CHECK(refuses(ShapeValue{2, 2}, ResizeAttrs("quadratic", "half_pixel")));
  CHECK(refuses(ShapeValue{2, 2}, ResizeAttrs("linear", "sideways")));
  CHECK(refuses(ShapeValue{2}, ResizeAttrs("linear", "half_pixel")));
  CHECK(ShapeOf(*Run("image.resize2d", {x.As(f32), ShapeValue{0, 2}}, ResizeAttrs("linear", "half_pixel"))) ==
        Dims{1, 2, 0, 2});
}

TEST_CASE("quantize and dequantize", "[eval]") {
  const auto attrs = [](DataType out, int64_t axis = -1) {
    return Attrs({{"out_dtype", DType(out)}, {"axis", Int(axis)}});
  };
  const DataType i8 = DataType::Int(8);
  const auto quantize = [&](DataType out) {
    return Values("quantize", {F32({5}, {-1000, -0.75, 0.25, 1.25, 1000}), F32({}, {0.5}), T(i8, {}, {3})}, attrs(out));
  };
  // Halves are rounded to even numbers before the zero point is added; values out of range are clamped.
  CHECK(quantize(i8) == std::vector<double>{-128, 1, 3, 5, 127});
  CHECK(quantize(DataType::UInt(8)) == std::vector<double>{0, 1, 3, 5, 255});
  CHECK(quantize(DataType::Int(16)) == std::vector<double>{-1997, 1, 3, 5, 2003});
  CHECK(quantize(DataType::UInt(16)) == std::vector<double>{0, 1, 3, 5, 2003});
  // Formats of floats keep fractions; 448 is the greatest number of the first.
  CHECK(quantize(Float8Types()[0]) == std::vector<double>{-448, 1.5, 3.5, 5.5, 448});
  CHECK(quantize(Float8Types()[1]) == std::vector<double>{-2048, 1.5, 3.5, 6, 2048});
  const DataType f16 = DataType::Float(16);
  CHECK(Values("quantize", {T(f16, {2, 2}, {1, 2, 3, 4}), T(f16, {2}, {0.5, 2}), T(i8, {2}, {0, 1})}, attrs(i8, 0)) ==
        std::vector<double>{2, 4, 3, 3});
  CHECK(Values("dequantize", {T(i8, {2, 2}, {1, 2, 3, 4}), F32({2}, {0.5, 2}), T(i8, {2}, {0, 1})}, attrs(f32, 1)) ==
        std::vector<double>{0.5, 2, 1.5, 6});
  for (const DataType dtype :
       {i8, DataType::UInt(8), DataType::Int(16), DataType::UInt(16), DataType::Int(32), f16, f32}) {
    for (const DataType out : {f16, f32})
      CHECK(Values("dequantize", {T(dtype, {3}, {0, 5, 100}), F32({}, {0.25}), T(i8, {}, {4})}, attrs(out)) ==
            std::vector<double>{-1, 0.25, 24});
  }
  for (const DataType dtype : Float8Types())
    CHECK(Values("dequantize", {T(dtype, {2}, {2, 5}), F32({}, {0.25}), T(f16, {}, {1})}, attrs(f32)) ==
          std::vector<double>{0.25, 1});
  // The result of 16 bits is clamped to its greatest number.
  CHECK(Values("dequantize", {T(DataType::Int(32), {1}, {1000000}), F32({}, {1}), T(i8, {}, {0})}, attrs(f16)) ==
        std::vector<double>{65504});
  const double nan = std::nan("");
  CHECK(Values("quantize", {F32({1}, {1}), F32({}, {0}), T(i8, {}, {0})}, attrs(i8)) == std::vector<double>{127});
  CHECK_FALSE(Try("quantize", {F32({1}, {nan}), F32({}, {1}), T(i8, {}, {0})}, attrs(i8)).ok());
  CHECK_FALSE(Try("quantize", {F32({3}, {1, 2, 3}), F32({2}, {1, 2}), T(i8, {}, {0})}, attrs(i8)).ok());
  CHECK_FALSE(Try("quantize", {I32({1}, {1}), F32({}, {1}), T(i8, {}, {0})}, attrs(i8)).ok());
}

TEST_CASE("einsum", "[eval]") {
  const auto run = [](std::string_view equation, std::vector<Tensor> operands) {
    TupleValue tuple;
    for (Tensor& t : operands) tuple.fields.emplace_back(std::move(t));
    return Run("einsum", {HostValue(std::move(tuple))}, Attrs({{"subscripts", Text(equation)}}));
  };
  const Ref a = Ref::Whole({2, 3}, 61, 0, 2);
  const Ref b = Ref::Whole({3, 4}, 62, 0, 2);
  const Ref square = Ref::Whole({3, 3}, 63, 0, 2);
  const Ref batch = Ref::Whole({2, 2, 3}, 64, 0, 2);
  for (const DataType dtype : AllNumberTypes()) {
    Ref product({2, 4});
    a.ForEach([&](const Dims& i) {
      for (int64_t j = 0; j < 4; ++j) product.at({i[0], j}) += a.at(i) * b.at({i[1], j});
    });
    if (dtype != Float8Types()[1]) {
      CheckExact(*run("ij,jk->ik", {a.As(dtype), b.As(dtype)}), product, dtype);
      CheckExact(*run("ij,jk", {a.As(dtype), b.As(dtype)}), product, dtype);
    }
    CheckExact(*run("ij->ji", {a.As(dtype)}), a.Permuted({1, 0}), dtype);
    CheckExact(*run("ii->i", {square.As(dtype)}),
               Ref::Of({3},
                       [&](const Dims& i) {
                         return square.at({i[0], i[0]});
                       }),
               dtype);
    CheckExact(*run("ij,ij->", {a.As(dtype), Ref::Of({2, 3}, [](const Dims& i) { return i[1] == 0; }).As(dtype)}),
               Ref::Of({},
                       [&](const Dims&) {
                         return a.at({0, 0}) + a.at({1, 0});
                       }),
               dtype);
    CheckExact(*run("i,j->ij", {T(dtype, {2}, {1, 2}), T(dtype, {3}, {1, 2, 3})}),
               Ref::Of({2, 3}, [](const Dims& i) { return static_cast<double>((i[0] + 1) * (i[1] + 1)); }), dtype);
    // The dimensions of '...' broadcast.
    CheckExact(
        *run("...i,...i->...i", {batch.As(dtype), Ref::Of({2, 3}, [](const Dims& i) { return i[0] == 1; }).As(dtype)}),
        Ref::Of({2, 2, 3}, [&](const Dims& i) { return i[1] == 1 ? batch.at(i) : 0; }), dtype);
  }
  const auto fails = [](std::string_view equation, std::initializer_list<Tensor> operands) {
    return !Try("einsum", {Tensors(operands)}, Attrs({{"subscripts", Text(equation)}})).ok();
  };
  CHECK(fails("ij,jk->ik", {F32({2, 3}, Iota(6))}));
  CHECK(fails("i->j", {F32({3}, Iota(3))}));
  CHECK(fails("i,i->", {F32({3}, Iota(3)), F32({2}, Iota(2))}));
  CHECK(fails("i+", {F32({3}, Iota(3))}));
  CHECK(Elements(*run("i->", {F32({0}, {})})) == std::vector<double>{0});
}

namespace {

std::vector<HostValue> UniqueArgs(const Tensor& x, bool sorted, bool index, bool inverse, bool counts,
                                  std::optional<int64_t> axis = {}) {
  std::vector<HostValue> args{x};
  for (const bool flag : {sorted, index, inverse, counts}) args.emplace_back(Scalar::Int(flag, DataType::Bool()));
  if (axis) args.emplace_back(Scalar::Int(*axis));
  return args;
}
std::vector<double> FieldValues(const HostValue& value, size_t i) {
  return Elements(*value.tuple()->fields.at(i).tensor());
}

}  // namespace

TEST_CASE("unique", "[eval]") {
  std::vector<DataType> types = AllNumberTypes();
  for (const DataType dtype : types) {
    const Tensor x = T(dtype, {2, 3}, {3, 1, 3, 2, 1, 3});
    CHECK(Values("unique", UniqueArgs(x, true, false, false, false)) == std::vector<double>{1, 2, 3});
    const Result<HostValue> all = Try("unique", UniqueArgs(x, false, true, true, true));
    REQUIRE(all.ok());
    CHECK(FieldValues(*all, 0) == std::vector<double>{3, 1, 2});
    CHECK(FieldValues(*all, 1) == std::vector<double>{0, 1, 3});
    CHECK(FieldValues(*all, 2) == std::vector<double>{0, 1, 0, 2, 1, 0});
    CHECK(FieldValues(*all, 3) == std::vector<double>{3, 2, 1});
    const Tensor columns =
        Run("unique", UniqueArgs(T(dtype, {2, 3}, {2, 1, 2, 4, 3, 4}), true, false, false, false, 1));
    CHECK(ShapeOf(*columns) == Dims{2, 2});
    CHECK(Elements(*columns) == std::vector<double>{1, 2, 3, 4});
  }
  CHECK(Values("unique", UniqueArgs(B({3}, {1, 0, 1}), true, false, false, false)) == std::vector<double>{0, 1});
  const double nan = std::nan("");
  CHECK(Values("unique", UniqueArgs(F32({4}, {nan, 1, nan, 0}), true, false, false, false)).size() == 3);
  CHECK(ShapeOf(*Run("unique", UniqueArgs(F32({0}, {}), true, false, false, false))) == Dims{0});
  CHECK(ShapeOf(*Run("unique", UniqueArgs(F32({}, {7}), true, false, false, false))) == Dims{1});
  CHECK_FALSE(Try("unique", UniqueArgs(F32({2}, {1, 2}), true, false, false, false, 1)).ok());
}

TEST_CASE("nonzero", "[eval]") {
  for (const DataType dtype : AllNumberTypes()) {
    const Tensor found = Run("nonzero", {T(dtype, {2, 3}, {0, 1, 0, 2, 0, 3})});
    CHECK(ShapeOf(*found) == Dims{2, 3});
    CHECK(Elements(*found) == std::vector<double>{0, 1, 1, 1, 0, 2});
  }
  CHECK(Values("nonzero", {B({3}, {1, 0, 1})}) == std::vector<double>{0, 2});
  CHECK(Values("nonzero", {F32({}, {4})}) == std::vector<double>{0});
  CHECK(ShapeOf(*Run("nonzero", {F32({2, 0}, {})})) == Dims{2, 0});
}

TEST_CASE("topk", "[eval]") {
  const auto attrs = [](int64_t k, int64_t axis, std::string_view wanted, bool largest,
                        DataType dtype = DataType::Int(32)) {
    return Attrs({{"k", Int(k)},
                  {"axis", Int(axis)},
                  {"ret_type", Text(wanted)},
                  {"largest", IntAttr::Bool(largest)},
                  {"dtype", DType(dtype)}});
  };
  for (const DataType dtype : AllNumberTypes()) {
    const Tensor x = T(dtype, {2, 4}, {3, 1, 3, 2, 4, 8, 6, 5});
    const Result<HostValue> both = Try("topk", {x}, attrs(2, -1, "both", true));
    REQUIRE(both.ok());
    CHECK(FieldValues(*both, 0) == std::vector<double>{3, 3, 8, 6});
    CHECK(FieldValues(*both, 1) == std::vector<double>{0, 2, 1, 2});
    CHECK(Values("topk", {x}, attrs(2, -1, "values", false)) == std::vector<double>{1, 2, 4, 5});
    CHECK(Values("topk", {x}, attrs(1, 0, "values", true)) == std::vector<double>{4, 8, 6, 5});
    CHECK(Values("topk", {x}, attrs(1, 0, "indices", false)) == std::vector<double>{0, 0, 0, 0});
    CHECK(ShapeOf(*Run("topk", {x}, attrs(0, 1, "values", true))) == Dims{2, 4});
    CHECK(Run("topk", {x}, attrs(1, 1, "indices", true, DataType::Int(64)))->dtype() == DataType::Int(64));
  }
  CHECK_FALSE(Try("topk", {F32({2}, {1, 2})}, attrs(1, 1, "values", true)).ok());
}

TEST_CASE("multinomial_from_uniform", "[eval]") {
  const ObjectAttr* attrs = Attrs({{"dtype", DType(DataType::Int(32))}});
  for (const DataType dtype : FloatTypes()) {
    const Tensor prob = T(dtype, {2, 3}, {0.25, 0.5, 0.25, 0, 0.5, 0.5});
    CHECK(Elements(*Run("multinomial_from_uniform",
                        {prob, F32({5, 1}, {0, 0.25, 0.8, 0.1, 1}), I64({5, 1}, {0, 0, 0, 1, 1})}, attrs)) ==
          std::vector<double>{0, 1, 2, 1, 2});
  }
  // Sums of 0.5, 0, 1: the last that exceeds the number.
  CHECK(Values("multinomial_from_uniform", {F32({1, 3}, {0.5, -0.5, 1}), F32({1, 1}, {0.25}), I64({1, 1}, {0})},
               attrs) == std::vector<double>{2});
  CHECK_FALSE(Try("multinomial_from_uniform", {F32({1, 1}, {1}), F32({1, 1}, {0}), I64({1, 1}, {1})}, attrs).ok());
}

TEST_CASE("properties of a tensor", "[eval]") {
  const auto field = [](std::string_view op, std::vector<HostValue> args) {
    const Result<HostValue> result = Try(op, std::move(args));
    REQUIRE(result.ok());
    return (*result).scalar()->integer;
  };
  const Tensor x = T(DataType::BFloat(16), {2, 3, 4}, Iota(24));
  CHECK(field("inspect.tensor_ndim", {x}) == 3);
  CHECK(field("inspect.tensor_dtype_bits", {x}) == 16);
  CHECK(field("inspect.tensor_dtype_code", {x}) == 4);
  CHECK(field("inspect.tensor_dtype_code", {F32({}, {1})}) == 2);
  CHECK(field("inspect.tensor_dtype_lanes", {x}) == 1);
  CHECK(field("inspect.tensor_byte_offset", {x}) == 0);
  CHECK(field("inspect.tensor_elem_offset", {x}) == 0);
  CHECK(field("inspect.tensor_shape_i", {x, Scalar::Int(1)}) == 3);
  CHECK(field("inspect.tensor_stride_i", {x, Scalar::Int(0)}) == 12);
  CHECK_FALSE(Try("inspect.tensor_shape_i", {x, Scalar::Int(3)}).ok());
  CHECK_FALSE(Try("inspect.tensor_stride_i", {x, Scalar::Int(-1)}).ok());
  const Result<HostValue> shape = Try("shape_of", {x});
  REQUIRE(shape.ok());
  CHECK(*(*shape).shape() == ShapeValue{2, 3, 4});
}

TEST_CASE("operators that return their operand", "[eval]") {
  const Tensor x = F32({2}, {1, 2});
  for (const char* op : {"grad.no_grad", "grad.start_checkpoint", "grad.end_checkpoint", "memory.ensure_zero_offset"})
    CHECK(Run(op, {x}) == x);
  CHECK(Values("wrap_param", {I32({2}, {1, 2})}, Attrs({{"dtype", DType(f32)}})) == std::vector<double>{1, 2});
}

TEST_CASE("views of the bytes of a tensor", "[eval]") {
  const HostValue none{TupleValue{}};
  const Tensor x = I32({2, 2}, {1, 2, 3, 0x3f800000});
  CHECK(Values("memory.view", {x, ShapeValue{4}, none, none}) == std::vector<double>{1, 2, 3, 0x3f800000});
  CHECK(Values("memory.view", {x, ShapeValue{1}, f32, Scalar::Int(12)}) == std::vector<double>{1});
  CHECK(Values("memory.view", {x, ShapeValue{3}, DataType::UInt(8), Scalar::Int(3)}) == std::vector<double>{0, 2, 0});
  CHECK_FALSE(Try("memory.view", {x, ShapeValue{4}, none, Scalar::Int(1)}).ok());
  CHECK_FALSE(Try("memory.view", {x, ShapeValue{1}, none, Scalar::Int(-1)}).ok());
  CHECK_FALSE(Try("memory.view", {x, none, none, Scalar::Int(INT64_MAX)}).ok());
}

}  // namespace iropt

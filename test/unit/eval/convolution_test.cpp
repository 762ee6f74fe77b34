// Convolutions, against a reference that scatters every element of the image to the windows that contain it; the
// kernels gather the elements of a window.
#include "eval/kernels/matrix_product.h"
#include "reference.h"

namespace iropt {

namespace {

struct ConvSpec {
  Dims strides, before, after, dilation;
  int64_t groups = 1;
  Dims extra;  // output padding, of transposed convolutions
};

const ObjectAttr* ConvRecord(const ConvSpec& spec, std::string_view data, std::string_view kernel,
                             std::string_view out = "", DataType out_dtype = DataType::Void()) {
  Dims padding = spec.before;
  padding.insert(padding.end(), spec.after.begin(), spec.after.end());
  return Attrs({{"strides", IntItems(spec.strides)},
                {"padding", IntItems(padding)},
                {"output_padding", IntItems(spec.extra)},
                {"dilation", IntItems(spec.dilation)},
                {"groups", Int(spec.groups)},
                {"data_layout", Text(data)},
                {"kernel_layout", Text(kernel)},
                {"out_layout", Text(out.empty() ? data : out)},
                {"out_dtype", DType(out_dtype)}});
}

// A batch, a channel, and positions on the spatial axes.
Dims Joined(int64_t a, int64_t b, const Dims& rest) {
  Dims all{a, b};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

// x has the axes NC..., w the axes OI... with the channels of one group.
Ref Convolve(const Ref& x, const Ref& w, const ConvSpec& spec) {
  const size_t rank = x.shape.size() - 2;
  Dims out(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t reach = spec.dilation[i] * (w.shape[2 + i] - 1) + 1;
    out[i] = (x.shape[2 + i] + spec.before[i] + spec.after[i] - reach) / spec.strides[i] + 1;
  }
  Ref y(Joined(x.shape[0], w.shape[0], out));
  const int64_t per_group = w.shape[0] / spec.groups;
  x.ForEach([&](const Dims& from) {
    w.ForEach([&](const Dims& k) {
      if (k[0] / per_group * w.shape[1] + k[1] != from[1]) return;
      Dims place(rank);
      for (size_t i = 0; i < rank; ++i) {
        const int64_t start = from[2 + i] + spec.before[i] - k[2 + i] * spec.dilation[i];
        if (start < 0 || start % spec.strides[i] != 0) return;
        place[i] = start / spec.strides[i];
      }
      const Dims to = Joined(from[0], k[0], place);
      if (y.Has(to)) y.at(to) += x.at(from) * w.at(k);
    });
  });
  return y;
}

// The transposed convolution by its definition: every element of x adds a scaled copy of the kernel. w has the axes
// IO..., with the output channels of one group.
Ref Spread(const Ref& x, const Ref& w, const ConvSpec& spec) {
  const size_t rank = x.shape.size() - 2;
  Dims out(rank);
  for (size_t i = 0; i < rank; ++i) {
    out[i] = (x.shape[2 + i] - 1) * spec.strides[i] - spec.before[i] - spec.after[i] +
             spec.dilation[i] * (w.shape[2 + i] - 1) + 1 + spec.extra[i];
  }
  Ref y(Joined(x.shape[0], w.shape[1] * spec.groups, out));
  const int64_t in_group = x.shape[1] / spec.groups;
  x.ForEach([&](const Dims& from) {
    w.ForEach([&](const Dims& k) {
      if (k[0] != from[1]) return;
      Dims place(rank);
      for (size_t i = 0; i < rank; ++i)
        place[i] = from[2 + i] * spec.strides[i] + k[2 + i] * spec.dilation[i] - spec.before[i];
      const Dims to = Joined(from[0], from[1] / in_group * w.shape[1] + k[1], place);
      if (y.Has(to)) y.at(to) += x.at(from) * w.at(k);
    });
  });
  return y;
}

}  // namespace

TEST_CASE("convolution: one to three axes in every dtype", "[eval]") {
  const struct {
    const char* op;
    const char* data;
    const char* kernel;
    Dims x, w;
    ConvSpec spec;
  } cases[] = {
      {"nn.conv1d", "NCW", "OIW", {2, 2, 7}, {3, 2, 3}, {{2}, {1}, {0}, {1}, 1, {}}},
      {"nn.conv2d", "NCHW", "OIHW", {1, 2, 5, 4}, {2, 2, 3, 2}, {{1, 2}, {1, 0}, {2, 1}, {1, 2}, 1, {}}},
      {"nn.conv2d", "NCHW", "OIHW", {1, 4, 4, 4}, {4, 2, 2, 2}, {{1, 1}, {0, 0}, {0, 0}, {2, 1}, 2, {}}},
      {"nn.conv2d", "NCHW", "OIHW", {2, 3, 4, 3}, {6, 1, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, 3, {}}},
      {"nn.conv3d",
       "NCDHW",
       "OIDHW",
       {1, 1, 3, 4, 3},
       {2, 1, 2, 2, 2},
       {{1, 1, 2}, {0, 1, 0}, {1, 0, 1}, {1, 2, 1}, 1, {}}},
  };
  for (const auto& c : cases) {
    const Ref x = Ref::Whole(c.x, 1, 0, 1);
    const Ref w = Ref::Whole(c.w, 2, 0, 1);
    const Ref expected = Convolve(x, w, c.spec);
    for (const DataType dtype : AllNumberTypes()) {
      INFO(c.op << " of " << dtype.ToString());
      // Sums of up to 16 ones are whole in every format but that with two bits of mantissa.
      if (dtype == Float8Types()[1]) continue;
      CheckExact(*Run(c.op, {x.As(dtype), w.As(dtype)}, ConvRecord(c.spec, c.data, c.kernel)), expected, dtype);
    }
  }
}

TEST_CASE("convolution: layouts, and another dtype of the result", "[eval]") {
  const ConvSpec spec{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, {}};
  const Ref x = Ref::Whole({1, 4, 3, 5}, 3, -8, 8);
  const Ref w = Ref::Whole({8, 4, 3, 3}, 4, -8, 8);
  const Ref expected = Convolve(x, w, spec);
  const DataType f32 = DataType::Float(32);
  const Tensor nhwc = x.Permuted({0, 2, 3, 1}).As(f32);
  const Tensor hwio = w.Permuted({2, 3, 1, 0}).As(f32);
  CheckExact(*Run("nn.conv2d", {nhwc, hwio}, ConvRecord(spec, "NHWC", "HWIO")), expected.Permuted({0, 2, 3, 1}), f32);
  CheckExact(*Run("nn.conv2d", {nhwc, hwio}, ConvRecord(spec, "NHWC", "HWIO", "NCHW")), expected, f32);
  // A channel c of NCHW4c is channel c / 4 * 4 + c % 4.
  const Ref blocked = Ref::Of({1, 2, 3, 5, 4}, [&](const Dims& i) {
    return expected.at({i[0], i[1] * 4 + i[4], i[2], i[3]});
  });
  CheckExact(*Run("nn.conv2d", {nhwc, hwio}, ConvRecord(spec, "NHWC", "HWIO", "NCHW4c")), blocked, f32);
  const Ref x2c = Ref::Of({1, 2, 3, 5, 2}, [&](const Dims& i) { return x.at({i[0], i[1] * 2 + i[4], i[2], i[3]}); });
  CheckExact(*Run("nn.conv2d", {x2c.As(f32), w.As(f32)}, ConvRecord(spec, "NCHW2c", "OIHW", "NCHW")), expected, f32);
  // int8 operands, int32 sums.
  const DataType i8 = DataType::Int(8);
  const DataType i32 = DataType::Int(32);
  CheckExact(*Run("nn.conv2d", {x.As(i8), w.As(i8)}, ConvRecord(spec, "NCHW", "OIHW", "", i32)), expected, i32);
  CHECK_FALSE(Try("nn.conv2d", {nhwc, hwio}, ConvRecord(spec, "NHWC", "HWIO", "NCHW3c")).ok());
  CHECK_FALSE(Try("nn.conv2d", {nhwc, hwio}, ConvRecord(spec, "NHW", "HWIO")).ok());
}

TEST_CASE("transposed convolution", "[eval]") {
  const struct {
    const char* op;
    const char* data;
    const char* kernel;
    Dims x, w;
    ConvSpec spec;
  } cases[] = {
      {"nn.conv1d_transpose", "NCW", "IOW", {2, 2, 4}, {2, 3, 3}, {{2}, {1}, {0}, {1}, 1, {1}}},
      {"nn.conv1d_transpose", "NCW", "IOW", {1, 4, 3}, {4, 2, 2}, {{3}, {0}, {0}, {2}, 2, {0}}},
      {"nn.conv2d_transpose", "NCHW", "IOHW", {1, 2, 3, 2}, {2, 3, 2, 3}, {{2, 1}, {1, 0}, {0, 1}, {1, 2}, 1, {1, 0}}},
      {"nn.conv2d_transpose", "NCHW", "IOHW", {1, 4, 2, 2}, {4, 1, 3, 3}, {{2, 2}, {2, 2}, {2, 1}, {1, 1}, 2, {0, 1}}},
  };
  for (const auto& c : cases) {
    const Ref x = Ref::Whole(c.x, 5, 0, 1);
    const Ref w = Ref::Whole(c.w, 6, 0, 1);
    const Ref expected = Spread(x, w, c.spec);
    for (const DataType dtype : AllNumberTypes()) {
      INFO(c.op << " of " << dtype.ToString());
      CheckExact(*Run(c.op, {x.As(dtype), w.As(dtype)}, ConvRecord(c.spec, c.data, c.kernel)), expected, dtype);
    }
  }
}

TEST_CASE("convolution: rounding, wrapping, NaN", "[eval]") {
  const ConvSpec spec{{1}, {0}, {0}, {1}, 1, {}};
  const auto run = [&](DataType dtype, const std::vector<double>& x, const std::vector<double>& w) {
    const Dims n{1, 1, static_cast<int64_t>(x.size())};
    const Dims k{1, 1, static_cast<int64_t>(w.size())};
    return Values("nn.conv1d", {T(dtype, n, x), T(dtype, k, w)}, ConvRecord(spec, "NCW", "OIW"));
  };
  CHECK(run(DataType::Int(8), {100, 100, -128}, {1, 1, -1}) == std::vector<double>{72});
  CHECK(run(DataType::UInt(16), {65535, 65535}, {65535, 1}) == std::vector<double>{0});
  // 2048 + 1 is not a float16; the sum is rounded after every step, in order.
  CHECK(run(DataType::Float(16), {2048, 1, 1}, {1, 1, 1}) == std::vector<double>{2048});
  CHECK(run(DataType::Float(16), {1, 1, 2048}, {1, 1, 1}) == std::vector<double>{2050});
  CHECK(run(DataType::Float(32), {16777216, 1, 1}, {1, 1, 1}) == std::vector<double>{16777216});
  // Padding counts as zero, also times infinity.
  const double inf = std::numeric_limits<double>::infinity();
  const ConvSpec padded{{1}, {1}, {0}, {1}, 1, {}};
  CHECK(std::isnan(
      Values("nn.conv1d", {F32({1, 1, 1}, {1}), F32({1, 1, 2}, {inf, 1})}, ConvRecord(padded, "NCW", "OIW"))[0]));
}

TEST_CASE("convolution: empty operands and operands that do not fit", "[eval]") {
  const ConvSpec spec{{1, 1}, {0, 0}, {0, 0}, {1, 1}, 1, {}};
  const ObjectAttr* attrs = ConvRecord(spec, "NCHW", "OIHW");
  const auto shape_of = [&](Dims x, Dims w) {
    return ShapeOf(*Run("nn.conv2d", {Ref(x).As(DataType::Float(32)), Ref(w).As(DataType::Float(32))}, attrs));
  };
  CHECK(shape_of({0, 2, 4, 4}, {3, 2, 1, 1}) == Dims{0, 3, 4, 4});
  CHECK(shape_of({1, 2, 0, 4}, {3, 2, 1, 1}) == Dims{1, 3, 0, 4});
  CHECK(Values("nn.conv2d", {Ref({1, 0, 1, 2}).As(DataType::Float(32)), Ref({1, 0, 1, 1}).As(DataType::Float(32))},
               attrs) == std::vector<double>{0, 0});
  const auto fails = [&](Dims x, Dims w, const ObjectAttr* a) {
    return !Try("nn.conv2d", {Ref(x).As(DataType::Float(32)), Ref(w).As(DataType::Float(32))}, a).ok();
  };
  CHECK(fails({1, 2, 4, 4}, {3, 1, 1, 1}, attrs));
  CHECK(fails({1, 1, 1, 4}, {1, 1, 4, 1}, attrs));
  CHECK(fails({1, 1, 4, 4}, {1, 1, 0, 1}, attrs));
  CHECK(fails({1, 1, 4, 4}, {1, 1, 1, 1}, ConvRecord({{0, 1}, {0, 0}, {0, 0}, {1, 1}, 1, {}}, "NCHW", "OIHW")));
  CHECK(fails({1, 1, 4, 4}, {1, 1, 1, 1}, ConvRecord({{1, 1}, {INT64_MAX, 0}, {0, 0}, {1, 1}, 1, {}}, "NCHW", "OIHW")));
  CHECK(fails({1, 1, 4, 4}, {1, 1, 1, 1}, ConvRecord({{1, 1}, {0, 0}, {0, 0}, {1, 1}, 0, {}}, "NCHW", "OIHW")));
  const Result<HostValue> limited =
      Try("nn.conv2d", {Ref({1, 1, 9, 9}).As(DataType::Float(32)), Ref({1, 1, 3, 3}).As(DataType::Float(32))}, attrs,
          {.max_work = 100});
  REQUIRE_FALSE(limited.ok());
  CHECK(limited.error().code == ErrorCode::Budget);
}

TEST_CASE("big matrix products agree with the plain form", "[eval]") {
  const auto check = [](auto zero, double precision) {
    using T = decltype(zero);
    for (const auto& [rows, depth, columns] : {std::tuple{40, 70, 50}, {1, 300, 200}, {129, 65, 33}, {200, 1, 300}}) {
      // A row stride greater than the length of a row.
      std::mt19937 random(static_cast<unsigned>(rows));
      std::vector<T> a(static_cast<size_t>(rows * (depth + 3)));
      std::vector<T> b(static_cast<size_t>(depth * (columns + 2)));
      for (std::vector<T>* list : {&a, &b}) {
        for (T& value : *list) value = static_cast<T>(static_cast<double>(random() % 2001) / 1000 - 1);
      }
      std::vector<T> fast(static_cast<size_t>(rows * (columns + 1)), T{7});
      std::vector<T> plain = fast;
      eval::MatrixProduct<T> product{rows,     depth,       columns,     a.data(),   depth + 3,
                                     b.data(), columns + 2, fast.data(), columns + 1};
      eval::MultiplyByLibrary(product);
      product.c = plain.data();
      eval::MultiplyPlain(product);
      double worst = 0;
      for (size_t i = 0; i < fast.size(); ++i)
        worst = std::max(worst, std::fabs(static_cast<double>(fast[i] - plain[i])));
      CHECK(worst <= precision * depth);
      // The gaps between the rows are not written.
      for (size_t i = static_cast<size_t>(columns); i < fast.size(); i += static_cast<size_t>(columns) + 1)
        CHECK(fast[i] == T{7});
    }
  };
  check(0.0f, std::ldexp(1, -22));
  check(0.0, std::ldexp(1, -51));
}

TEST_CASE("a big convolution agrees with the formula", "[eval]") {
  const ConvSpec spec{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, {}};
  const Ref x = Ref::Whole({2, 16, 20, 20}, 7, -3, 3);
  const Ref w = Ref::Whole({24, 16, 3, 3}, 8, -3, 3);
  const Ref expected = Convolve(x, w, spec);
  // Sums of integers are exact in any order.
  for (const DataType dtype : {DataType::Float(32), DataType::Float(64), DataType::Int(16), DataType::Int(32)})
    CheckExact(*Run("nn.conv2d", {x.As(dtype), w.As(dtype)}, ConvRecord(spec, "NCHW", "OIHW")), expected, dtype);
}

}  // namespace iropt

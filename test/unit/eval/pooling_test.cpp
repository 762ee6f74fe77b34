// Pools and their gradients, against windows of images that are padded in memory.
#include <algorithm>

#include "reference.h"

namespace iropt {

namespace {

struct PoolSpec {
  Dims size, strides, before, after, dilation;
  bool ceil_mode = false;
  bool include = false;
};

const ObjectAttr* PoolRecord(const PoolSpec& spec, std::string_view layout, std::string_view out = "") {
  Dims padding = spec.before;
  padding.insert(padding.end(), spec.after.begin(), spec.after.end());
  return Attrs({{"pool_size", IntItems(spec.size)},
                {"strides", IntItems(spec.strides)},
                {"dilation", IntItems(spec.dilation)},
                {"padding", IntItems(padding)},
                {"ceil_mode", IntAttr::Bool(spec.ceil_mode)},
                {"count_include_pad", IntAttr::Bool(spec.include)},
                {"layout", Text(layout)},
                {"out_layout", Text(out.empty() ? layout : out)}});
}

// The elements of the window at `index` that are in the image, and how many of its elements are in the image with its
// padding.
struct Cut {
  std::vector<Dims> inside;
  int64_t padded = 0;
};

Cut CutOut(const Ref& x, const PoolSpec& spec, const Dims& index) {
  Cut cut;
  const size_t rank = spec.size.size();
  Ref window(spec.size);
  window.ForEach([&](const Dims& k) {
    Dims at = index;
    bool in_padding = true;
    for (size_t i = 0; i < rank; ++i) {
      at[2 + i] = index[2 + i] * spec.strides[i] + k[i] * spec.dilation[i] - spec.before[i];
      in_padding &= at[2 + i] < x.shape[2 + i] + spec.after[i];
    }
    cut.padded += in_padding;
    if (x.Has(at)) cut.inside.push_back(at);
  });
  return cut;
}

// Windows that end in the padded image; with ceil_mode also the next one, unless it starts after the image.
Dims PooledShape(const Ref& x, const PoolSpec& spec) {
  Dims shape = x.shape;
  for (size_t i = 0; i < spec.size.size(); ++i) {
    const int64_t length = x.shape[2 + i];
    int64_t count = 0;
    int64_t start = -spec.before[i];
    for (; start + spec.dilation[i] * (spec.size[i] - 1) < length + spec.after[i]; start += spec.strides[i]) ++count;
    const int64_t covered = start - spec.strides[i] + spec.dilation[i] * (spec.size[i] - 1) + 1;
    shape[2 + i] = count + (spec.ceil_mode && covered < length + spec.after[i] && start < length);
  }
  return shape;
}

Ref MaxPool(const Ref& x, const PoolSpec& spec) {
  return Ref::Of(PooledShape(x, spec), [&](const Dims& index) {
    double best = -kInf;
    for (const Dims& at : CutOut(x, spec, index).inside) best = std::max(best, x.at(at));
    return best;
  });
}

Ref AvgPool(const Ref& x, const PoolSpec& spec) {
  return Ref::Of(PooledShape(x, spec), [&](const Dims& index) {
    const Cut cut = CutOut(x, spec, index);
    double sum = 0;
    for (const Dims& at : cut.inside) sum += x.at(at);
    const double count = static_cast<double>(spec.include ? cut.padded : static_cast<int64_t>(cut.inside.size()));
    return sum / std::max(count, 1.0);
  });
}

const struct {
  const char* axes;
  int rank;
  Dims x;
  PoolSpec spec;
} kCases[] = {
    {"NCW", 1, {2, 2, 7}, {{3}, {2}, {1}, {1}, {1}, false, false}},
    {"NCW", 1, {1, 1, 6}, {{2}, {3}, {0}, {0}, {2}, true, false}},
    {"NCHW", 2, {1, 2, 5, 4}, {{2, 3}, {1, 2}, {1, 1}, {0, 1}, {1, 1}, false, true}},
    {"NCHW", 2, {2, 1, 6, 5}, {{2, 2}, {2, 2}, {0, 1}, {0, 0}, {1, 1}, true, false}},
    {"NCHW", 2, {1, 1, 5, 6}, {{2, 2}, {2, 2}, {1, 0}, {1, 0}, {2, 1}, true, true}},
    // Rounded up, the last window would start in the padding after the image.
    {"NCW", 1, {1, 2, 4}, {{2}, {3}, {1}, {1}, {1}, true, true}},
    {"NCHW", 2, {1, 2, 4, 5}, {{2, 2}, {3, 2}, {1, 1}, {1, 1}, {1, 1}, true, false}},
    {"NCHW", 2, {1, 1, 17, 4}, {{2, 3}, {2, 3}, {1, 2}, {1, 2}, {1, 1}, true, true}},
    {"NCDHW", 3, {1, 1, 4, 4, 3}, {{2, 2, 2}, {3, 3, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, true, false}},
    {"NCDHW", 3, {1, 2, 3, 4, 3}, {{2, 2, 1}, {1, 2, 1}, {0, 0, 0}, {1, 0, 0}, {1, 1, 1}, false, false}},
};

}  // namespace

TEST_CASE("pools: the greatest element of each window", "[eval]") {
  for (const auto& c : kCases) {
    const Ref x = Ref::Whole(c.x, 11, 0, 7);
    const Ref expected = MaxPool(x, c.spec);
    const std::string op = "nn.max_pool" + std::to_string(c.rank) + "d";
    for (const DataType dtype : AllNumberTypes()) {
      INFO(op << " of " << dtype.ToString());
      CheckExact(*Run(op, {x.As(dtype)}, PoolRecord(c.spec, c.axes)), expected, dtype);
    }
    // Padding is less than all elements.
    const Ref low = Ref::Of(c.x, [&](const Dims& i) { return x.at(i) - 100; });
    CheckExact(*Run(op, {low.As(DataType::Int(8))}, PoolRecord(c.spec, c.axes)), MaxPool(low, c.spec),
               DataType::Int(8));
  }
}

TEST_CASE("pools: the average of each window", "[eval]") {
  for (const auto& c : kCases) {
    const Ref x = Ref::Whole(c.x, 12, 0, 7);
    const Ref expected = AvgPool(x, c.spec);
    const std::string op = "nn.avg_pool" + std::to_string(c.rank) + "d";
    INFO(op);
    for (const DataType dtype : FloatTypes())
      CheckClose(*Run(op, {x.As(dtype)}, PoolRecord(c.spec, c.axes)), expected, 8);
    // Integers are truncated.
    Ref cut = expected;
    for (double& value : cut.values) value = std::trunc(value);
    for (const int bits : {8, 16, 32, 64}) {
      CheckExact(*Run(op, {x.As(DataType::Int(bits))}, PoolRecord(c.spec, c.axes)), cut, DataType::Int(bits));
      CheckExact(*Run(op, {x.As(DataType::UInt(bits))}, PoolRecord(c.spec, c.axes)), cut, DataType::UInt(bits));
    }
  }
}

TEST_CASE("pools: averages of integers are exact", "[eval]") {
  const auto average = [](DataType dtype, int64_t size, double element) {
    const PoolSpec spec{{size, size}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, false, false};
    const size_t count = static_cast<size_t>(size * size);
    return Values("nn.avg_pool2d", {T(dtype, {1, 1, size, size}, std::vector<double>(count, element))},
                  PoolRecord(spec, "NCHW"))[0];
  };
  // The number of elements and the sum do not fit the dtype.
  CHECK(average(DataType::Int(8), 16, 100) == 100);
  CHECK(average(DataType::Int(8), 12, -128) == -128);
  CHECK(average(DataType::UInt(8), 16, 255) == 255);
  CHECK(average(DataType::Int(16), 4, 32767) == 32767);
  CHECK(average(DataType::Int(32), 2, 2147483647) == 2147483647);
  const ObjectAttr* one =
      Attrs({{"output_size", Ints({1, 1})}, {"layout", Text("NCHW")}, {"out_layout", Text("NCHW")}});
  CHECK(Values("nn.adaptive_avg_pool2d", {T(DataType::Int(8), {1, 1, 16, 16}, std::vector<double>(256, -100))}, one) ==
        std::vector<double>{-100});
}

TEST_CASE("pools: layouts, NaN, empty operands and operands that do not fit", "[eval]") {
  const PoolSpec spec{{2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, false, false};
  const Ref x = Ref::Whole({1, 4, 4, 2}, 13, 0, 7);
  const DataType f32 = DataType::Float(32);
  const Ref expected = MaxPool(x, spec);
  CheckExact(*Run("nn.max_pool2d", {x.Permuted({0, 2, 3, 1}).As(f32)}, PoolRecord(spec, "NHWC", "NCHW")), expected,
             f32);
  CheckExact(*Run("nn.max_pool2d", {x.As(f32)}, PoolRecord(spec, "NCHW", "NHWC")), expected.Permuted({0, 2, 3, 1}),
             f32);
  const double nan = std::nan("");
  CHECK(std::isnan(Values("nn.max_pool2d", {F32({1, 1, 2, 2}, {nan, 1, -2, 0})}, PoolRecord(spec, "NCHW"))[0]));
  CHECK(std::isnan(Values("nn.max_pool2d", {F32({1, 1, 2, 2}, {0, 1, 2, nan})}, PoolRecord(spec, "NCHW"))[0]));
  CHECK(Values("nn.max_pool2d", {F32({1, 1, 2, 2}, {-kInf, -kInf, -kInf, -kInf})}, PoolRecord(spec, "NCHW")) ==
        std::vector<double>{-kInf});
  // A window that contains only padding.
  const PoolSpec beyond{{1, 1}, {1, 1}, {0, 0}, {0, 1}, {1, 1}, false, false};
  CHECK(Values("nn.max_pool2d", {T(DataType::Int(8), {1, 1, 1, 1}, {5})}, PoolRecord(beyond, "NCHW")) ==
        std::vector<double>{5, -128});
  CHECK(Values("nn.avg_pool2d", {F32({1, 1, 1, 1}, {5})}, PoolRecord(beyond, "NCHW")) == std::vector<double>{5, 0});
  CHECK(ShapeOf(*Run("nn.max_pool2d", {Ref({0, 3, 4, 4}).As(f32)}, PoolRecord(spec, "NCHW"))) == Dims{0, 3, 2, 2});
  CHECK_FALSE(Try("nn.max_pool2d", {Ref({1, 3, 4}).As(f32)}, PoolRecord(spec, "NCHW")).ok());
  CHECK_FALSE(Try("nn.max_pool2d", {B({1, 1, 2, 2}, {0, 1, 1, 1})}, PoolRecord(spec, "NCHW")).ok());
  PoolSpec bad = spec;
  bad.size = {0, 2};
  CHECK_FALSE(Try("nn.avg_pool2d", {Ref({1, 3, 4, 4}).As(f32)}, PoolRecord(bad, "NCHW")).ok());
}

TEST_CASE("adaptive pools: each element averages its share", "[eval]") {
  const struct {
    const char* op;
    const char* axes;
    Dims x, out;
  } cases[] = {{"nn.adaptive_avg_pool1d", "NCW", {2, 1, 7}, {3}},
               {"nn.adaptive_avg_pool2d", "NCHW", {1, 2, 5, 4}, {2, 4}},
               {"nn.adaptive_avg_pool2d", "NCHW", {1, 2, 3, 4}, {5, 1}},
               {"nn.adaptive_avg_pool3d", "NCDHW", {1, 1, 3, 4, 2}, {2, 3, 1}}};
  for (const auto& c : cases) {
    const Ref x = Ref::Whole(c.x, 14, 0, 8);
    Dims shape = c.x;
    std::copy(c.out.begin(), c.out.end(), shape.begin() + 2);
    // Element i contributes to output o if the intervals [i, i + 1) / in and [o, o + 1) / out overlap.
    const Ref expected = Ref::Of(shape, [&](const Dims& o) {
      double sum = 0;
      double count = 0;
      x.ForEach([&](const Dims& i) {
        bool meets = i[0] == o[0] && i[1] == o[1];
        for (size_t d = 2; d < shape.size(); ++d)
          meets &= i[d] * shape[d] < (o[d] + 1) * c.x[d] && (i[d] + 1) * shape[d] > o[d] * c.x[d];
        if (meets) sum += x.at(i), ++count;
      });
      return sum / count;
    });
    const ObjectAttr* attrs =
        Attrs({{"output_size", IntItems(c.out)}, {"layout", Text(c.axes)}, {"out_layout", Text(c.axes)}});
    for (const DataType dtype : FloatTypes()) CheckClose(*Run(c.op, {x.As(dtype)}, attrs), expected, 8);
    Ref cut = expected;
    for (double& value : cut.values) value = std::trunc(value);
    for (const DataType dtype : NumberTypes()) {
      if (dtype.is_integer()) CheckExact(*Run(c.op, {x.As(dtype)}, attrs), cut, dtype);
    }
  }
  // Without a size, every element is its own share.
  const ObjectAttr* same =
      Attrs({{"output_size", NoneAttr::Get()}, {"layout", Text("NCW")}, {"out_layout", Text("NCW")}});
  CHECK(Values("nn.adaptive_avg_pool1d", {F32({1, 1, 3}, {1, 2, 3})}, same) == std::vector<double>{1, 2, 3});
}

TEST_CASE("gradients of pools", "[eval]") {
  const PoolSpec specs[] = {{{2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, false, false},
                            {{3, 2}, {1, 2}, {1, 0}, {1, 1}, {1, 1}, false, false},
                            {{2, 3}, {2, 2}, {0, 1}, {0, 1}, {1, 1}, true, true}};
  for (const PoolSpec& spec : specs) {
    const Ref x = Ref::Whole({1, 2, 5, 6}, 15, 0, 9);
    const Ref grad = Ref::Whole(PooledShape(x, spec), 16, 1, 4);
    Ref of_max(x.shape);
    Ref of_avg(x.shape);
    grad.ForEach([&](const Dims& index) {
      const Cut cut = CutOut(x, spec, index);
      if (cut.inside.empty()) return;
      const Dims* best = &cut.inside[0];
      for (const Dims& at : cut.inside) best = x.at(at) > x.at(*best) ? &at : best;
      of_max.at(*best) += grad.at(index);
      const double count = static_cast<double>(spec.include ? cut.padded : static_cast<int64_t>(cut.inside.size()));
      for (const Dims& at : cut.inside) of_avg.at(at) += grad.at(index) / count;
    });
    for (const DataType dtype : FloatTypes()) {
      CheckExact(*Run("grad.max_pool2d_backward", {grad.As(dtype), x.As(dtype)}, PoolRecord(spec, "NCHW")), of_max,
                 dtype);
      CheckClose(*Run("grad.avg_pool2d_backward", {grad.As(dtype), x.As(dtype)}, PoolRecord(spec, "NCHW")), of_avg);
    }
    CHECK_FALSE(Try("grad.max_pool2d_backward", {x.As(DataType::Float(32)), x.As(DataType::Float(32))},
                    PoolRecord(spec, "NCHW"))
                    .ok());
  }
}

}  // namespace iropt

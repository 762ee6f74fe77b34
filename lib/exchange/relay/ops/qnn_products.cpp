// Quantized convolutions and matrix products. Without the zero points a and b of the operands, a product is that of the
// quantized operands and three corrections: x*y - b*sum(x) - a*sum(y) + n*a*b.
#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "qnn.h"

namespace iropt::relay {

namespace {

using Value = const Expr*;

// The zero points of the operands where both are constants; else all corrections are needed.
struct KnownZeroPoints {
  KnownZeroPoints(Value of_x, Value of_y) {
    if (!IsConstantScalar(of_x) || !IsConstantScalar(of_y)) return;
    known = true;
    x = static_cast<int64_t>(ConstantNumbers(of_x)->front());
    y = static_cast<int64_t>(ConstantNumbers(of_y)->front());
  }

  bool known = false;
  int64_t x = -1;
  int64_t y = -1;
};

// The product with its corrections, of which only those that are not zero are made. The last two are kept together,
// since they are constants if the weight is one.
template <class OfX, class OfY, class Last>
Value Combine(RelayBuilder& relay, const KnownZeroPoints& zero, Value product, OfX of_x, OfY of_y, Last constant) {
  if (zero.x == 0 && zero.y == 0) return product;
  if (zero.x == 0) return relay.Subtract(product, of_x());
  if (zero.y == 0) return relay.Subtract(product, of_y());
  return relay.Add(relay.Subtract(product, of_x()), relay.Subtract(constant(), of_y()));
}

// n*a*b
Value ConstantTerm(RelayBuilder& relay, Value of_x, Value of_y, const KnownZeroPoints& zero, int64_t count) {
  if (zero.known) return relay.Int(zero.x * zero.y * count);
  return relay.Multiply(relay.Multiply(of_x, of_y), relay.Int(count));
}

// The sizes of the operand that is not transposed; -1 if they are unknown.
std::vector<int64_t> SizesOf(Value operand, int rank) {
  std::vector<int64_t> sizes(static_cast<size_t>(rank), -1);
  const auto dims = DimsOf(operand);
  for (size_t i = 0; dims && i < std::min(dims->size(), sizes.size()); ++i) {
    if (const int64_t* size = arith::AsInt((*dims)[i])) sizes[i] = *size;
  }
  return sizes;
}

// A size that a correction needs.
bool IsKnown(OpCall& call, int64_t size) {
  if (size < 0) call.NoCounterpart("a quantized product of asymmetric operands of unknown shape");
  return size >= 0;
}

// ---- Matrix products

const Expr* BuildQuantizedDense(OpCall& call) {
  RelayBuilder relay(call);
  Value data = call.arg(0);
  Value weight = call.arg(1);
  Value data_zero = call.arg(2);
  Value weight_zero = call.arg(3);
  const std::vector<int64_t> sizes = SizesOf(weight, 2);
  const KnownZeroPoints zero(data_zero, weight_zero);
  Value product =
      call.Relay("nn.dense", {data, weight}, {{"units", call.attr("units")}, {"out_dtype", call.attr("out_dtype")}});
  const auto of_data = [&]() -> Value {
    Value sums = relay.Sum(relay.Cast(data, kInt32), {1}, true);
    if (!IsConstantScalar(weight_zero)) {
      if (!IsKnown(call, sizes[0])) return nullptr;
      sums = relay.Repeat(sums, sizes[0], 1);
    }
    return relay.Multiply(weight_zero, sums);
  };
  const auto of_weight = [&] { return relay.Multiply(data_zero, relay.Sum(relay.Cast(weight, kInt32), {1}, false)); };
  const auto constant = [&]() -> Value {
    return IsKnown(call, sizes[1]) ? ConstantTerm(relay, data_zero, weight_zero, zero, sizes[1]) : nullptr;
  };
  return Combine(relay, zero, product, of_data, of_weight, constant);
}

const Expr* BuildQuantizedBatchMatmul(OpCall& call) {
  RelayBuilder relay(call);
  if (call.Bool("transpose_a") || !call.Bool("transpose_b"))
    return call.NoCounterpart("a quantized product other than of a and the transposed b");
  const std::vector<int64_t> sizes = SizesOf(call.arg(1), 3);
  Value x_zero = call.arg(2);
  Value y_zero = call.arg(3);
  const KnownZeroPoints zero(x_zero, y_zero);
  Value product = call.Relay("nn.batch_matmul", {call.arg(0), call.arg(1)},
                             {{"out_dtype", call.attr("out_dtype")}, {"transpose_b", true}});
  const auto of_x = [&] { return relay.Multiply(y_zero, relay.Sum(relay.Cast(call.arg(0), kInt32), {2}, true)); };
  const auto of_y = [&]() -> Value {
    if (!IsKnown(call, sizes[1])) return nullptr;
    Value sums = relay.Multiply(x_zero, relay.Sum(relay.Cast(call.arg(1), kInt32), {2}, true));
    return relay.Reshape(sums, {0, 1, sizes[1]});
  };
  const auto constant = [&]() -> Value {
    return IsKnown(call, sizes[2]) ? ConstantTerm(relay, x_zero, y_zero, zero, sizes[2]) : nullptr;
  };
  return Combine(relay, zero, product, of_x, of_y, constant);
}

// ---- Convolutions

class QuantizedConv {
 public:
  explicit QuantizedConv(OpCall& call)
      : call_(call),
        relay_(call),
        data_(call.arg(0)),
        weight_(call.arg(1)),
        data_zero_(call.arg(2)),
        weight_zero_(call.arg(3)),
        zero_(call.arg(2), call.arg(3)),
        data_layout_(call.String("data_layout")),
        kernel_layout_(call.String("kernel_layout")) {}

  Value Build() {
    if (!Check()) return nullptr;
    const bool supported = (zero_.y == 0 || !IsDilated()) && (groups_ == 1 || IsDepthwise());
    if (!zero_.known) {
      const size_t axis = supported ? data_layout_.find('C') : kernel_layout_.find('O');
      weight_zero_ = relay_.AlongAxis(relay_.Reshape(weight_zero_, {-1}), static_cast<int64_t>(axis), 4);
    }
    if (!supported) return OfCenteredOperands();
    data_ = Padded();
    const bool depthwise = IsDepthwise();
    const auto of_data = [&] { return depthwise ? DepthwiseDataTerm() : DataTerm(); };
    const auto of_weight = [&] { return depthwise ? DepthwiseWeightTerm() : WeightTerm(); };
    const auto constant = [&] { return ConstantTermOf(depthwise); };
    Value product = Convolution(data_, weight_, call_.ListOf({0, 0, 0, 0}));
    return Combine(relay_, zero_, product, of_data, of_weight, constant);
  }

 private:
  bool Check() {
    if (data_layout_ != "NCHW" && data_layout_ != "NHWC") {
      call_.NoCounterpart("a quantized convolution with another layout of data than NCHW and NHWC");
    } else if (kernel_layout_ != "OIHW" && kernel_layout_ != "HWIO" && kernel_layout_ != "HWOI" &&
               kernel_layout_ != "OHWI") {
      call_.NoCounterpart("a quantized convolution with this layout of the weight");
    } else if (RankOf(data_) != 4 || RankOf(weight_) != 4) {
      call_.Error("type-inference", "the operands do not have four dimensions");
    } else if (call_.Ints("strides").size() > 2 || call_.Ints("padding").size() > 4) {
      call_.Error("bad-argument", "the strides or the padding have too many numbers");
    } else {
      shape_ = SizesOf(weight_, 4);
      groups_ = call_.Int("groups");
      outputs_ = SizeOf('O');
      kernel_ = SizeOf('H') < 0 || SizeOf('W') < 0 ? -1 : SizeOf('H') * SizeOf('W');
      return true;
    }
    return false;
  }

  int64_t SizeOf(char axis) const { return shape_[kernel_layout_.find(axis)]; }
  bool IsDepthwise() const { return groups_ != 1 && call_.has("channels") && call_.Int("channels") == groups_; }
  bool IsDilated() const {
    for (const int64_t dilation : call_.Ints("dilation")) {
      if (dilation != 1) return true;
    }
    return false;
  }
  // The dtype of the corrections.
  DataType SumDType() const {
    const auto dtype = DataType::Parse(call_.String("out_dtype"));
    return dtype && dtype->bits > 32 ? *dtype : kInt32;
  }

  Value Convolution(Value data, Value weight, const PyValue& padding) {
    return call_.Relay("nn.conv2d", {data, weight},
                       {{"strides", call_.attr("strides")},
                        {"padding", padding},
                        {"dilation", call_.attr("dilation")},
                        {"groups", call_.attr("groups")},
                        {"channels", call_.attr("channels")},
                        {"kernel_size", call_.attr("kernel_size")},
                        {"data_layout", call_.attr("data_layout")},
                        {"kernel_layout", call_.attr("kernel_layout")},
                        {"out_layout", call_.attr("out_layout")},
                        {"out_dtype", call_.attr("out_dtype")}});
  }

  // The convolution of the operands without their zero points.
  Value OfCenteredOperands() {
    const auto centered = [&](Value operand, Value zero_point) {
      Value wide = relay_.Cast(operand, SumDType());
      if (AreEqualScalars(zero_point, relay_.Int(0, SumDType()))) return wide;
      return relay_.Subtract(wide, relay_.Cast(zero_point, SumDType()));
    };
    Value data = centered(data_, data_zero_);
    return Convolution(data, centered(weight_, weight_zero_), call_.attr("padding"));
  }

  // Top, left, bottom, right.
  std::vector<int64_t> Padding() const {
    std::vector<int64_t> padding = call_.Ints("padding");
    if (padding.empty()) padding.push_back(0);
    if (padding.size() == 1) padding.resize(4, padding.front());
    if (padding.size() == 2) padding.insert(padding.end(), {padding[0], padding[1]});
    padding.resize(4, 0);
    return padding;
  }

  // The data has its zero point around it, which the padding of a convolution would not have.
  Value Padded() {
    const std::vector<int64_t> padding = Padding();
    if (padding == std::vector<int64_t>(4, 0)) return data_;
    const PyValue none = call_.ListOf({0, 0});
    const PyValue rows = call_.ListOf({padding[0], padding[2]});
    const PyValue columns = call_.ListOf({padding[1], padding[3]});
    std::vector<PyValue> widths{none, none, rows, columns};
    if (data_layout_ == "NHWC") widths = {none, rows, columns, none};
    return call_.Relay("nn.pad", {data_, data_zero_}, {{"pad_width", call_.ListOf(widths)}});
  }

  // The sums over the windows of the kernel: averages of the data times the size, which are exact.
  Value WindowSums(Value data) {
    if (!IsKnown(call_, kernel_)) return nullptr;
    int64_t strides = 1;
    for (const int64_t stride : call_.Ints("strides")) strides *= stride;
    if (kernel_ != 1) {
      data = relay_.Multiply(data, relay_.Int(kernel_));
    } else if (strides == 1) {
      return data;
    }
    return call_.Relay("nn.avg_pool2d", {data},
                       {{"pool_size", call_.ListOf({SizeOf('H'), SizeOf('W')})},
                        {"strides", call_.attr("strides")},
                        {"dilation", call_.attr("dilation")},
                        {"padding", call_.ListOf({0, 0})},
                        {"layout", call_.attr("data_layout")}});
  }

  bool WeightZeroIsOne() { return AreEqualScalars(weight_zero_, relay_.Int(1)); }

  Value DataTerm() {
    const auto channel = static_cast<int64_t>(data_layout_.find('C'));
    Value sums = WindowSums(relay_.Sum(relay_.Cast(data_, kInt32), {channel}, true));
    if (WeightZeroIsOne()) return sums;
    if (!IsConstantScalar(weight_zero_)) {
      if (!IsKnown(call_, outputs_)) return nullptr;
      sums = relay_.Repeat(sums, outputs_, channel);
    }
    return relay_.Multiply(weight_zero_, sums);
  }

  Value DepthwiseDataTerm() {
    const int64_t multiplier = SizeOf('I');
    if (!IsKnown(call_, multiplier)) return nullptr;
    Value sums = WindowSums(relay_.Cast(data_, kInt32));
    if (!WeightZeroIsOne()) {
      Value zero = IsConstantScalar(weight_zero_) ? weight_zero_ : relay_.Repeat(weight_zero_, multiplier, 0);
      sums = relay_.Multiply(zero, sums);
    }
    const auto channel = static_cast<int64_t>(data_layout_.find('C'));
    return multiplier == 1 ? sums : relay_.Repeat(sums, multiplier, channel);
  }

  // The sums of the weight along the axes, one for each channel of the output; -1 if their number is unknown.
  Value WeightSums(std::vector<int64_t> axes, int64_t channels) {
    Value sums = call_.Relay("sum", {relay_.Cast(weight_, kInt32)}, {{"axis", call_.ListOf(axes)}});
    sums =
        data_layout_ == "NCHW" ? relay_.Reshape(sums, {1, channels, 1, 1}) : relay_.Reshape(sums, {1, 1, 1, channels});
    return AreEqualScalars(data_zero_, relay_.Int(1)) ? sums : relay_.Multiply(data_zero_, sums);
  }

  Value WeightTerm() {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < kernel_layout_.size(); ++i) {
      if (kernel_layout_[i] != 'O') axes.push_back(static_cast<int64_t>(i));
    }
    return WeightSums(std::move(axes), outputs_);
  }

  Value DepthwiseWeightTerm() {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < kernel_layout_.size(); ++i) {
      if (kernel_layout_[i] == 'H' || kernel_layout_[i] == 'W') axes.push_back(static_cast<int64_t>(i));
    }
    const int64_t multiplier = SizeOf('I');
    return WeightSums(std::move(axes), multiplier < 0 || outputs_ < 0 ? -1 : outputs_ * multiplier);
  }

  Value ConstantTermOf(bool depthwise) {
    if (!IsKnown(call_, kernel_) || !IsKnown(call_, SizeOf('I'))) return nullptr;
    const int64_t count = depthwise ? kernel_ : kernel_ * SizeOf('I');
    const DataType dtype = depthwise ? kInt32 : SumDType();
    if (zero_.known) return relay_.Int(static_cast<int32_t>(zero_.x * zero_.y * count), dtype);
    return relay_.Multiply(relay_.Int(count, dtype), relay_.Multiply(data_zero_, weight_zero_));
  }

  OpCall& call_;
  RelayBuilder relay_;
  Value data_;
  Value weight_;
  Value data_zero_;
  Value weight_zero_;
  KnownZeroPoints zero_;
  std::string_view data_layout_;
  std::string_view kernel_layout_;
  std::vector<int64_t> shape_;  // of the weight; -1 for what is unknown
  int64_t groups_ = 1;
  int64_t outputs_ = 0;
  int64_t kernel_ = 1;  // elements of a window
};

const Expr* BuildQuantizedConv(OpCall& call) { return QuantizedConv(call).Build(); }

// The operands without their zero points, in int16.
const Expr* BuildQuantizedConvTranspose(OpCall& call) {
  RelayBuilder relay(call);
  constexpr DataType kInt16 = DataType::Int(16);
  const auto centered = [&](Value operand, Value zero_point) {
    Value wide = relay.Cast(operand, kInt16);
    if (RankOf(zero_point) == 0) return relay.Subtract(wide, relay.Cast(zero_point, kInt16));
    Value negative = relay.Unary("negative", relay.Cast(zero_point, kInt16));
    return call.Relay("nn.bias_add", {wide, negative});
  };
  Value data = centered(call.arg(0), call.arg(2));
  return call.Relay("nn.conv2d_transpose", {data, centered(call.arg(1), call.arg(3))},
                    {{"channels", call.attr("channels")},
                     {"kernel_size", call.attr("kernel_size")},
                     {"strides", call.attr("strides")},
                     {"output_padding", call.attr("output_padding")},
                     {"padding", call.attr("padding")},
                     {"dilation", call.attr("dilation")},
                     {"groups", call.attr("groups")},
                     {"data_layout", call.attr("data_layout")},
                     {"kernel_layout", call.attr("kernel_layout")},
                     {"out_layout", call.attr("out_layout")},
                     {"out_dtype", call.attr("out_dtype")}});
}

const Expr* BuildQuantizedDensePack(OpCall& call) {
  return call.NoCounterpart("a product with a packed weight, which TVM only has in hand-written code");
}

#define QNN_PRODUCT_ARGUMENTS "data, weight, input_zero_point, weight_zero_point, input_scale, weight_scale"

constexpr OperatorRow kQnnProducts[] = {
    {"qnn.batch_matmul", "x, y, x_zero_point, y_zero_point, x_scale, y_scale",
     "out_dtype=\"int32\", transpose_a=False, transpose_b=False", BuildQuantizedBatchMatmul},
    {"qnn.contrib_dense_pack", QNN_PRODUCT_ARGUMENTS, "units=None, out_dtype=\"int32\", weight_layout=\"NC\"",
     BuildQuantizedDensePack},
    {"qnn.conv2d", QNN_PRODUCT_ARGUMENTS,
     "strides=[1, 1], padding=[0, 0], dilation=[1, 1], groups=1, channels=None, kernel_size=None, "
     "data_layout=\"NCHW\", kernel_layout=\"OIHW\", out_layout=\"\", out_dtype=\"int32\"",
     BuildQuantizedConv},
    {"qnn.conv2d_transpose", QNN_PRODUCT_ARGUMENTS,
     "channels=None, kernel_size=None, strides=[1, 1], output_padding=[0, 0], padding=[0, 0], dilation=[1, 1], "
     "groups=1, data_layout=\"NCHW\", kernel_layout=\"IOHW\", out_layout=\"\", out_dtype=\"int32\"",
     BuildQuantizedConvTranspose},
    {"qnn.dense", QNN_PRODUCT_ARGUMENTS, "units=None, out_dtype=\"int32\"", BuildQuantizedDense},
};

#undef QNN_PRODUCT_ARGUMENTS

}  // namespace

std::span<const OperatorRow> QnnProductOperators() { return kQnnProducts; }

}  // namespace iropt::relay

// Convolutions of points that are moved by data.
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/image.h"
#include "relay_builder.h"
#include "shape_values.h"

namespace iropt::relay {

namespace {

using Value = const Expr*;

// The data is sampled at the points of each element of the kernel, and convolved with that element; what is outside of
// the image is zero.
class DeformableConv {
 public:
  explicit DeformableConv(OpCall& call) : call_(call), relay_(call) {}

  Value Build() {
    const std::string_view layout = call_.String("data_layout");
    data_ = TransformLayout(call_, call_.arg(0), layout, "NCHW");
    offsets_ = TransformLayout(call_, call_.arg(1), layout, "NCHW");
    weight_ = TransformLayout(call_, call_.arg(2), call_.String("kernel_layout"), "OIHW");
    if (data_ == nullptr || offsets_ == nullptr || weight_ == nullptr || !Check()) return nullptr;
    Value sum = nullptr;
    for (int64_t i = 0; i < kernel_[2]; ++i) {
      for (int64_t j = 0; j < kernel_[3]; ++j) {
        Value part = call_.Relay("nn.conv2d", {Moved(i, j), Element(i, j)},
                                 {{"groups", call_.attr("groups")}, {"out_dtype", call_.attr("out_dtype")}});
        sum = sum ? relay_.Add(sum, part) : part;
      }
    }
    const std::string_view out = call_.String("out_layout");
    return TransformLayout(call_, sum, "NCHW", out.empty() ? layout : out);
  }

 private:
  bool Check() {
    const auto kernel = StaticDimsOf(weight_);
    const auto points = DimsOf(offsets_);
    const auto dims = DimsOf(data_);
    const auto pair = [&](std::string_view name) {
      std::vector<int64_t> values = call_.Ints(name);
      values.resize(2, values.empty() ? 1 : values.front());
      return values;
    };
    strides_ = pair("strides");
    dilation_ = pair("dilation");
    padding_ = call_.Ints("padding");
    padding_.resize(2, padding_.empty() ? 0 : padding_.front());
    groups_ = call_.Int("deformable_groups");
    if (!kernel || !points || !dims) {
      call_.NoCounterpart("a deformable convolution of operands of unknown shape");
      return false;
    }
    if ((*kernel)[2] < 1 || (*kernel)[3] < 1) {
      call_.Error("bad-argument", "the kernel has no elements");
      return false;
    }
    kernel_ = *kernel;
    points_ = *points;
    const int64_t* channels = arith::AsInt((*dims)[1]);
    channels_ = channels ? *channels : kernel_[1] * call_.Int("groups");
    if (groups_ < 1 || channels_ % groups_ != 0) {
      call_.Error("bad-argument", "the groups do not divide the channels");
      return false;
    }
    return call_.MayRepeat({kernel_[2], kernel_[3], groups_});
  }

  Value Part(Value tensor, int64_t axis, int64_t begin, int64_t end) {
    return call_.Slice(tensor, {axis}, {begin}, {end});
  }

  Value Element(int64_t i, int64_t j) { return Part(Part(weight_, 2, i, i + 1), 3, j, j + 1); }

  // The data at the points for one element of the kernel.
  Value Moved(int64_t i, int64_t j) {
    std::vector<Value> parts;
    const int64_t size = channels_ / groups_;
    for (int64_t group = 0; group < groups_; ++group) {
      const int64_t at = 2 * (group * kernel_[2] * kernel_[3] + i * kernel_[3] + j);
      const Line y = Points(at, 0, i);
      const Line x = Points(at + 1, 1, j);
      Value channels = groups_ == 1 ? data_ : Part(data_, 1, group * size, (group + 1) * size);
      const Value lines[] = {x.normalized, y.normalized};
      Value grid = call_.Concat(lines, 1);
      Value sampled = op::ImageGridSample(call_, channels, grid,
                                          {.method = "bilinear", .padding_mode = "border", .align_corners = false});
      Value outside = relay_.LogicalOr(y.outside, x.outside);
      parts.push_back(relay_.Where(outside, call_.Cast(relay_.Float(0), DTypeOf(data_)), sampled));
    }
    return parts.size() == 1 ? parts.front() : call_.Concat(parts, 1);
  }

  struct Line {
    Value normalized = nullptr;  // from -1 at the beginning of the first pixel to 1 at the end of the last one
    Value outside = nullptr;
  };

  // The coordinates along axis 0 or 1 of the image, of shape (batch, 1, rows, columns).
  Line Points(int64_t channel, size_t axis, int64_t element) {
    Value places = call_.Iota(points_[2 + axis], kInt64);
    places = relay_.Multiply(call_.Cast(places, kFloat32), relay_.Float(static_cast<double>(strides_[axis])));
    const int64_t shift = element * dilation_[axis] - padding_[axis];
    places = relay_.Add(places, relay_.Float(static_cast<double>(shift)));
    Value offset = call_.Cast(Part(offsets_, 1, channel, channel + 1), kFloat32);
    Value points = relay_.Add(AlongAxis(call_, places, static_cast<int64_t>(axis), 2), offset);
    Value size = SizeOfAxis(call_, data_, 2 + static_cast<int64_t>(axis), kFloat32);
    Line line;
    line.outside = relay_.LogicalOr(relay_.Less(points, relay_.Float(0)), relay_.GreaterEqual(points, size));
    Value twice = relay_.Add(relay_.Multiply(points, relay_.Float(2)), relay_.Float(1));
    line.normalized = relay_.Subtract(relay_.Divide(twice, size), relay_.Float(1));
    return line;
  }

  OpCall& call_;
  RelayBuilder relay_;
  Value data_ = nullptr;
  Value offsets_ = nullptr;
  Value weight_ = nullptr;
  std::vector<int64_t> kernel_;  // the dimensions of the weight
  DimList points_;               // those of the offsets
  std::vector<int64_t> strides_, dilation_, padding_;
  int64_t groups_ = 1;
  int64_t channels_ = 0;
};

const Expr* BuildDeformableConv(OpCall& call) { return DeformableConv(call).Build(); }

constexpr OperatorRow kDeformable[] = {
    {"nn.deformable_conv2d", "data, offset, weight",
     "strides=[1, 1], padding=[0, 0], dilation=[1, 1], deformable_groups=1, groups=1, channels=None, "
     "kernel_size=None, data_layout=\"NCHW\", kernel_layout=\"OIHW\", out_layout=\"\", out_dtype=\"\"",
     BuildDeformableConv},
};

}  // namespace

std::span<const OperatorRow> DeformableOperators() { return kDeformable; }

}  // namespace iropt::relay

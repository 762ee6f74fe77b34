// FoldExplicitPadding: lets convolutions and pooling pad their operand themselves.
//
//   lv = R.nn.pad(x, [0, 0, 0, 0, 1, 1, 1, 1])
//   gv = R.nn.conv2d(lv, w, padding=[0, 0, 0, 0])    -->    gv = R.nn.conv2d(x, w, padding=[1, 1, 1, 1])
//
// Only padding of the spatial axes can be folded: with zeros before convolutions and average pooling, with the least
// value of the dtype or minus infinity before maximum pooling, or with zeros if the operand has no negative elements.
// Average pooling that does not count its own padding must count what is folded; it stays if it has padding or rounds
// the size of its result up. Pooling never gets padding as wide as its window, which many runtimes refuse. In changed
// functions, aliases are propagated and dead bindings removed. O(nodes).
//
// Source: the pass of Relay of TVM 0.18 of this name.
#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/diag/joint_spans.h"
#include "iropt/infer/window.h"
#include "iropt/ir/limits.h"
#include "iropt/ir/location.h"
#include "iropt/ir/ndarray.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/pooling.h"
#include "iropt/op/ops/softmax.h"
#include "iropt/op/ops/unary.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/runtime/value.h"
#include "transform/relax/ipo/call_tracker.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

enum class PaddedKind : uint8_t { kNone, kConvolution, kAveragePool, kMaximumPool };

PaddedKind KindOf(const Expr* op) {
  const auto is_one_of = [&](std::initializer_list<OpId> ids) {
    return std::ranges::any_of(ids, [&](OpId id) { return IsOp(op, id); });
  };
  if (is_one_of({op::kNnConv1d, op::kNnConv2d, op::kNnConv3d})) return PaddedKind::kConvolution;
  if (is_one_of({op::kNnAvgPool1d, op::kNnAvgPool2d, op::kNnAvgPool3d})) return PaddedKind::kAveragePool;
  if (is_one_of({op::kNnMaxPool1d, op::kNnMaxPool2d, op::kNnMaxPool3d})) return PaddedKind::kMaximumPool;
  return PaddedKind::kNone;
}

// A list of integers.
std::optional<std::vector<int64_t>> Integers(const Attr* attr) {
  const auto* list = As<ListAttr>(attr);
  if (!list) return std::nullopt;
  std::vector<int64_t> values;
  for (const Attr* item : list->values) {
    const auto* value = As<IntAttr>(item);
    if (!value) return std::nullopt;
    values.push_back(value->value);
  }
  return values;
}

// The axes of a layout: those of NCHW4c are N, C, H, W, c.
std::vector<char> AxesOf(std::string_view layout) {
  std::vector<char> axes;
  for (const char c : layout) {
    if (c < '0' || c > '9') axes.push_back(c);
  }
  return axes;
}

// The padding of the spatial axes, before all of them and then after all of them. Nothing if other axes are padded.
std::optional<std::vector<int64_t>> SpatialPadding(const Call& pad, std::string_view layout) {
  const auto* attrs = As<ObjectAttr>(pad.attrs);
  const auto widths = attrs ? Integers(attrs->Find("pad_width")) : std::nullopt;
  const std::vector<char> axes = AxesOf(layout);
  if (!widths || widths->size() != 2 * axes.size()) return std::nullopt;
  std::vector<int64_t> padding;
  for (size_t side = 0; side < 2; ++side) {
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      const int64_t width = (*widths)[2 * axis + side];
      const bool is_spatial = std::string_view("DHW").find(axes[axis]) != std::string_view::npos;
      if (width < 0 || (width != 0 && !is_spatial)) return std::nullopt;
      if (is_spatial) padding.push_back(width);
    }
  }
  return padding;
}

// The value that the tensor is padded with, if it is a constant.
std::optional<Scalar> PadValue(const Call& pad) {
  const auto* attrs = As<ObjectAttr>(pad.attrs);
  const auto* mode = attrs ? As<StrAttr>(attrs->Find("pad_mode")) : nullptr;
  const auto* value = pad.args.size() > 1 ? As<Constant>(pad.args[1]) : nullptr;
  return mode && mode->value == "constant" && value ? ScalarOf(*value->data) : std::nullopt;
}

// Returns whether the value is what convolutions and pooling take outside of their operands.
bool IsNeutral(const Scalar& value, PaddedKind kind) {
  if (kind != PaddedKind::kMaximumPool) return value.ToDouble() == 0;
  if (value.dtype.is_floating()) return -value.ToDouble() >= GreatestFinite(value.dtype);
  const int bits = value.dtype.bits;
  return value.integer == (value.dtype.is_int() ? std::numeric_limits<int64_t>::min() >> (64 - bits) : 0);
}

class PaddingFolder : public CallTracker {
 public:
  PaddingFolder(const Module&, Workspace& workspace, TypeInferrer& inferrer) : CallTracker(workspace, &inferrer) {}

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(CallTracker::VisitCall(old));
    const PaddedKind kind = KindOf(call->op);
    const Call* pad = kind == PaddedKind::kNone ? nullptr : CallOf(call->args[0]);
    if (!pad || !IsOp(pad->op, op::kNnPad)) return call;
    const std::optional<Scalar> value = PadValue(*pad);
    const bool is_neutral = value && (IsNeutral(*value, kind) || IsLeast(*value, *pad, *call, kind));
    const ObjectAttr* attrs = is_neutral ? Fold(*pad, *call, kind) : nullptr;
    if (!attrs) return call;
    std::vector<const Expr*> args(call->args.begin(), call->args.end());
    args[0] = pad->args[0];
    auto* padded = NewLike<Call>(workspace(), *call, call->op, workspace().Copy(args), attrs, call->type_args, nullptr);
    const SourceSpan places[] = {Location(*call), Location(*pad)};
    const SourceSpan joint = Join(places);
    padded->set_span(Span::Of(joint.begin, joint.end));
    return padded;
  }

 private:
  // Returns whether the value is zero, no element is less, and each window of the maximum pooling has an element.
  bool IsLeast(const Scalar& value, const Call& pad, const Call& pool, PaddedKind kind) const {
    const TensorType* type = TensorTypeOf(pad.args[0]);
    if (kind != PaddedKind::kMaximumPool || value.ToDouble() != 0 || !type || !type->known) return false;
    const auto is_empty = [](const PrimExpr* dim) { return arith::AsInt(dim) == nullptr || *arith::AsInt(dim) == 0; };
    const IntList dilation = PoolAttrs(pool).dilation();
    return std::ranges::none_of(type->dims, is_empty) &&
           std::ranges::all_of(dilation.vector(), [](int64_t step) { return step == 1; }) && IsNonNegative(pad.args[0]);
  }

  bool IsNonNegative(const Expr* operand) const {
    const Call* call = CallOf(operand);
    if (!call) return false;
    const auto is = [&](OpId id) { return IsOp(call->op, id); };
    if (is(op::kNnRelu) || is(op::kSigmoid) || is(op::kExp) || is(op::kNnSoftmax)) return true;
    const auto* least = is(op::kClip) ? As<PrimValue>(call->args[1]) : nullptr;
    if (!least) return false;
    const int64_t* bound = arith::AsInt(least->value);
    const auto* real = As<tir::FloatImm>(least->value);
    return (bound && *bound >= 0) || (real && real->value >= 0);
  }

  // The attributes with the padding; null if it cannot be folded.
  static const ObjectAttr* Fold(const Call& pad, const Call& call, PaddedKind kind) {
    const auto* attrs = To<ObjectAttr>(call.attrs);
    const auto* layout = As<StrAttr>(attrs->Find(kind == PaddedKind::kConvolution ? "data_layout" : "layout"));
    const auto own = Integers(attrs->Find("padding"));
    auto padding = layout ? SpatialPadding(pad, layout->value) : std::nullopt;
    if (!padding || !own || own->size() != padding->size()) return nullptr;
    const auto is_set = [&](std::string_view name) {
      const auto* flag = As<IntAttr>(attrs->Find(name));
      return flag && flag->value != 0;
    };
    if (kind == PaddedKind::kAveragePool && !is_set("count_include_pad")) {
      const bool has_own = std::ranges::any_of(*own, [](int64_t width) { return width != 0; });
      if (has_own || is_set("ceil_mode")) return nullptr;
      attrs = WithField(*attrs, "count_include_pad", IntAttr::Bool(true));
    }
    const auto window = Integers(attrs->Find("pool_size"));
    if (window && !IsWithinWindow(*own, *padding, *window)) return nullptr;
    if (window && is_set("ceil_mode") && !KeepsWindows(PoolAttrs(call), *padding)) return nullptr;
    std::vector<const Attr*> sums;
    const auto* old = To<ListAttr>(attrs->Find("padding"));
    for (uint32_t i = 0; i < old->values.size(); ++i) {
      const auto* width = To<IntAttr>(old->values[i]);
      sums.push_back(IntAttr::Get(width->value + (*padding)[i], width->dtype));
    }
    return WithField(*attrs, "padding", ListAttr::Get(sums));
  }

  static bool IsWithinWindow(std::span<const int64_t> own, std::span<const int64_t> padding,
                             std::span<const int64_t> window) {
    for (size_t i = 0; i < own.size(); ++i) {
      if (own[i] + padding[i] >= window[i % window.size()]) return false;
    }
    return true;
  }

  // Rounded up, the number of windows leaves out those that start in the padding, but not those that start in elements
  // that were padded before.
  static bool KeepsWindows(const PoolAttrs& attrs, std::span<const int64_t> padding) {
    const IntList sizes = attrs.pool_size();
    const size_t rank = sizes.size();
    Result<Window> window = ReadWindow(rank, attrs);
    if (!window || padding.size() != 2 * rank) return false;
    for (size_t i = 0; i < rank; ++i) {
      window->after[i] += padding[rank + i];
      if (padding[rank + i] != 0 && MayStartInPadding(*window, i, sizes[i])) return false;
    }
    return true;
  }

  static const ObjectAttr* WithField(const ObjectAttr& attrs, std::string_view name, const Attr* value) {
    const auto found = std::ranges::find(attrs.names, name);
    return attrs.With(static_cast<uint32_t>(found - attrs.names.begin()), value);
  }
};

}  // namespace

Pass CreateFoldExplicitPadding(const PassOptions& options) { return CreateCallPass<PaddingFolder>(options.info()); }

}  // namespace iropt

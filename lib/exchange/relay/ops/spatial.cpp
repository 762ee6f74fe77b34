// Operators that move elements between space, channels and batch, and that change the resolution.
#include "spatial.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "dims.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/image.h"
#include "iropt/infer/ops/nn.h"
#include "op_table.h"

namespace iropt::relay {

namespace {

// ---- Resolution

// Each axis of the layout in `letters` times its factor, rounded as Relay rounds.
const Expr* Upsample(OpCall& call, std::string_view letters, std::span<const double> factors,
                     std::string_view transformation) {
  const std::string_view layout = call.String("layout");
  const auto dims = DimsOf(call.arg(0));
  if (!dims) return call.Error("type-inference", "the shape of the operand is unknown");
  const arith::PrimBuilder make;
  DimList size;
  for (size_t i = 0; i < letters.size(); ++i) {
    const size_t axis = AxisIn(layout, letters[i]);
    if (axis >= dims->size()) return call.Error("bad-argument", "the layout does not fit the operand");
    const PrimExpr* dim = (*dims)[axis];
    if (const int64_t* known = arith::AsInt(dim)) {
      size.push_back(make.Int(static_cast<int64_t>(std::nearbyint(static_cast<double>(*known) * factors[i]))));
    } else if (factors[i] == std::floor(factors[i])) {
      size.push_back(make.Mul(dim, make.Int(static_cast<int64_t>(factors[i]))));
    } else {
      return call.NoCounterpart("a fractional scale of an unknown dimension");
    }
  }
  return UpsampleTo(call, size, transformation);
}

const Expr* BuildUpsampling(OpCall& call) {
  const double factors[] = {call.Float("scale_h"), call.Float("scale_w")};
  return Upsample(call, "HW", factors, call.Bool("align_corners") ? "align_corners" : "asymmetric");
}

const Expr* BuildUpsampling3d(OpCall& call) {
  const double factors[] = {call.Float("scale_d"), call.Float("scale_h"), call.Float("scale_w")};
  return Upsample(call, "DHW", factors, call.String("coordinate_transformation_mode"));
}

// ---- Space and channels

// Reshape, permute, reshape.
const Expr* Rearrange(OpCall& call, const Expr* data, const DimList& split, std::initializer_list<int64_t> order,
                      const DimList& merged) {
  const Expr* parts = call.Reshape(data, split);
  const Expr* moved = call.Permute(parts, order);
  return call.Reshape(moved, merged);
}

// Works on NCHW; `change` gets the dimensions.
template <class F>
const Expr* InNchw(OpCall& call, F&& change) {
  const std::string_view layout = call.String("layout");
  const Expr* data = TransformLayout(call, call.arg(0), layout, "NCHW");
  const auto dims = DimsOf(data);
  if (data == nullptr) return nullptr;
  if (!dims) return call.Error("type-inference", "the shape of the operand is unknown");
  return TransformLayout(call, change(data, *dims), "NCHW", layout);
}

const Expr* BuildDepthToSpace(OpCall& call) {
  return InNchw(call, [&](const Expr* data, const DimList& d) {
    const arith::PrimBuilder make;
    const PrimExpr* block = make.Int(call.Int("block_size"));
    const PrimExpr* channels = make.FloorDiv(d[1], make.Mul(block, block));
    const DimList merged{d[0], channels, make.Mul(d[2], block), make.Mul(d[3], block)};
    if (call.String("mode") == "DCR")
      return Rearrange(call, data, {d[0], block, block, channels, d[2], d[3]}, {0, 3, 4, 1, 5, 2}, merged);
    return Rearrange(call, data, {d[0], channels, block, block, d[2], d[3]}, {0, 1, 4, 2, 5, 3}, merged);
  });
}

const Expr* BuildSpaceToDepth(OpCall& call) {
  return InNchw(call, [&](const Expr* data, const DimList& d) {
    const arith::PrimBuilder make;
    const PrimExpr* block = make.Int(call.Int("block_size"));
    const PrimExpr* height = make.FloorDiv(d[2], block);
    const PrimExpr* width = make.FloorDiv(d[3], block);
    const DimList merged{d[0], make.Mul(d[1], make.Mul(block, block)), height, width};
    return Rearrange(call, data, {d[0], d[1], height, block, width, block}, {0, 3, 5, 1, 2, 4}, merged);
  });
}

// ---- Space and batch

const Expr* BuildSpaceToBatch(OpCall& call) {
  const std::vector<int64_t> block = call.Ints("block_shape");
  const std::vector<int64_t> pads = call.NestedInts("paddings");
  const DataType dtype = DTypeOf(call.arg(0));
  const int rank = RankOf(call.arg(0));
  if (rank < static_cast<int>(block.size()) + 1 || pads.size() != 2 * block.size())
    return call.Error("bad-argument", "block_shape and paddings do not fit the operand");
  std::vector<int64_t> width(2 * static_cast<size_t>(rank));
  std::ranges::copy(pads, width.begin() + 2);
  const Expr* data = op::NnPad(call, call.arg(0), call.Scalar(call.Float("pad_value"), dtype), {.pad_width = width});
  const auto dims = DimsOf(data);
  if (data == nullptr) return nullptr;
  if (!dims) return call.Error("type-inference", "the shape of the operand is unknown");
  const arith::PrimBuilder make;
  DimList split{dims->front()}, merged{dims->front()};
  std::vector<int64_t> order;
  for (size_t i = 0; i < block.size(); ++i) {
    const PrimExpr* size = make.Int(block[i]);
    split.insert(split.end(), {make.FloorDiv((*dims)[i + 1], size), size});
    merged.front() = make.Mul(merged.front(), size);
    merged.push_back(split[split.size() - 2]);
    order.push_back(static_cast<int64_t>(2 * i + 2));
  }
  order.push_back(0);
  for (size_t i = 0; i < block.size(); ++i) order.push_back(static_cast<int64_t>(2 * i + 1));
  for (size_t i = block.size() + 1; i < dims->size(); ++i) {
    order.push_back(static_cast<int64_t>(split.size()));
    split.push_back((*dims)[i]);
    merged.push_back((*dims)[i]);
  }
  const Expr* parts = call.Reshape(data, split);
  const Expr* moved = call.Permute(parts, order);
  return call.Reshape(moved, merged);
}

const Expr* BuildBatchToSpace(OpCall& call) {
  const std::vector<int64_t> block = call.Ints("block_shape");
  const std::vector<int64_t> crops = call.NestedInts("crops");
  const auto dims = DimsOf(call.arg(0));
  if (!dims || dims->size() < block.size() + 1 || crops.size() != 2 * block.size())
    return call.Error("bad-argument", "block_shape and crops do not fit the operand");
  const arith::PrimBuilder make;
  DimList split, merged{dims->front()};
  std::vector<int64_t> order{static_cast<int64_t>(block.size())};
  for (const int64_t size : block) {
    split.push_back(make.Int(size));
    merged.front() = make.FloorDiv(merged.front(), make.Int(size));
  }
  split.push_back(merged.front());
  for (size_t i = 0; i < block.size(); ++i) {
    split.push_back((*dims)[i + 1]);
    merged.push_back(make.Mul((*dims)[i + 1], make.Int(block[i])));
    order.insert(order.end(), {static_cast<int64_t>(block.size() + 1 + i), static_cast<int64_t>(i)});
  }
  for (size_t i = block.size() + 1; i < dims->size(); ++i) {
    order.push_back(static_cast<int64_t>(split.size()));
    split.push_back((*dims)[i]);
    merged.push_back((*dims)[i]);
  }
  const Expr* parts = call.Reshape(call.arg(0), split);
  const Expr* moved = call.Permute(parts, order);
  const Expr* whole = call.Reshape(moved, merged);
  std::vector<int64_t> axes;
  DimList begin, end;
  for (size_t i = 0; i < block.size(); ++i) {
    axes.push_back(static_cast<int64_t>(i + 1));
    begin.push_back(make.Int(crops[2 * i]));
    end.push_back(make.Sub(merged[i + 1], make.Int(crops[2 * i + 1])));
  }
  return call.Slice(whole, axes, begin, end);
}

// ---- Dilation

// Between neighbours along an axis, stride - 1 copies of the value: (n, 1) padded to (n, stride), joined, and cut.
const Expr* BuildDilate(OpCall& call) {
  const Expr* data = call.arg(0);
  const auto dims = DimsOf(data);
  const std::vector<int64_t> strides = call.Ints("strides");
  if (!dims || strides.size() != dims->size()) return call.Error("bad-argument", "strides do not fit the operand");
  const arith::PrimBuilder make;
  DimList shape = *dims;
  for (size_t i = 0; i < strides.size(); ++i) {
    if (strides[i] <= 1) continue;
    const auto axis = static_cast<int64_t>(i);
    const Expr* wide = call.ExpandDims(data, {axis + 1});
    std::vector<int64_t> pad(2 * (shape.size() + 1));
    pad[2 * i + 3] = strides[i] - 1;
    wide = op::NnPad(call, wide, call.Scalar(call.Float("dilation_value"), DTypeOf(data)), {.pad_width = pad});
    shape[i] = make.Mul(shape[i], make.Int(strides[i]));
    const Expr* joined = call.Reshape(wide, shape);
    shape[i] = make.Sub(shape[i], make.Int(strides[i] - 1));
    const PrimExpr* begin = make.Int(0);
    data = call.Slice(joined, {axis}, {begin}, {shape[i]});
    if (data == nullptr) return nullptr;
  }
  return data;
}

constexpr OperatorRow kSpatial[] = {
    {"nn.batch_to_space_nd", "data", "block_shape=[1, 1], crops", BuildBatchToSpace},
    {"nn.depth_to_space", "data", "block_size=1, layout=\"NCHW\", mode=\"DCR\"", BuildDepthToSpace},
    {"nn.dilate", "x", "strides, dilation_value=0.0", BuildDilate},
    {"nn.space_to_batch_nd", "data", "block_shape=[1, 1], paddings, pad_value=0.0", BuildSpaceToBatch},
    {"nn.space_to_depth", "data", "block_size=1, layout=\"NCHW\", mode=\"DCR\"", BuildSpaceToDepth},
    {"nn.upsampling", "data", "scale_h, scale_w, layout=\"NCHW\", method=\"nearest_neighbor\", align_corners=False",
     BuildUpsampling},
    {"nn.upsampling3d", "data",
     "scale_d, scale_h, scale_w, layout=\"NCDHW\", method=\"nearest_neighbor\", "
     "coordinate_transformation_mode=\"half_pixel\"",
     BuildUpsampling3d},
};

}  // namespace

const Expr* UpsampleTo(OpCall& call, const DimList& size, std::string_view transformation) {
  const std::string_view method = call.String("method");
  const bool nearest = method == "nearest_neighbor";
  const std::string_view relax_method = nearest                                         ? "nearest_neighbor"
                                        : method == "bilinear" || method == "trilinear" ? "linear"
                                        : method == "bicubic"                           ? "cubic"
                                                                                        : method;
  const auto upsample = [&]<class Values>(auto resize, std::type_identity<Values>) -> const Expr* {
    return resize(call, call.arg(0), call.Shape(size),
                  Values{.layout = call.String("layout"),
                         .method = relax_method,
                         .coordinate_transformation_mode = transformation,
                         .rounding_method = nearest ? "floor" : ""});
  };
  if (size.size() == 3) return upsample(op::ImageResize3d, std::type_identity<Resize3DAttrs::Values>());
  return upsample(op::ImageResize2d, std::type_identity<Resize2DAttrs::Values>());
}

std::span<const OperatorRow> SpatialOperators() { return kSpatial; }

}  // namespace iropt::relay

// Operators with packed or sparse operands, gradients, and those that only say something about where and how a value is
// computed.
#include <numeric>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/concat.h"
#include "iropt/infer/ops/create.h"
#include "iropt/infer/ops/gather.h"
#include "iropt/infer/ops/grad.h"
#include "iropt/infer/ops/index.h"
#include "iropt/infer/ops/nn.h"
#include "iropt/infer/ops/pooling.h"
#include "iropt/infer/ops/reduction.h"
#include "iropt/infer/ops/slice.h"
#include "iropt/infer/ops/sorting.h"
#include "iropt/infer/ops/unary.h"
#include "relay_builder.h"
#include "shape_values.h"

namespace iropt::relay {

namespace {

using Value = const Expr*;

// Devices and hints have no effect on the value.
const Expr* BuildSameValue(OpCall& call) { return call.arg(0); }

// ---- Packed operands

const Expr* BuildDensePack(OpCall& call) {
  const auto dims = DimsOf(call.arg(1));
  if (!dims || dims->size() != 3) return call.Error("type-inference", "the weight does not have three dimensions");
  const arith::PrimBuilder make;
  const DimList matrix{make.Mul((*dims)[0], (*dims)[2]), (*dims)[1]};
  Value rows = call.Permute(call.arg(1), {0, 2, 1});
  Value weight = call.Reshape(rows, matrix);
  return call.Relay("nn.dense", {call.arg(0), weight},
                    {{"units", call.attr("units")}, {"out_dtype", call.attr("out_dtype")}});
}

// In NCHW and OIHW; the layouts say how the operands are split.
const Expr* BuildConvOfParts(OpCall& call) {
  const std::string_view layout = call.String("data_layout");
  const std::string_view out = call.String("out_layout");
  Value data = TransformLayout(call, call.arg(0), layout, "NCHW");
  Value weight = TransformLayout(call, call.arg(1), call.String("kernel_layout"), "OIHW");
  Value result = call.Relay("nn.conv2d", {data, weight},
                            {{"strides", call.attr("strides")},
                             {"padding", call.attr("padding")},
                             {"dilation", call.attr("dilation")},
                             {"groups", call.attr("groups")},
                             {"channels", call.attr("channels")},
                             {"kernel_size", call.attr("kernel_size")},
                             {"out_dtype", call.attr("out_dtype")}});
  return TransformLayout(call, result, "NCHW", out.empty() ? layout : out);
}

const Expr* BuildFifoBuffer(OpCall& call) {
  const auto axis = call.Axis(call.Int("axis"), RankOf(call.arg(0)));
  const auto data = DimsOf(call.arg(0));
  const auto buffer = DimsOf(call.arg(1));
  if (!axis) return nullptr;
  if (!data || !buffer || data->size() != buffer->size())
    return call.Error("type-inference", "the data and the buffer are not of the same rank");
  const auto at = static_cast<size_t>(*axis);
  const arith::PrimBuilder make;
  const Value parts[] = {call.arg(1), call.arg(0)};
  Value all = call.Concat(parts, *axis);
  const DimList begin{(*data)[at]};
  const DimList end{make.Add((*data)[at], (*buffer)[at])};
  return call.Slice(all, {*axis}, begin, end);
}

const Expr* BuildPacked(OpCall& call) { return call.NoCounterpart("packed bits"); }
const Expr* BuildTransformedWeight(OpCall& call) {
  return call.NoCounterpart("the transformed weights of an implementation of convolutions");
}
const Expr* BuildRandom(OpCall& call) { return call.NoCounterpart("the generator of random numbers"); }
const Expr* BuildMemory(OpCall& call) { return call.NoCounterpart("the operators of Relay's virtual machine"); }
const Expr* BuildDebug(OpCall& call) { return call.NoCounterpart("a function of the debugger"); }
const Expr* BuildLayoutOfSchedule(OpCall& call) { return call.NoCounterpart("a layout that a schedule has found"); }

// ---- Gradients

// Relay has the gradient of the result before the data, as Relax.
template <auto kOp>
const Expr* BuildPoolGrad(OpCall& call) {
  const std::string_view layout = call.String("layout");
  const std::string_view out = call.String("out_layout");
  return kOp(call, call.arg(0), call.arg(1),
             {.pool_size = call.IntsOf("pool_size", 2),
              .strides = call.IntsOf("strides", 2),
              .dilation = call.Ints("dilation").empty() ? Ints{1, 1} : call.IntsOf("dilation", 2),
              .padding = call.IntsOf("padding", 4, true),
              .ceil_mode = call.Bool("ceil_mode"),
              .count_include_pad = call.Bool("count_include_pad"),
              .layout = layout,
              .out_layout = out.empty() ? layout : out});
}

// The convolution of the data with the gradient, both in NCHW, where batch and channels change places.
Value WeightGradOf(OpCall& call, Value grad, Value data, std::span<const int64_t> kernel) {
  const Ints exchanged{1, 0, 2, 3};
  grad = call.Permute(grad, exchanged);
  data = call.Permute(data, exchanged);
  Value product = call.Relay("nn.conv2d", {data, grad},
                             {{"strides", call.attr("dilation")},
                              {"padding", call.attr("padding")},
                              {"dilation", call.attr("strides")},
                              {"out_dtype", call.attr("out_dtype")}});
  product = call.Slice(product, {2, 3}, {0, 0}, kernel);
  return call.Permute(product, exchanged);
}

// kernel_layout is the layout of the gradient, out_layout that of the weight.
const Expr* BuildConvWeightGrad(OpCall& call) {
  const auto layout_or = [&](std::string_view name, std::string_view unset, std::string_view otherwise) {
    return call.String(name) == unset ? otherwise : call.String(name);
  };
  const std::vector<int64_t> kernel = call.Ints("kernel_size");
  if (kernel.size() != 2) return call.Error("bad-argument", "kernel_size does not have two numbers");
  Value grad = TransformLayout(call, call.arg(0), layout_or("kernel_layout", "OIHW", "NCHW"), "NCHW");
  Value data = TransformLayout(call, call.arg(1), call.String("data_layout"), "NCHW");
  if (grad == nullptr || data == nullptr) return nullptr;
  const int64_t groups = call.Int("groups");
  const auto outputs = StaticDimsOf(grad);
  const auto inputs = StaticDimsOf(data);
  constexpr int64_t kMostGroups = 1024;
  if (groups != 1 && (!outputs || !inputs || groups < 1 || groups > kMostGroups))
    return call.NoCounterpart("the gradient of a grouped convolution of unknown or many channels");
  const auto part = [&](Value tensor, int64_t channels, int64_t group) {
    if (groups == 1) return tensor;
    const int64_t size = channels / groups;
    return call.Slice(tensor, {1}, {group * size}, {(group + 1) * size});
  };
  std::vector<Value> parts;
  for (int64_t group = 0; group < groups; ++group) {
    Value of_outputs = part(grad, outputs ? (*outputs)[1] : 0, group);
    parts.push_back(WeightGradOf(call, of_outputs, part(data, inputs ? (*inputs)[1] : 0, group), kernel));
  }
  Value weight = parts.size() == 1 ? parts[0] : call.Concat(parts, 0);
  return TransformLayout(call, weight, "OIHW", layout_or("out_layout", "", "OIHW"));
}

// ---- Sparse matrices: rows of elements or of blocks

// The row of each element of a compressed matrix, from the numbers where the rows begin.
Value RowsOf(OpCall& call, Value columns, Value begins) {
  RelayBuilder relay(call);
  const auto count = DimsOf(columns);
  if (!count || count->size() != 1) return call.Error("type-inference", "the indices are not a vector of known size");
  Value places = call.Iota(count->front(), kInt64);
  Value rows = op::Bucketize(call, places, call.Cast(begins, kInt64), {.right = true});
  return relay.Subtract(rows, relay.Int(1, kInt64));
}

// The dense matrix of a compressed one. `columns` is the number of columns.
Value DenseOf(OpCall& call, Value data, Value indices, Value begins, const PrimExpr* columns) {
  const auto blocks = DimsOf(data);
  const auto starts = DimsOf(begins);
  if (!blocks || !starts || (blocks->size() != 1 && blocks->size() != 3) || starts->size() != 1)
    return call.Error("type-inference", "the sparse matrix does not have elements or blocks of known number");
  const arith::PrimBuilder make;
  const PrimExpr* rows = make.Sub(starts->front(), make.Int(1));
  const bool has_blocks = blocks->size() == 3;
  DimList shape{rows, columns};
  if (has_blocks) shape = {rows, make.FloorDiv(columns, (*blocks)[2]), (*blocks)[1], (*blocks)[2]};
  const Value coordinates[] = {RowsOf(call, indices, begins), call.Cast(indices, kInt64)};
  if (coordinates[0] == nullptr) return nullptr;
  Value places = op::Stack(call, call.MakeTuple(coordinates), {.axis = 1});
  Value zeros = op::Zeros(call, call.Shape(shape), {.dtype = DTypeOf(data)});
  Value dense = op::ScatterNd(call, zeros, places, data, {.reduction = "add"});
  if (!has_blocks) return dense;
  Value in_rows = call.Permute(dense, {0, 2, 1, 3});
  const DimList matrix{make.Mul(rows, (*blocks)[1]), columns};
  return call.Reshape(in_rows, matrix);
}

// data * weight^T, where one of them is sparse.
const Expr* BuildSparseDense(OpCall& call) {
  const auto dims = DimsOf(call.arg(0));
  if (!dims || dims->size() != 2) return call.Error("type-inference", "the dense operand is not a matrix");
  Value sparse = DenseOf(call, call.arg(1), call.arg(2), call.arg(3), dims->back());
  if (call.Bool("sparse_lhs")) return call.Relay("nn.dense", {sparse, call.arg(0)});
  return call.Relay("nn.dense", {call.arg(0), sparse});
}

const Expr* BuildSparseAdd(OpCall& call) {
  const auto dims = DimsOf(call.arg(0));
  if (!dims || dims->size() != 2) return call.Error("type-inference", "the dense operand is not a matrix");
  return op::Add(call, call.arg(0), DenseOf(call, call.arg(1), call.arg(2), call.arg(3), dims->back()));
}

// The elements of a square matrix in the order of columns.
const Expr* BuildSparseTranspose(OpCall& call) {
  RelayBuilder relay(call);
  const auto starts = DimsOf(call.arg(2));
  if (!starts || starts->size() != 1 || RankOf(call.arg(0)) != 1)
    return call.NoCounterpart("the transposed matrix of blocks");
  Value columns = call.Cast(call.arg(1), kInt64);
  Value rows = RowsOf(call, call.arg(1), call.arg(2));
  Value size = SizeOfAxis(call, call.arg(2), 0, kInt64);
  Value order = op::Argsort(call, relay.Add(relay.Multiply(columns, size), rows), {.dtype = kInt64});
  const auto ordered = [&](Value values) { return op::Take(call, values, order, {.axis = 0}); };
  Value places = call.Iota(starts->front(), kInt64);
  Value begins = op::Bucketize(call, places, ordered(columns));
  const Value results[] = {ordered(call.arg(0)), call.Cast(ordered(rows), DTypeOf(call.arg(1))),
                           call.Cast(begins, DTypeOf(call.arg(2)))};
  return call.MakeTuple(results);
}

// ---- Correlation

// The mean over channels and windows of the products, or of the distances, of an image and another one that is moved.
const Expr* BuildCorrelation(OpCall& call) {
  const auto shape = StaticDimsOf(call.arg(0));
  if (!shape || shape->size() != 4 || call.String("layout") != "NCHW")
    return call.NoCounterpart("the correlation of images of unknown size, or in another layout than NCHW");
  RelayBuilder relay(call);
  const int64_t kernel = call.Int("kernel_size");
  const int64_t most = call.Int("max_displacement");
  const int64_t stride = call.Int("stride1");
  const int64_t step = call.Int("stride2");
  std::vector<int64_t> padding = call.Ints("padding");
  if (padding.size() == 1) padding.resize(4, padding[0]);
  if (padding.size() == 2) padding.insert(padding.end(), {padding[0], padding[1]});
  constexpr int64_t kMostRadius = 32;
  if (padding.size() != 4 || kernel < 1 || stride < 1 || step < 1 || most / step > kMostRadius)
    return call.Error("bad-argument", "the windows of the correlation are out of range");
  const Ints widths{0, 0, 0, 0, padding[0], padding[2], padding[1], padding[3]};
  Value first = op::NnPad(call, call.arg(0), call.Scalar(int64_t{0}, kInt32), {.pad_width = widths});
  Value second = op::NnPad(call, call.arg(1), call.Scalar(int64_t{0}, kInt32), {.pad_width = widths});
  const int64_t border = 2 * (most + (kernel - 1) / 2);
  const auto outputs = [&](int64_t size) { return (size - border + stride - 1) / stride; };
  const int64_t rows = outputs((*shape)[2] + padding[0] + padding[2]);
  const int64_t columns = outputs((*shape)[3] + padding[1] + padding[3]);
  if (rows < 1 || columns < 1) return call.Error("bad-argument", "the images are smaller than the windows");
  const auto part = [&](Value image, int64_t y, int64_t x) {
    return call.Slice(image, {2, 3}, {y, x}, {y + (rows - 1) * stride + kernel, x + (columns - 1) * stride + kernel});
  };
  Value fixed = part(first, most, most);
  std::vector<Value> maps;
  const int64_t radius = most / step;
  const int64_t windows = radius > INT32_MAX ? radius : 2 * radius + 1;
  if (!call.MayRepeat({windows, windows})) return nullptr;
  for (int64_t y = -radius; y <= radius; ++y) {
    for (int64_t x = -radius; x <= radius; ++x) {
      Value moved = part(second, most + y * step, most + x * step);
      Value match =
          call.Bool("is_multiply") ? relay.Multiply(fixed, moved) : op::Abs(call, relay.Subtract(fixed, moved));
      match = op::Mean(call, match, {.axis = Ints{1}, .keepdims = true});
      maps.push_back(op::NnAvgPool2d(call, match,
                                     {.pool_size = Ints{kernel, kernel},
                                      .strides = Ints{stride, stride},
                                      .dilation = Ints{1, 1},
                                      .padding = Ints{0, 0, 0, 0}}));
    }
  }
  return call.Concat(maps, 1);
}

#define CONV2D_ATTRIBUTES                                                                                              \
  "strides=[1, 1], padding=[0, 0], dilation=[1, 1], groups=1, channels=None, kernel_size=None, "                       \
  "data_layout=\"NCHW\", kernel_layout=\"OIHW\", out_layout=\"\", out_dtype=\"\""
#define POOL_GRAD_ATTRIBUTES                                                                                           \
  "pool_size, strides=[1, 1], dilation=[1, 1], padding=[0, 0], layout=\"NCHW\", out_layout=\"\", ceil_mode=False, "    \
  "count_include_pad=False"

constexpr OperatorRow kContrib[] = {
    {"annotation.bitpack_end", "data", "", BuildSameValue},
    {"annotation.bitpack_start", "data", "", BuildSameValue},
    {"annotation.cast_hint", "data", "*", BuildSameValue},
    {"annotation.compiler_begin", "data", "*", BuildSameValue},
    {"annotation.compiler_end", "data", "*", BuildSameValue},
    {"annotation.with_funcid", "func", "*", BuildSameValue},
    {"auto_scheduler_layout_transform", "data", "*", BuildLayoutOfSchedule},
    {"call_lowered", "func, call_args", "*", BuildMemory},
    {"debug", "program", "*", BuildDebug},
    {"device_copy", "data", "*", BuildSameValue},
    {"memory.alloc_storage", "size, shape, alignment", "*", BuildMemory},
    {"memory.alloc_tensor", "storage, offset, shape", "*", BuildMemory},
    {"memory.kill", "to_free", "", BuildMemory},
    {"meta_schedule_layout_transform", "data", "*", BuildLayoutOfSchedule},
    {"nn.avg_pool2d_grad", "out_grad, data", POOL_GRAD_ATTRIBUTES, BuildPoolGrad<op::GradAvgPool2dBackward>},
    {"nn.bitpack", "data", "*", BuildPacked},
    {"nn.bitserial_conv2d", "data, weight", "*", BuildPacked},
    {"nn.bitserial_dense", "data, weight", "*", BuildPacked},
    {"nn.contrib_conv2d_NCHWc", "data, weight", CONV2D_ATTRIBUTES, BuildConvOfParts},
    {"nn.contrib_conv2d_gemm_weight_transform", "weights", "*", BuildTransformedWeight},
    {"nn.contrib_conv2d_gemm_without_weight_transform", "data, weight", "*", BuildTransformedWeight},
    {"nn.contrib_conv2d_winograd_nnpack_weight_transform", "weight", "*", BuildTransformedWeight},
    {"nn.contrib_conv2d_winograd_weight_transform", "weight", "*", BuildTransformedWeight},
    {"nn.contrib_conv2d_winograd_without_weight_transform", "data, weight", "*", BuildTransformedWeight},
    {"nn.contrib_conv3d_winograd_weight_transform", "weight", "*", BuildTransformedWeight},
    {"nn.contrib_conv3d_winograd_without_weight_transform", "data, weight", "*", BuildTransformedWeight},
    {"nn.contrib_dense_pack", "data, weight", "units=None, out_dtype=\"\", weight_layout=\"NC\"", BuildDensePack},
    {"nn.contrib_depthwise_conv2d_NCHWc", "data, weight", CONV2D_ATTRIBUTES, BuildConvOfParts},
    {"nn.conv2d_backward_weight", "grad, data", CONV2D_ATTRIBUTES, BuildConvWeightGrad},
    {"nn.correlation", "data1, data2",
     "kernel_size=1, max_displacement=1, stride1=1, stride2=1, padding=[0, 0], is_multiply=True, layout=\"NCHW\"",
     BuildCorrelation},
    {"nn.fifo_buffer", "data, buffer", "axis=0", BuildFifoBuffer},
    {"nn.max_pool2d_grad", "out_grad, data", POOL_GRAD_ATTRIBUTES, BuildPoolGrad<op::GradMaxPool2dBackward>},
    {"nn.sparse_add", "dense_data, sparse_data, sparse_indices, sparse_indptr", "", BuildSparseAdd},
    {"nn.sparse_dense", "dense_data, sparse_data, sparse_indices, sparse_indptr", "sparse_lhs=False", BuildSparseDense},
    {"nn.sparse_transpose", "sparse_data, sparse_indices, sparse_indptr", "", BuildSparseTranspose},
    {"on_device", "body", "*", BuildSameValue},
    {"random.multinomial", "key, probs", "*", BuildRandom},
    {"random.normal", "key, mean, scale", "*", BuildRandom},
    {"random.threefry_generate", "key", "*", BuildRandom},
    {"random.threefry_split", "key", "*", BuildRandom},
    {"random.uniform", "key, low, high", "*", BuildRandom},
    {"vm.invoke_tvm_op", "op, ins, outs", "*", BuildMemory},
    {"vm.reshape_tensor", "data, shape", "*", BuildMemory},
    {"vm.shape_of", "tensor", "*", BuildMemory},
};

#undef CONV2D_ATTRIBUTES
#undef POOL_GRAD_ATTRIBUTES

}  // namespace

std::span<const OperatorRow> ContribOperators() { return kContrib; }

}  // namespace iropt::relay

#include "decompose.h"

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/axes.h"
#include "iropt/infer/ops/datatype.h"
#include "iropt/infer/ops/reduction.h"
#include "iropt/infer/ops/reshape.h"
#include "iropt/infer/ops/roots.h"
#include "iropt/infer/ops/statistical.h"
#include "iropt/infer/ops/unary.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/op/ops/shape.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

const Expr* ScaleAndShift::Of(const Expr* x, OpBuilder calls) const {
  return op::Add(calls, op::Multiply(calls, x, AlongAxis(scale, calls)), AlongAxis(shift, calls));
}

const Expr* ScaleAndShift::AlongAxis(const Expr* vector, OpBuilder calls) const {
  std::vector<int64_t> axes;
  for (int64_t i = 1; i < rank - (axis < 0 ? axis + rank : axis); ++i) axes.push_back(i);
  return axes.empty() ? vector : op::ExpandDims(calls, vector, {.axis = axes});
}

bool AreLastAxes(std::span<const int64_t> axes, int64_t rank) {
  const auto first = rank - static_cast<int64_t>(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    if ((axes[i] < 0 ? axes[i] + rank : axes[i]) != first + static_cast<int64_t>(i)) return false;
  }
  return true;
}

namespace {

// (x - mean) / sqrt(var + epsilon)
const Expr* Normalized(const Expr* x, const Expr* mean, const Expr* variance, double epsilon, OpBuilder calls) {
  const DataType dtype = TensorTypeOf(x)->dtype;
  return op::Divide(calls, op::Subtract(calls, x, mean),
                    op::Sqrt(calls, op::Add(calls, variance, calls.MakeScalar(epsilon, dtype))));
}

// The shape with the channels split into groups, and the axes over which each group is normalized.
struct Groups {
  std::vector<const PrimExpr*> dims = {};
  std::vector<int64_t> axes = {};

  Groups(const TensorType& data, const GroupNormAttrs& attrs, int64_t channel, int64_t channels)
      : dims(data.dims.begin(), data.dims.end()), axes{channel + 1} {
    const arith::PrimBuilder make;
    dims[static_cast<size_t>(channel)] = make.Int(attrs.num_groups());
    dims.insert(dims.begin() + channel + 1, make.Int(channels / attrs.num_groups()));
    for (const int64_t given : attrs.axes()) {
      const int64_t axis = given < 0 ? given + data.ndim : given;
      axes.push_back(axis < channel ? axis : axis + 1);
    }
    std::ranges::sort(axes);
  }
};

class OpDecomposer : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    const Expr* simpler = nullptr;
    if (IsOp(call->op, op::kNnBatchNorm)) simpler = DecomposeBatchNorm(*call, OpBuilder(builder()));
    if (IsOp(call->op, op::kTensorToShape)) simpler = DecomposeTensorToShape(*call, old->type);
    return simpler ? simpler : call;
  }

 private:
  // A call of the packed function, whose result a match_cast gives symbolic dimensions.
  const Expr* DecomposeTensorToShape(const Call& call, const Type* type) {
    const auto* shape = As<ShapeType>(type);
    if (!shape || shape->ndim == kUnknownDim) return nullptr;
    const Type* opaque = ShapeType::Get(shape->ndim);
    const auto* packed = workspace().New<ExternFunc>("vm.builtin.tensor_to_shape", DictAttr::Empty(), PackedFuncType());
    const Expr* result = builder().Emit(builder().MakeCall(GetOp(op::kCallPurePacked), {packed, call.args[0]}, nullptr,
                                                           TupleType::Get(std::span(&opaque, 1))));
    std::vector<const PrimExpr*> dims;
    for (int i = 0; i < shape->ndim; ++i) dims.push_back(IRContext::Current().NewSymVar("x"));
    builder().EmitMatchCast(result, ShapeType::Get(dims), "y");
    return OpBuilder(builder()).MakeShape(dims);
  }
};

}  // namespace

const TensorType* DataOfNormalization(const Call& call) {
  const TensorType* data = TensorTypeOf(call.args[0]);
  if (!data || data->ndim == kUnknownDim || !data->dtype.is_floating()) return nullptr;
  const bool one_dtype = std::ranges::all_of(call.args, [&](const Expr* arg) {
    const TensorType* tensor = TensorTypeOf(arg);
    return tensor && tensor->dtype == data->dtype;
  });
  return one_dtype ? data : nullptr;
}

const Expr* ExpandToRank(const Expr* vector, int64_t rank, int64_t axis, OpBuilder calls) {
  std::vector<int64_t> others;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != (axis < 0 ? axis + rank : axis)) others.push_back(i);
  }
  return op::ExpandDims(calls, vector, {.axis = others});
}

std::optional<ScaleAndShift> ScaleAndShiftOf(const Call& call, OpBuilder calls) {
  const TensorType* data = DataOfNormalization(call);
  if (!data) return std::nullopt;
  const BatchNormAttrs attrs(call);
  const DataType dtype = data->dtype;
  const Expr* deviation = op::Sqrt(calls, op::Add(calls, call.args[4], calls.MakeScalar(attrs.epsilon(), dtype)));
  const Expr* scale = op::Divide(calls, attrs.scale() ? call.args[1] : calls.MakeScalar(1, dtype), deviation);
  const Expr* shift = op::Negative(calls, op::Multiply(calls, call.args[3], scale));
  if (attrs.center()) shift = op::Add(calls, shift, call.args[2]);
  return ScaleAndShift{scale, shift, data->ndim, attrs.axis()};
}

const Expr* DecomposeBatchNorm(const Call& call, OpBuilder calls) {
  const TensorType* data = DataOfNormalization(call);
  if (!data) return nullptr;
  const BatchNormAttrs attrs(call);
  const auto expand = [&](const Expr* vector) { return ExpandToRank(vector, data->ndim, attrs.axis(), calls); };
  const Expr* out = Normalized(call.args[0], expand(call.args[3]), expand(call.args[4]), attrs.epsilon(), calls);
  if (attrs.scale()) out = op::Multiply(calls, out, expand(call.args[1]));
  if (attrs.center()) out = op::Add(calls, out, expand(call.args[2]));
  const Expr* const fields[] = {out, call.args[3], call.args[4]};
  return calls.MakeTuple(fields);
}

const Expr* DecomposeLayerNorm(const Call& call, OpBuilder calls) {
  const TensorType* data = DataOfNormalization(call);
  if (!data) return nullptr;
  const LayerNormAttrs attrs(call);
  const std::vector<int64_t> axes = attrs.axes().vector();
  if (!AreLastAxes(axes, data->ndim)) return nullptr;
  const Expr* x = call.args[0];
  const Expr* mean = op::Mean(calls, x, {.axis = axes, .keepdims = true});
  const Expr* variance = op::Variance(calls, x, {.axis = axes, .keepdims = true});
  const Expr* out = Normalized(x, mean, variance, attrs.epsilon(), calls);
  if (attrs.scale()) out = op::Multiply(calls, out, call.args[1]);
  if (attrs.center()) out = op::Add(calls, out, call.args[2]);
  return out;
}

const Expr* DecomposeGroupNorm(const Call& call, OpBuilder calls) {
  const TensorType* data = DataOfNormalization(call);
  if (!data || !data->known) return nullptr;
  const GroupNormAttrs attrs(call);
  if (!attrs.scale() || !attrs.center()) return nullptr;
  const int64_t given = attrs.channel_axis();
  const int64_t channel = given < 0 ? given + data->ndim : given;
  const int64_t* channels = arith::AsInt(data->dims[static_cast<uint32_t>(channel)]);
  if (!channels) return nullptr;
  const Groups groups(*data, attrs, channel, *channels);
  const Expr* x = op::Reshape(calls, call.args[0], calls.MakeShape(groups.dims));
  const Expr* mean = op::Mean(calls, x, {.axis = groups.axes, .keepdims = true});
  const Expr* variance = op::Variance(calls, x, {.axis = groups.axes, .keepdims = true});
  const Expr* normalized = Normalized(x, mean, variance, attrs.epsilon(), calls);
  const Expr* out = op::Reshape(calls, normalized, calls.MakeShape(data->dims));
  const auto expand = [&](const Expr* vector) { return ExpandToRank(vector, data->ndim, channel, calls); };
  return op::Add(calls, op::Multiply(calls, out, expand(call.args[1])), expand(call.args[2]));
}

const Expr* DecomposeRmsNorm(const Call& call, OpBuilder calls) {
  const TensorType* data = DataOfNormalization(call);
  const RMSNormAttrs attrs(call);
  const std::vector<int64_t> axes = attrs.axes().vector();
  if (!data || !AreLastAxes(axes, data->ndim)) return nullptr;
  // Squares are soon too large for narrow dtypes.
  const DataType wide = data->dtype.bits < 32 ? DataType::Float(32) : data->dtype;
  const auto convert = [&](const Expr* tensor, DataType dtype) {
    return TensorTypeOf(tensor)->dtype == dtype ? tensor : op::Astype(calls, tensor, {.dtype = dtype});
  };
  const Expr* x = convert(call.args[0], wide);
  const Expr* square = op::Mean(calls, op::Multiply(calls, x, x), {.axis = axes, .keepdims = true});
  const Expr* scale = op::Rsqrt(calls, op::Add(calls, square, calls.MakeScalar(attrs.epsilon(), wide)));
  return convert(op::Multiply(calls, op::Multiply(calls, x, scale), convert(call.args[1], wide)), data->dtype);
}

Result<const Function*> DecomposeOps(const Function* function, const Module& module, Workspace& workspace,
                                     DiagnosticEngine& diagnostics) {
  OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
  OpDecomposer decomposer(workspace, &inferrer);
  function = To<Function>(decomposer.VisitExpr(function));
  if (decomposer.failed()) return Failure{ErrorCode::PassFailed};
  return function;
}

}  // namespace iropt

#include "decompose.h"

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/relax/mutator.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

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
  return calls.Divide(calls.Subtract(x, mean), calls.Sqrt(calls.Add(variance, calls.MakeScalar(epsilon, dtype))));
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
    if (IsOp(call->op, OpId::kNnBatchNorm)) simpler = DecomposeBatchNorm(*call, OpBuilder(builder()));
    if (IsOp(call->op, OpId::kTensorToShape)) simpler = DecomposeTensorToShape(*call, old->type);
    return simpler ? simpler : call;
  }

 private:
  // A call of the packed function, whose result a match_cast gives symbolic dimensions.
  const Expr* DecomposeTensorToShape(const Call& call, const Type* type) {
    const auto* shape = As<ShapeType>(type);
    if (!shape || shape->ndim == kUnknownDim) return nullptr;
    const Type* opaque = ShapeType::Get(shape->ndim);
    const auto* packed = workspace().New<ExternFunc>("vm.builtin.tensor_to_shape", DictAttr::Empty(), PackedFuncType());
    const Expr* result = builder().Emit(builder().MakeCall(GetOp(OpId::kCallPurePacked), {packed, call.args[0]},
                                                           nullptr, TupleType::Get(std::span(&opaque, 1))));
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
  return calls.ExpandDims(vector, {.axis = others});
}

std::optional<ScaleAndShift> ScaleAndShiftOf(const Call& call, OpBuilder calls) {
  const TensorType* data = DataOfNormalization(call);
  if (!data) return std::nullopt;
  const BatchNormAttrs attrs(call);
  const DataType dtype = data->dtype;
  const Expr* deviation = calls.Sqrt(calls.Add(call.args[4], calls.MakeScalar(attrs.epsilon(), dtype)));
  const Expr* scale = calls.Divide(attrs.scale() ? call.args[1] : calls.MakeScalar(1, dtype), deviation);
  const Expr* shift = calls.Negative(calls.Multiply(call.args[3], scale));
  if (attrs.center()) shift = calls.Add(shift, call.args[2]);
  return ScaleAndShift{scale, shift, data->ndim, attrs.axis()};
}

const Expr* DecomposeBatchNorm(const Call& call, OpBuilder calls) {
  const TensorType* data = DataOfNormalization(call);
  if (!data) return nullptr;
  const BatchNormAttrs attrs(call);
  const auto expand = [&](const Expr* vector) { return ExpandToRank(vector, data->ndim, attrs.axis(), calls); };
  const Expr* out = Normalized(call.args[0], expand(call.args[3]), expand(call.args[4]), attrs.epsilon(), calls);
  if (attrs.scale()) out = calls.Multiply(out, expand(call.args[1]));
  if (attrs.center()) out = calls.Add(out, expand(call.args[2]));
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
  const Expr* mean = calls.Mean(x, {.axis = axes, .keepdims = true});
  const Expr* variance = calls.Variance(x, {.axis = axes, .keepdims = true});
  const Expr* out = Normalized(x, mean, variance, attrs.epsilon(), calls);
  if (attrs.scale()) out = calls.Multiply(out, call.args[1]);
  if (attrs.center()) out = calls.Add(out, call.args[2]);
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
  const Expr* x = calls.Reshape(call.args[0], calls.MakeShape(groups.dims));
  const Expr* mean = calls.Mean(x, {.axis = groups.axes, .keepdims = true});
  const Expr* variance = calls.Variance(x, {.axis = groups.axes, .keepdims = true});
  const Expr* normalized = Normalized(x, mean, variance, attrs.epsilon(), calls);
  const Expr* out = calls.Reshape(normalized, calls.MakeShape(data->dims));
  const auto expand = [&](const Expr* vector) { return ExpandToRank(vector, data->ndim, channel, calls); };
  return calls.Add(calls.Multiply(out, expand(call.args[1])), expand(call.args[2]));
}

const Expr* DecomposeRmsNorm(const Call& call, OpBuilder calls) {
  const TensorType* data = DataOfNormalization(call);
  const RMSNormAttrs attrs(call);
  const std::vector<int64_t> axes = attrs.axes().vector();
  if (!data || !AreLastAxes(axes, data->ndim)) return nullptr;
  // Squares are soon too large for narrow dtypes.
  const DataType wide = data->dtype.bits < 32 ? DataType::Float(32) : data->dtype;
  const auto convert = [&](const Expr* tensor, DataType dtype) {
    return TensorTypeOf(tensor)->dtype == dtype ? tensor : calls.Astype(tensor, {.dtype = dtype});
  };
  const Expr* x = convert(call.args[0], wide);
  const Expr* square = calls.Mean(calls.Multiply(x, x), {.axis = axes, .keepdims = true});
  const Expr* scale = calls.Rsqrt(calls.Add(square, calls.MakeScalar(attrs.epsilon(), wide)));
  return convert(calls.Multiply(calls.Multiply(x, scale), convert(call.args[1], wide)), data->dtype);
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

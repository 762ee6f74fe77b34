// Operators whose results have the shape of an input, or that to which inputs broadcast.

#include "exchange/onnx/tensors.h"
#include "exchange/onnx/types/type_rules.h"

namespace iropt::onnx {

namespace {

Dims BroadcastAll(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  for (size_t i = 1; i < op.num_inputs(); ++i) dims = BroadcastDimsOf(dims, DimsIn(op, i));
  return dims;
}

// The attribute "to" holds the type.
DataType CastDtype(OpImport& op, size_t /*output*/) { return DtypeIn(op, "to", DataType::Void()); }

DataType RandomLikeDtype(OpImport& op, size_t output) { return DtypeIn(op, "dtype", Of<0>(op, output)); }

DataType QuantizedDtype(OpImport& op, size_t output) {
  return DtypeIn(op, "output_dtype", op.Has(2) ? Of<2>(op, output) : DataType::UInt(8));
}

DataType DequantizedDtype(OpImport& op, size_t output) { return DtypeIn(op, "output_dtype", Of<1>(op, output)); }

// The dtype of the mask: before version 10 that of the data.
DataType MaskDtype(OpImport& op, size_t output) { return op.version() < 10 ? Of<0>(op, output) : DataType::Bool(); }

// Mean and inverse deviation of LayerNormalization: 1 where they are computed.
Dims StatisticDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  const auto axis = AxisOf(op.Int("axis", -1), dims);
  if (!axis) return dims ? UnknownDims(dims->size()) : std::nullopt;
  for (size_t i = *axis; i < dims->size(); ++i) (*dims)[i] = WholeDim(1);
  return dims;
}

DataType StashDtype(OpImport& op, size_t output) {
  return op.FindAttr("stash_type")            ? DtypeIn(op, "stash_type", DataType::Float(32))
         : op.Dtype(0) == DataType::Float(64) ? Of<0>(op, output)
                                              : DataType::Float(32);
}

// Running statistics are like the ones that came in.
DataType RunningDtype(OpImport& op, size_t output) { return output % 2 == 1 ? Of<3>(op, output) : Of<4>(op, output); }
Dims RunningDims(OpImport& op, size_t output) {
  const Dims dims = DimsIn(op, output % 2 == 1 ? 3 : 4);
  return dims ? dims : UnknownDims(1);
}

// Optimizers: the inputs are two numbers and then, for each kind of tensor, those of all tensors. The outputs lack the
// gradients, which are the second kind.
size_t StateInput(OpImport& op, size_t output) {
  const size_t tensors = op.num_inputs() < op.num_outputs() + 2 ? 0 : op.num_inputs() - 2 - op.num_outputs();
  return 2 + output + (output < tensors ? 0 : tensors);
}
DataType StateDtype(OpImport& op, size_t output) {
  const size_t input = StateInput(op, output);
  return op.Has(input) ? op.Dtype(input) : DataType::Void();
}
Dims StateDims(OpImport& op, size_t output) { return DimsIn(op, StateInput(op, output)); }

DataType LabelDtype(OpImport& op, size_t /*output*/) {
  if (op.FindAttr("values_int64s")) return DataType::Int(64);
  if (op.FindAttr("values_floats")) return DataType::Float(32);
  if (op.FindAttr("values_strings")) return DataType::Handle();
  return DataType::Void();
}

constexpr TypeRow kElementTypes[] = {
    {"Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Clip Cos Cosh CumProd CumSum Elu Erf Exp Floor Gelu", 0,
     Of<0>, Like<0>},
    {"HardSigmoid HardSwish Hardmax Identity InstanceNormalization LRN LeakyRelu Log LogSoftmax LpNormalization "
     "MeanVarianceNormalization Mish Neg Not PRelu RMSNormalization Reciprocal Relu ReverseSequence Round",
     0, Of<0>, Like<0>},
    {"Scatter ScatterElements ScatterND Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt SwiGLU Swish "
     "Tan "
     "Tanh "
     "TensorScatter ThresholdedRelu Trilu GroupNormalization",
     0, Of<0>, Like<0>},
    {"LayerNormalization", 0, Of<0>, Like<0>},
    {"LayerNormalization", 1, StashDtype, StatisticDims},
    {"BatchNormalization", 0, Of<0>, Like<0>},
    {"BatchNormalization", 1, RunningDtype, RunningDims},
    {"Dropout", 0, Of<0>, Like<0>},
    {"Dropout", 1, MaskDtype, Like<0>},
    {"IsInf IsNaN RegexFullMatch", 0, kBools, Like<0>},
    {"Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Max Mean Min Mod Mul Or Pow Sub Sum Xor StringConcat", 0,
     Of<0>, BroadcastAll},
    {"Equal Greater GreaterOrEqual Less LessOrEqual", 0, kBools, Broadcast<0, 1>},
    {"Where", 0, Of<1>, BroadcastAll},
    {"Cast BitCast", 0, CastDtype, Like<0>},
    {"CastLike", 0, Of<1>, Like<0>},
    {"Bernoulli RandomNormalLike RandomUniformLike EyeLike", 0, RandomLikeDtype, Like<0>},
    {"QuantizeLinear com.microsoft.QuantizeLinear", 0, QuantizedDtype, Like<0>},
    {"DequantizeLinear com.microsoft.DequantizeLinear", 0, DequantizedDtype, Like<0>},
    {"DynamicQuantizeLinear", 0, kBytes, Like<0>},
    {"DynamicQuantizeLinear", 1, kFloats, Rank<0>},
    {"DynamicQuantizeLinear", 2, kBytes, Rank<0>},
    {"ai.onnx.preview.training.Adagrad ai.onnx.preview.training.Adam ai.onnx.preview.training.Momentum", 0, StateDtype,
     StateDims},
    {"ai.onnx.ml.Binarizer ai.onnx.ml.Imputer", 0, Of<0>, Like<0>},
    {"ai.onnx.ml.Normalizer ai.onnx.ml.Scaler", 0, kFloats, Like<0>},
    {"ai.onnx.ml.LabelEncoder", 0, LabelDtype, Like<0>},
};

}  // namespace

std::span<const TypeRow> ElementTypeRows() { return kElementTypes; }

}  // namespace iropt::onnx

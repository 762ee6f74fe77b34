#include "exchange/onnx/export/type_versions.h"

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "iropt/support/lookup.h"

namespace iropt::onnx {

namespace {

using Mask = uint32_t;

constexpr Mask MaskOf(std::initializer_list<ElementType> types) {
  Mask mask = 0;
  for (const ElementType type : types) mask |= Mask{1} << static_cast<unsigned>(type);
  return mask;
}

constexpr Mask kBytes = MaskOf({ElementType::kInt8, ElementType::kUint8});
constexpr Mask kSmall = kBytes | MaskOf({ElementType::kInt16, ElementType::kUint16});
constexpr Mask kWide = MaskOf({ElementType::kInt32, ElementType::kInt64, ElementType::kUint32, ElementType::kUint64});
constexpr Mask kSigned = MaskOf({ElementType::kInt8, ElementType::kInt16, ElementType::kInt32, ElementType::kInt64});
constexpr Mask kReal = MaskOf({ElementType::kFloat, ElementType::kFloat16, ElementType::kDouble});
constexpr Mask kBfloat = MaskOf({ElementType::kBfloat16});
constexpr Mask kHalves = MaskOf({ElementType::kFloat16});
constexpr Mask kFloat8 = MaskOf(
    {ElementType::kFloat8E4M3Fn, ElementType::kFloat8E4M3Fnuz, ElementType::kFloat8E5M2, ElementType::kFloat8E5M2Fnuz});

constexpr Mask kNotNumbers =
    MaskOf({ElementType::kBool, ElementType::kString, ElementType::kComplex64, ElementType::kComplex128});

struct Row {
  std::string_view op;
  int since;
  Mask types;
};

// Only what came after the first version of the operator, from version 7 on; see kBfloatSince for bfloat16 and
// kNewTypes for types that came with a version.
constexpr Row kRows[] = {
    {"Add", 14, kSmall},
    {"Cast", 9, MaskOf({ElementType::kString})},
    {"Celu", 28, kHalves | MaskOf({ElementType::kDouble})},
    {"Clip", 12, kSmall | kWide},
    {"ConstantOfShape", 20, kFloat8},
    {"CumSum", 14, kHalves},
    {"DequantizeLinear", 19, kHalves},
    {"DequantizeLinear", 21, MaskOf({ElementType::kInt16, ElementType::kUint16})},
    {"Div", 14, kSmall},
    {"Dropout", 22, kFloat8},
    {"Equal", 11, kSmall | kReal | MaskOf({ElementType::kUint32, ElementType::kUint64})},
    {"Equal", 19, MaskOf({ElementType::kString})},
    {"Flatten", 9, kSmall | kWide | kNotNumbers},
    {"Flatten", 21, kFloat8},
    {"Gemm", 9, kWide},
    {"Greater", 9, kSmall | kWide},
    {"IsInf", 20, kHalves | kFloat8},
    {"IsNaN", 20, kFloat8},
    {"Less", 9, kSmall | kWide},
    {"MatMul", 9, kWide},
    {"Max", 12, kSmall | kWide},
    {"MaxPool", 12, kBytes},
    {"Min", 12, kSmall | kWide},
    {"Mul", 14, kSmall},
    {"PRelu", 9, kWide},
    {"Pad", 11, kSmall | kWide},
    {"Pad", 13, kNotNumbers},
    {"Pad", 21, kFloat8},
    {"Pow", 12, kSmall | kWide},
    {"QLinearMatMul", 21, kHalves | kFloat8},
    {"QuantizeLinear", 19, kHalves},
    {"QuantizeLinear", 21, MaskOf({ElementType::kInt16, ElementType::kUint16})},
    {"Range", 27, kHalves},
    {"ReduceMax", 12, kBytes},
    {"ReduceMax", 20, MaskOf({ElementType::kBool})},
    {"ReduceMin", 12, kBytes},
    {"ReduceMin", 20, MaskOf({ElementType::kBool})},
    {"Relu", 14, kSigned},
    {"Squeeze", 21, kFloat8},
    {"Sub", 14, kSmall},
    {"TopK", 11, kSmall | kWide},
    {"Transpose", 21, kFloat8},
    {"Unsqueeze", 21, kFloat8},
};

struct TypeVersion {
  Mask types;
  int since;
};

// No operator takes these types before.
constexpr TypeVersion kNewTypes[] = {
    {kBfloat, 13},
    {kFloat8, 19},
    {MaskOf({ElementType::kInt4, ElementType::kUint4}), 21},
    {MaskOf({ElementType::kFloat4E2M1}), 23},
    {MaskOf({ElementType::kFloat8E8M0}), 24},
    {MaskOf({ElementType::kInt2, ElementType::kUint2}), 25},
};

// Operators that take bfloat16 later than from 13 on, as most do.
constexpr Row kBfloatSince[] = {
    {"Acos", 22, kBfloat},
    {"Acosh", 22, kBfloat},
    {"Asin", 22, kBfloat},
    {"Asinh", 22, kBfloat},
    {"Atan", 22, kBfloat},
    {"Atanh", 22, kBfloat},
    {"AveragePool", 22, kBfloat},
    {"BatchNormalization", 14, kBfloat},
    {"Bernoulli", 22, kBfloat},
    {"Celu", 28, kBfloat},
    {"ConstantOfShape", 20, kBfloat},
    {"Conv", 22, kBfloat},
    {"ConvTranspose", 22, kBfloat},
    {"Cos", 22, kBfloat},
    {"Cosh", 22, kBfloat},
    {"CumSum", 14, kBfloat},
    {"DeformConv", 22, kBfloat},
    {"DequantizeLinear", 19, kBfloat},
    {"Det", 22, kBfloat},
    {"Dropout", 22, kBfloat},
    {"Elu", 22, kBfloat},
    {"EyeLike", 22, kBfloat},
    {"GRU", 22, kBfloat},
    {"GlobalAveragePool", 22, kBfloat},
    {"GlobalLpPool", 22, kBfloat},
    {"GlobalMaxPool", 22, kBfloat},
    {"GreaterOrEqual", 16, kBfloat},
    {"GridSample", 22, kBfloat},
    {"HardSigmoid", 22, kBfloat},
    {"HardSwish", 22, kBfloat},
    {"InstanceNormalization", 22, kBfloat},
    {"IsInf", 20, kBfloat},
    {"LSTM", 22, kBfloat},
    {"LeakyRelu", 16, kBfloat},
    {"LessOrEqual", 16, kBfloat},
    {"Loop", 16, kBfloat},
    {"LpNormalization", 22, kBfloat},
    {"LpPool", 22, kBfloat},
    {"MaxPool", 22, kBfloat},
    {"MaxRoiPool", 22, kBfloat},
    {"MaxUnpool", 22, kBfloat},
    {"Mish", 22, kBfloat},
    {"Multinomial", 22, kBfloat},
    {"NegativeLogLikelihoodLoss", 22, kBfloat},
    {"PRelu", 16, kBfloat},
    {"Pow", 15, kBfloat},
    {"QLinearMatMul", 21, kBfloat},
    {"QuantizeLinear", 19, kBfloat},
    {"RNN", 22, kBfloat},
    {"RandomNormal", 22, kBfloat},
    {"RandomNormalLike", 22, kBfloat},
    {"RandomUniform", 22, kBfloat},
    {"RandomUniformLike", 22, kBfloat},
    {"Range", 27, kBfloat},
    {"RoiAlign", 22, kBfloat},
    {"Round", 22, kBfloat},
    {"Scan", 16, kBfloat},
    {"Selu", 22, kBfloat},
    {"Sin", 22, kBfloat},
    {"Sinh", 22, kBfloat},
    {"Softplus", 22, kBfloat},
    {"Softsign", 22, kBfloat},
    {"SplitToSequence", 24, kBfloat},
    {"Tan", 22, kBfloat},
    {"ThresholdedRelu", 22, kBfloat},
    {"TopK", 24, kBfloat},
    {"Where", 16, kBfloat},
};

}  // namespace

int FirstVersionWith(std::string_view op, const ValueType& type) {
  const bool is_control = op == "If" || op == "Loop";
  const bool asks = op == "OptionalGetElement" || op == "OptionalHasElement";
  if (asks) return type.kind == ValueType::Kind::kTensor || type.kind == ValueType::Kind::kSequence ? 18 : 1;
  if (type.kind == ValueType::Kind::kSequence) return op == "Identity" ? 14 : is_control ? 13 : 1;
  if (type.kind == ValueType::Kind::kOptional) return op == "Identity" || is_control ? 16 : 1;
  if (type.kind != ValueType::Kind::kTensor) return 1;
  static const LookupMap<std::string_view, std::vector<const Row*>> rows = [] {
    LookupMap<std::string_view, std::vector<const Row*>> by_op;
    for (const Row& row : kRows) by_op[row.op].push_back(&row);
    for (const Row& row : kBfloatSince) by_op[row.op].push_back(&row);
    return by_op;
  }();
  const Mask mask = Mask{1} << static_cast<unsigned>(type.element);
  if (const auto* found = rows.Find(op)) {
    for (const Row* row : *found) {
      if ((row->types & mask) != 0) return row->since;
    }
  }
  for (const TypeVersion& row : kNewTypes) {
    if ((row.types & mask) != 0) return row.since;
  }
  return 1;
}

bool FirstInputDecides(std::string_view op) { return op == "Pad" || op == "TopK"; }

}  // namespace iropt::onnx

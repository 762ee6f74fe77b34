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

struct Row {
  std::string_view op;
  int since;
  Mask types;
};

// Only what came after the first version of the operator, from version 7 on; see kBfloatSince for bfloat16.
constexpr Row kRows[] = {
    {"Add", 14, kSmall},
    {"Cast", 9, MaskOf({ElementType::kString})},
    {"Clip", 12, kSmall | kWide},
    {"Div", 14, kSmall},
    {"Equal", 11, kSmall | kReal | MaskOf({ElementType::kUint32, ElementType::kUint64})},
    {"Flatten", 9, kSmall | kWide | MaskOf({ElementType::kBool})},
    {"Gemm", 9, kWide},
    {"Greater", 9, kSmall | kWide},
    {"Less", 9, kSmall | kWide},
    {"MatMul", 9, kWide},
    {"Max", 12, kSmall | kWide},
    {"MaxPool", 12, kBytes},
    {"Min", 12, kSmall | kWide},
    {"Mul", 14, kSmall},
    {"PRelu", 9, kWide},
    {"Pad", 11, kSmall | kWide},
    {"Pad", 13, MaskOf({ElementType::kBool})},
    {"Pow", 12, MaskOf({ElementType::kInt32, ElementType::kInt64})},
    {"ReduceMax", 12, kBytes},
    {"ReduceMin", 12, kBytes},
    {"Relu", 14, kSigned},
    {"Sub", 14, kSmall},
    {"TopK", 11, kSmall | kWide},
};

// Operators that take bfloat16 later than from 13 on, as most do.
constexpr Row kBfloatSince[] = {
    {"BatchNormalization", 14, kBfloat}, {"CumSum", 14, kBfloat}, {"GreaterOrEqual", 16, kBfloat},
    {"LeakyRelu", 16, kBfloat},          {"PRelu", 16, kBfloat},  {"LessOrEqual", 16, kBfloat},
};

}  // namespace

int FirstVersionWith(std::string_view op, const ValueType& type) {
  const bool is_control = op == "If" || op == "Loop";
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
  return type.element == ElementType::kBfloat16 ? 13 : 1;
}

bool FirstInputDecides(std::string_view op) { return op == "Pad" || op == "Pow" || op == "TopK"; }

}  // namespace iropt::onnx

// Attributes of nodes that are written.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "exchange/onnx/model.h"

namespace iropt::onnx {

inline AttributeProto IntAttribute(std::string_view name, int64_t value) {
  return {.name = name, .type = AttributeType::kInt, .i = value};
}
inline AttributeProto FloatAttribute(std::string_view name, double value) {
  return {.name = name, .type = AttributeType::kFloat, .f = static_cast<float>(value)};
}
// `value` must live as long as the model.
inline AttributeProto TextAttribute(std::string_view name, std::string_view value) {
  return {.name = name, .type = AttributeType::kString, .s = value};
}
inline AttributeProto IntsAttribute(std::string_view name, std::vector<int64_t> values) {
  return {.name = name, .type = AttributeType::kInts, .ints = std::move(values)};
}
inline AttributeProto TensorAttribute(std::string_view name, TensorProto tensor) {
  return {.name = name, .type = AttributeType::kTensor, .tensors = {std::move(tensor)}};
}
inline AttributeProto GraphAttribute(std::string_view name, std::shared_ptr<GraphProto> graph) {
  return {.name = name, .type = AttributeType::kGraph, .graphs = {std::move(graph)}};
}

}  // namespace iropt::onnx

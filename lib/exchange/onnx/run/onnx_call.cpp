#include "exchange/onnx/run/onnx_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "exchange/onnx/import/opaque_call.h"
#include "exchange/onnx/run/numbers.h"
#include "exchange/onnx/tensors.h"
#include "iropt/ir/element.h"

namespace iropt::onnx {

namespace {

bool IsText(const HostValue& value) { return std::holds_alternative<std::string>(value.state); }

TensorProto ToTensorProto(const NDArray& array) {
  const auto* bytes = reinterpret_cast<const char*>(array.data());
  return {.dims = {array.shape().begin(), array.shape().end()},
          .type = ElementTypeOf(array.dtype()),
          .raw = std::string_view(bytes, array.num_bytes())};
}

}  // namespace

Error OnnxCall::Fail(std::string_view message) const {
  return {ErrorCode::SemanticCheck, fmt::format("{}: {}", name_, message)};
}

Result<OnnxCall> OnnxCall::Make(const PackedCall& call) {
  OnnxCall result;
  result.name_ = call.callee();
  result.context_ = &call.context();
  std::string_view name = call.callee();
  name.remove_prefix(std::min(name.size(), kOpaquePrefix.size()));
  const size_t dot = name.rfind('.');
  result.node_.op_type = result.texts_.emplace_back(name.substr(dot == std::string_view::npos ? 0 : dot + 1));
  if (dot != std::string_view::npos) result.node_.domain = result.texts_.emplace_back(name.substr(0, dot));
  size_t count = 0;
  while (count < call.num_args() && !IsText(call.arg(count))) ++count;
  result.inputs_.assign(call.args().begin(), call.args().begin() + static_cast<std::ptrdiff_t>(count));
  for (size_t i = 0; i < count; ++i) {
    const TupleValue* tuple = call.arg(i).tuple();
    const bool is_missing = tuple != nullptr && tuple->fields.empty();
    result.node_.inputs.emplace_back();
    if (!is_missing) result.node_.inputs.back() = result.texts_.emplace_back(std::to_string(i));
  }
  IROPT_RETURN_IF_ERROR(result.ReadAttributes(call.args().subspan(count)));
  return result;
}

Status OnnxCall::ReadAttributes(std::span<const HostValue> args) {
  size_t num_outputs = 1;
  for (size_t i = 0; i < args.size(); i += 2) {
    const auto* key = std::get_if<std::string>(&args[i].state);
    if (key == nullptr || i + 1 == args.size()) return Fail("expects names and values of attributes after the inputs");
    const std::string_view name = texts_.emplace_back(*key);
    const HostValue& value = args[i + 1];
    // The version and the number of outputs come last: attributes may have their names.
    const bool is_last = i + 2 == args.size();
    const auto* last = args.size() < 2 ? nullptr : std::get_if<std::string>(&args[args.size() - 2].state);
    const bool is_fact = is_last || (i + 4 == args.size() && last != nullptr && *last == kOutputsKey);
    if (is_fact && (name == kOpsetKey || name == kOutputsKey)) {
      const std::optional<int64_t> number = value.scalar() ? value.scalar()->ToInt() : std::nullopt;
      if (!number || *number < 0 || *number > UINT16_MAX) return Fail(fmt::format("'{}' is not a number", name));
      if (name == kOpsetKey)
        opset_ = *number;
      else
        num_outputs = static_cast<size_t>(*number);
    } else if (value.function() != nullptr) {
      const TupleValue* captured = i + 2 < args.size() ? args[i + 2].tuple() : nullptr;
      if (captured == nullptr) return Fail(fmt::format("the values that '{}' captures are missing", name));
      bodies_.emplace_back(name, OnnxBody{value, captured->fields});
      ++i;
    } else {
      IROPT_RETURN_IF_ERROR(ReadValue(name, value));
    }
  }
  for (size_t i = 0; i < num_outputs; ++i) node_.outputs.push_back(texts_.emplace_back(fmt::format("out{}", i)));
  return {};
}

Status OnnxCall::ReadValue(std::string_view name, const HostValue& value) {
  AttributeProto& attribute = node_.attributes.emplace_back();
  attribute.name = name;
  if (const Scalar* scalar = value.scalar()) {
    const bool is_float = scalar->dtype.is_floating();
    attribute.type = is_float ? AttributeType::kFloat : AttributeType::kInt;
    if (is_float)
      attribute.f = static_cast<float>(scalar->real);
    else
      attribute.i = scalar->integer;
  } else if (const auto* text = std::get_if<std::string>(&value.state)) {
    attribute.type = AttributeType::kString;
    attribute.s = texts_.emplace_back(*text);
  } else if (const ShapeValue* ints = value.shape()) {
    attribute.type = AttributeType::kInts;
    attribute.ints = *ints;
  } else if (const NDArray* tensor = value.tensor()) {
    attribute.type = AttributeType::kTensor;
    attribute.tensors.push_back(ToTensorProto(*tensor));
  } else if (const TupleValue* tuple = value.tuple()) {
    for (const HostValue& field : tuple->fields) {
      if (field.scalar())
        attribute.floats.push_back(static_cast<float>(field.scalar()->ToDouble()));
      else if (IsText(field))
        attribute.strings.push_back(texts_.emplace_back(std::get<std::string>(field.state)));
      else
        return Fail(fmt::format("attribute '{}' has a value of an unknown form", name));
    }
    attribute.type = attribute.strings.empty() ? AttributeType::kFloats : AttributeType::kStrings;
  } else {
    return Fail(fmt::format("attribute '{}' has a value of an unknown form", name));
  }
  return {};
}

std::span<const int64_t> OnnxCall::Shape(size_t i) const {
  const NDArray* array = Find(i);
  return array ? array->shape() : std::span<const int64_t>();
}

DataType OnnxCall::Dtype(size_t i, DataType fallback) const {
  const NDArray* array = Find(i);
  return array ? array->dtype() : fallback;
}

Result<Tensor> OnnxCall::TensorIn(size_t i) const {
  const auto* tensor = i < inputs_.size() ? std::get_if<Tensor>(&inputs_[i].state) : nullptr;
  if (tensor == nullptr) return Fail(fmt::format("input {} is {}", i, Has(i) ? "not a tensor" : "missing"));
  return *tensor;
}

Result<std::vector<double>> OnnxCall::NumbersIn(size_t i) const {
  IROPT_ASSIGN_OR_RETURN(const Tensor tensor, TensorIn(i));
  std::optional<std::vector<double>> numbers = ToNumbers(*tensor);
  if (!numbers) return Fail(fmt::format("input {} has elements that are not numbers", i));
  return *std::move(numbers);
}

double OnnxCall::NumberIn(size_t i, double fallback) const {
  const NDArray* array = Find(i);
  const std::optional<Scalar> scalar = array ? ScalarOf(*array) : std::nullopt;
  return scalar ? scalar->ToDouble() : fallback;
}

int64_t OnnxCall::IntIn(size_t i, int64_t fallback) const {
  const NDArray* array = Find(i);
  const std::optional<Scalar> scalar = array ? ScalarOf(*array) : std::nullopt;
  return scalar ? scalar->ToInt().value_or(fallback) : fallback;
}

Result<std::vector<int64_t>> OnnxCall::IntsIn(size_t i) const {
  IROPT_ASSIGN_OR_RETURN(const Tensor tensor, TensorIn(i));
  if (!tensor->dtype().is_integer()) return Fail(fmt::format("input {} has elements that are not integers", i));
  std::vector<int64_t> ints;
  DispatchElement(tensor->dtype(), [&]<class T>(std::type_identity<T>) {
    for (const T element : tensor->As<T>()) ints.push_back(static_cast<int64_t>(Element<T>::Load(element)));
  });
  return ints;
}

Status OnnxCall::CheckShape(std::span<const int64_t> shape) const {
  const std::optional<uint64_t> bytes = ArrayBytes(DataType::Float(64), shape);
  if (!bytes) return Fail("the dimensions of the result are negative or too large");
  const auto memory = context_->Allocate(*bytes);
  return memory.ok() ? Status() : Status(memory.error());
}

std::vector<double> OnnxCall::Floats(std::string_view name) const {
  const AttributeProto* attribute = FindAttr(name);
  if (attribute == nullptr) return {};
  return {attribute->floats.begin(), attribute->floats.end()};
}

std::vector<std::string_view> OnnxCall::Strings(std::string_view name) const {
  const AttributeProto* attribute = FindAttr(name);
  return attribute ? attribute->strings : std::vector<std::string_view>();
}

const OnnxBody* OnnxCall::Body(std::string_view name) const {
  for (const auto& [key, body] : bodies_) {
    if (key == name) return &body;
  }
  return nullptr;
}

}  // namespace iropt::onnx

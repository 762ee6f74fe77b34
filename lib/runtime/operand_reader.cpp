#include "iropt/runtime/operand_reader.h"

#include <fmt/format.h>

#include "iropt/ir/element.h"

namespace iropt {

Error OperandReader::Fail(std::string_view message, ErrorCode code) const {
  return {code, fmt::format("{}: {}", callee_, message)};
}

Error OperandReader::NotA(size_t i, std::string_view kind) const {
  return Fail(fmt::format("operand {} is not {}", i, kind));
}

Result<Tensor> OperandReader::TensorArg(size_t i) const {
  const auto* tensor = i < args_.size() ? std::get_if<Tensor>(&args_[i].state) : nullptr;
  if (!tensor) return NotA(i, "a tensor");
  return *tensor;
}

Result<ShapeValue> OperandReader::ShapeArg(size_t i) const {
  const ShapeValue* shape = i < args_.size() ? args_[i].shape() : nullptr;
  if (!shape) return NotA(i, "a shape");
  return *shape;
}

Result<Scalar> OperandReader::ScalarArg(size_t i) const {
  const Scalar* scalar = i < args_.size() ? args_[i].scalar() : nullptr;
  if (!scalar) return NotA(i, "a scalar");
  return *scalar;
}

Result<int64_t> OperandReader::IntArg(size_t i) const {
  const Scalar* scalar = i < args_.size() ? args_[i].scalar() : nullptr;
  const std::optional<int64_t> value = scalar && !scalar->dtype.is_floating() ? scalar->ToInt() : std::nullopt;
  if (!value) return NotA(i, "an integer");
  return *value;
}

Result<std::string_view> OperandReader::StringArg(size_t i) const {
  const auto* text = i < args_.size() ? std::get_if<std::string>(&args_[i].state) : nullptr;
  if (!text) return NotA(i, "a string");
  return *text;
}

Result<DataType> OperandReader::DTypeArg(size_t i) const {
  const auto* dtype = i < args_.size() ? std::get_if<DataType>(&args_[i].state) : nullptr;
  if (!dtype) return NotA(i, "a dtype");
  return *dtype;
}

Result<const TupleValue*> OperandReader::TupleArg(size_t i) const {
  const TupleValue* tuple = i < args_.size() ? args_[i].tuple() : nullptr;
  if (!tuple) return NotA(i, "a tuple");
  return tuple;
}

Result<ShapeValue> OperandReader::IntsArg(size_t i) const {
  if (i < args_.size() && args_[i].shape()) return *args_[i].shape();
  const TupleValue* tuple = i < args_.size() ? args_[i].tuple() : nullptr;
  if (!tuple) return NotA(i, "a list of integers");
  ShapeValue result;
  for (const HostValue& field : tuple->fields) {
    const std::optional<int64_t> value = field.scalar() ? field.scalar()->ToInt() : std::nullopt;
    if (!value) return NotA(i, "a list of integers");
    result.push_back(*value);
  }
  return result;
}

Result<std::vector<Tensor>> OperandReader::TensorsArg(size_t i) const {
  IROPT_ASSIGN_OR_RETURN(const TupleValue* tuple, TupleArg(i));
  std::vector<Tensor> result;
  for (const HostValue& field : tuple->fields) {
    const auto* tensor = std::get_if<Tensor>(&field.state);
    if (!tensor) return NotA(i, "a tuple of tensors");
    result.push_back(*tensor);
  }
  return result;
}

Result<ShapeValue> IntElements(const OperandReader& call, const NDArray& tensor) {
  ShapeValue values;
  bool fits = tensor.dtype().is_integer();
  if (tensor.storage() && !tensor.storage()->IsWritten(tensor.storage_offset(), tensor.num_bytes()))
    return call.Fail("an element of a tensor is read before it is initialized");
  DispatchElement(tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      for (const T x : tensor.As<T>()) {
        if constexpr (std::is_same_v<T, uint64_t>) fits &= x <= INT64_MAX;
        values.push_back(static_cast<int64_t>(x));
      }
    } else {
      fits = false;
    }
  });
  if (!fits) return call.Fail(fmt::format("a tensor of dtype {} does not hold integers", tensor.dtype().ToString()));
  return values;
}

}  // namespace iropt

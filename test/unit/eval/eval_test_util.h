// Helpers to write tensors, attributes and calls of operators.
#pragma once

#include <initializer_list>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catch.h"
#include "iropt/eval/evaluator.h"
#include "iropt/ir/element.h"
#include "iropt/op/op_attrs.h"

namespace iropt {

using Dims = std::vector<int64_t>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Elements given as numbers, converted to the dtype; they must be in range.
inline Tensor T(DataType dtype, Dims shape, const std::vector<double>& values) {
  std::shared_ptr<NDArray> tensor = NDArray::Make(dtype, shape);
  REQUIRE(tensor->num_elements() == static_cast<int64_t>(values.size()));
  DispatchElement(dtype, [&]<class E>(std::type_identity<E>) {
    for (size_t i = 0; i < values.size(); ++i) REQUIRE(ConvertElement(values[i], &tensor->MutableAs<E>()[i]));
  });
  return tensor;
}
inline Tensor F32(Dims shape, const std::vector<double>& values) {
  return T(DataType::Float(32), std::move(shape), values);
}
inline Tensor I32(Dims shape, const std::vector<double>& values) {
  return T(DataType::Int(32), std::move(shape), values);
}
inline Tensor I64(Dims shape, const std::vector<double>& values) {
  return T(DataType::Int(64), std::move(shape), values);
}
inline Tensor B(Dims shape, const std::vector<double>& values) { return T(DataType::Bool(), std::move(shape), values); }

// 0, 1, 2, ...
inline std::vector<double> Iota(int64_t n, double first = 0) {
  std::vector<double> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<double>(i);
  return values;
}

inline std::vector<double> Elements(const NDArray& tensor) {
  std::vector<double> values;
  DispatchElement(tensor.dtype(), [&]<class E>(std::type_identity<E>) {
    for (const E x : tensor.As<E>()) values.push_back(static_cast<double>(Element<E>::Load(x)));
  });
  return values;
}
inline Dims ShapeOf(const NDArray& tensor) { return Dims(tensor.shape().begin(), tensor.shape().end()); }

using NamedAttr = std::pair<std::string_view, const Attr*>;
inline const Attr* Ints(std::initializer_list<int64_t> values) {
  std::vector<const Attr*> items;
  for (const int64_t value : values) items.push_back(IntAttr::Get(value));
  return ListAttr::Get(items);
}
inline const Attr* LeastOf(AttrKind kind) {
  switch (kind) {
    case AttrKind::kInt: return IntAttr::Get(0);
    case AttrKind::kIntList: return ListAttr::Get({});
    case AttrKind::kDataType: return DTypeAttr::Get(DataType::Void());
    case AttrKind::kString: return StrAttr::Get("");
    default: return NoneAttr::Get();
  }
}
// Some attributes of an operator, to be completed by Try.
inline const ObjectAttr* Attrs(std::initializer_list<NamedAttr> attrs) {
  std::vector<std::string_view> names;
  std::vector<const Attr*> values;
  for (const auto& [name, value] : attrs) {
    names.push_back(name);
    values.push_back(value);
  }
  return ObjectAttr::Get("test.Attrs", names, values);
}

// The record of the operator with the given values, as far as it has such attributes, and defaults for the rest;
// required attributes get the least value.
inline const Attr* CompleteAttrs(const OpInfo& op, const Attr* given) {
  const auto* some = As<ObjectAttr>(given);
  if (op.attrs_key.empty() || (some && some->type_key == op.attrs_key)) return given;
  std::vector<const Attr*> values;
  for (const OpAttr& attr : op.attrs) {
    const Attr* value = some ? some->Find(attr.name) : nullptr;
    const bool required = !value && attr.fallback.kind == OpDefault::Kind::kRequired;
    values.push_back(required ? LeastOf(attr.kind) : value);
  }
  return MakeOpAttrs(op, values);
}

// The dtype that an evaluation tests: that of the first tensor (except a condition), or of the result.
inline DataType TestedType(std::string_view op, const std::vector<HostValue>& args, const HostValue& result) {
  for (size_t i = op.ends_with("where") ? 1 : 0; i < args.size(); ++i) {
    const TupleValue* tuple = args[i].tuple();
    const HostValue* value = tuple && !tuple->fields.empty() ? &tuple->fields[0] : &args[i];
    if (value->tensor()) return value->tensor()->dtype();
  }
  return result.tensor() ? result.tensor()->dtype() : DataType::Void();
}

// The operators and dtypes that tests have evaluated so far.
inline std::set<std::pair<std::string, std::string>>& TestedOps() {
  static std::set<std::pair<std::string, std::string>> ops;
  return ops;
}

inline Result<HostValue> Try(std::string_view op, std::vector<HostValue> args, const Attr* attrs = nullptr,
                             const EvalLimits& limits = {}) {
  const OpInfo* info = FindOp("relax." + std::string(op));
  REQUIRE(info != nullptr);
  Result<HostValue> result = EvalOp(*info, CompleteAttrs(*info, attrs), args, limits);
  if (result) {
    const DataType dtype = TestedType(op, args, *result);
    TestedOps().emplace("relax." + std::string(op), dtype.is_void() ? "" : dtype.ToString());
  }
  return result;
}
// The result of an evaluation that must succeed with a tensor.
inline Tensor Run(std::string_view op, std::vector<HostValue> args, const Attr* attrs = nullptr) {
  Result<HostValue> result = Try(op, std::move(args), attrs);
  INFO(op << ": " << (result ? "" : result.error().message));
  REQUIRE(result.ok());
  const auto* tensor = std::get_if<Tensor>(&(*result).state);
  REQUIRE(tensor != nullptr);
  return *tensor;
}
inline std::vector<double> Values(std::string_view op, std::vector<HostValue> args, const Attr* attrs = nullptr) {
  return Elements(*Run(op, std::move(args), attrs));
}

inline HostValue Ints(const std::vector<int64_t>& values) {
  TupleValue tuple;
  for (const int64_t value : values) tuple.fields.emplace_back(Scalar::Int(value));
  return HostValue(std::move(tuple));
}
inline HostValue Tensors(std::initializer_list<Tensor> tensors) {
  TupleValue tuple;
  for (const Tensor& tensor : tensors) tuple.fields.emplace_back(tensor);
  return HostValue(std::move(tuple));
}

inline std::vector<DataType> NumberTypes() {
  return {DataType::Int(8),    DataType::Int(16),   DataType::Int(32),   DataType::Int(64),
          DataType::UInt(8),   DataType::UInt(16),  DataType::UInt(32),  DataType::UInt(64),
          DataType::Float(16), DataType::Float(32), DataType::Float(64), DataType::BFloat(16)};
}

inline std::vector<DataType> Float8Types() {
  return {DataType::Make(TypeCode::kFloat8E4M3, 8, 1), DataType::Make(TypeCode::kFloat8E5M2, 8, 1)};
}
inline std::vector<DataType> AllNumberTypes() {
  std::vector<DataType> types = NumberTypes();
  for (const DataType dtype : Float8Types()) types.push_back(dtype);
  return types;
}
// Every dtype of tensors.
inline std::vector<DataType> AllTypes() {
  std::vector<DataType> types = AllNumberTypes();
  types.push_back(DataType::Bool());
  return types;
}

}  // namespace iropt

#include "expr_facts.h"

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/element.h"
#include "iropt/ir/ndarray.h"

namespace iropt::relay {

DataType DTypeOf(const Expr* expr) {
  const TensorType* tensor = expr ? TensorOf(expr) : nullptr;
  return tensor ? tensor->dtype : DataType::Void();
}

int RankOf(const Expr* expr) {
  const TensorType* tensor = expr ? TensorOf(expr) : nullptr;
  return tensor ? tensor->ndim : kUnknownDim;
}

std::optional<std::vector<const PrimExpr*>> DimsOf(const Expr* expr) {
  const TensorType* tensor = expr ? TensorOf(expr) : nullptr;
  if (tensor == nullptr || !tensor->known) return std::nullopt;
  return std::vector<const PrimExpr*>(tensor->dims.begin(), tensor->dims.end());
}

std::optional<std::vector<int64_t>> StaticDimsOf(const Expr* expr) {
  const auto dims = DimsOf(expr);
  if (!dims) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const PrimExpr* dim : *dims) {
    const int64_t* size = arith::AsInt(dim);
    if (size == nullptr) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

std::optional<std::vector<int64_t>> ConstantInts(const Expr* expr) {
  const auto* constant = As<Constant>(expr);
  if (constant == nullptr || !constant->data->dtype().is_integer()) return std::nullopt;
  std::vector<int64_t> values;
  DispatchElement(constant->data->dtype(), [&]<class T>(std::type_identity<T>) {
    for (const T element : constant->data->As<T>()) values.push_back(static_cast<int64_t>(Element<T>::Load(element)));
  });
  return values;
}

std::optional<int64_t> ConstantInt(const Expr* expr) {
  const auto values = ConstantInts(expr);
  return values && !values->empty() ? std::optional(values->front()) : std::nullopt;
}

std::optional<double> ConstantFloat(const Expr* expr) {
  const auto* constant = As<Constant>(expr);
  if (constant == nullptr || constant->data->num_elements() == 0) return std::nullopt;
  std::optional<double> value;
  DispatchElement(constant->data->dtype(), [&]<class T>(std::type_identity<T>) {
    value = static_cast<double>(Element<T>::Load(constant->data->As<T>().front()));
  });
  return value;
}

}  // namespace iropt::relay

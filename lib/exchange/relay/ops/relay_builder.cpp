#include "relay_builder.h"

#include "exchange/relay/constants.h"
#include "iropt/ir/element.h"
#include "iropt/ir/ndarray.h"

namespace iropt::relay {

const Expr* RelayBuilder::AlongAxis(Value vector, int64_t axis, int rank) {
  const int64_t behind = rank - axis - 1;
  if (vector == nullptr || behind <= 0) return vector;
  return call_.Relay("expand_dims", {vector}, {{"axis", 1}, {"num_newaxis", behind}});
}

const Expr* RelayBuilder::Vector(std::span<const double> values, DataType dtype) {
  const auto size = static_cast<int64_t>(values.size());
  return MakeConstant(dtype, std::span(&size, 1), values, call_.workspace());
}

std::optional<std::vector<double>> ConstantNumbers(const Expr* expr) {
  const auto* constant = As<Constant>(expr);
  if (constant == nullptr) return std::nullopt;
  std::vector<double> numbers;
  DispatchElement(constant->data->dtype(), [&]<class T>(std::type_identity<T>) {
    for (const T element : constant->data->As<T>()) numbers.push_back(static_cast<double>(Element<T>::Load(element)));
  });
  return numbers;
}

std::optional<double> ConstantNumber(const Expr* expr) {
  const auto numbers = ConstantNumbers(expr);
  return numbers && !numbers->empty() ? std::optional(numbers->front()) : std::nullopt;
}

bool IsConstantScalar(const Expr* expr) {
  const auto* constant = As<Constant>(expr);
  return constant != nullptr && constant->data->shape().empty();
}

bool AreEqualScalars(const Expr* a, const Expr* b) {
  if (!IsConstantScalar(a) || !IsConstantScalar(b)) return false;
  return As<Constant>(a)->data->dtype() == As<Constant>(b)->data->dtype() && ConstantNumbers(a) == ConstantNumbers(b);
}

}  // namespace iropt::relay

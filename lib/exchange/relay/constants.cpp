#include "constants.h"

#include <utility>
#include <vector>

#include "iropt/ir/context.h"
#include "iropt/ir/element.h"

namespace iropt::relay {

namespace {

template <class From>
const Constant* MakeFilled(DataType dtype, std::span<const int64_t> shape, std::span<const From> values,
                           Workspace& workspace) {
  const std::shared_ptr<NDArray> array = NDArray::Make(dtype, shape);
  DispatchElement(dtype, [&]<class T>(std::type_identity<T>) {
    const std::span<T> elements = array->MutableAs<T>();
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = Element<T>::Store(static_cast<MathOf<T>>(values[i]));
  });
  return MakeConstant(array, workspace);
}

}  // namespace

const Constant* MakeConstant(std::shared_ptr<const NDArray> array, Workspace& workspace) {
  std::vector<const PrimExpr*> dims;
  for (const int64_t dim : array->shape()) dims.push_back(IRContext::Current().Int(dim));
  auto* constant = workspace.New<Constant>(array.get(), TensorType::Get(dims, array->dtype()));
  workspace.arena().Retain(std::move(array));
  return constant;
}

const Constant* MakeConstant(DataType dtype, std::span<const int64_t> shape, std::span<const double> values,
                             Workspace& workspace) {
  return MakeFilled(dtype, shape, values, workspace);
}

const Constant* MakeConstant(DataType dtype, std::span<const int64_t> shape, std::span<const int64_t> values,
                             Workspace& workspace) {
  return MakeFilled(dtype, shape, values, workspace);
}

const Constant* Convert(const NDArray& array, DataType dtype, Workspace& workspace) {
  const Constant* converted = nullptr;
  DispatchElement(array.dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> elements = array.As<T>();
    if constexpr (std::is_integral_v<MathOf<T>>) {
      std::vector<int64_t> values;
      for (const T element : elements) values.push_back(static_cast<int64_t>(Element<T>::Load(element)));
      converted = MakeConstant(dtype, array.shape(), std::span<const int64_t>(values), workspace);
    } else {
      std::vector<double> values;
      for (const T element : elements) values.push_back(static_cast<double>(Element<T>::Load(element)));
      converted = MakeConstant(dtype, array.shape(), std::span<const double>(values), workspace);
    }
  });
  return converted;
}

const Constant* MakeScalar(DataType dtype, double value, Workspace& workspace) {
  return MakeConstant(dtype, {}, std::span<const double>(&value, 1), workspace);
}

const Constant* MakeScalar(DataType dtype, int64_t value, Workspace& workspace) {
  return MakeConstant(dtype, {}, std::span<const int64_t>(&value, 1), workspace);
}

}  // namespace iropt::relay

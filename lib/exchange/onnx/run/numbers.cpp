#include "exchange/onnx/run/numbers.h"

#include <algorithm>

#include "iropt/ir/element.h"

namespace iropt::onnx {

std::optional<std::vector<double>> ToNumbers(const NDArray& array) {
  std::vector<double> numbers(static_cast<size_t>(array.num_elements()));
  const bool known = DispatchElement(array.dtype(), [&]<class T>(std::type_identity<T>) {
    std::ranges::transform(array.As<T>(), numbers.begin(),
                           [](T element) { return static_cast<double>(Element<T>::Load(element)); });
  });
  if (known) return numbers;
  if (!IsNarrow(array.dtype())) return std::nullopt;
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = LoadNarrow(array.data()[i], array.dtype());
  return numbers;
}

Tensor FromNumbers(DataType dtype, std::span<const int64_t> shape, std::span<const double> numbers,
                   const NarrowRounding& rounding) {
  auto array = NDArray::Make(dtype, shape);
  if (IsNarrow(dtype)) {
    std::ranges::transform(numbers, array->mutable_data(),
                           [&](double number) { return StoreNarrow(number, dtype, rounding); });
    return array;
  }
  DispatchElement(dtype, [&]<class T>(std::type_identity<T>) {
    std::ranges::transform(numbers, array->MutableAs<T>().begin(), [](double number) {
      T element{};
      ConvertElement(number, &element);
      return element;
    });
  });
  return array;
}

Tensor FromInts(std::span<const int64_t> shape, std::span<const int64_t> numbers) {
  auto array = NDArray::Make(DataType::Int(64), shape);
  std::ranges::copy(numbers, array->MutableAs<int64_t>().begin());
  return array;
}

}  // namespace iropt::onnx

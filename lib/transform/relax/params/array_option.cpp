#include "array_option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <vector>

#include "iropt/ir/element.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

// Stores a number in an element; false if it is not a number that fits.
template <class T>
bool Store(const OptionValue& value, T& element) {
  if (const bool* truth = value.as_bool()) return ConvertElement(BoolByte{*truth}, &element);
  if (const double* real = value.as_double()) return ConvertElement(*real, &element);
  const int64_t* integer = value.as_int();
  if (!integer) return false;
  if constexpr (std::is_integral_v<T>) {
    if (!std::in_range<T>(*integer)) return false;
  }
  return ConvertElement(*integer, &element);
}

// Fills the elements in order; null, or the first value that is not a number of their type. There is an element for
// each number.
template <class T>
const OptionValue* Fill(const OptionValue& value, T*& next) {
  const OptionValue::List* list = value.as_list();
  if (!list) return Store(value, *next++) ? nullptr : &value;
  return WithStack([&]() -> const OptionValue* {
    for (const OptionValue& item : *list) {
      if (const OptionValue* wrong = Fill(item, next)) return wrong;
    }
    return nullptr;
  });
}

// The limit of elements in an option; bigger arrays belong in a file.
constexpr int64_t kMostElements = int64_t{1} << 40;

bool ReadShape(const OptionValue* value, std::vector<int64_t>& shape) {
  const OptionValue::List* list = value ? value->as_list() : nullptr;
  if (!list) return false;
  int64_t elements = 1;
  for (const OptionValue& item : *list) {
    const int64_t* dim = item.as_int();
    if (!dim || *dim < 0 || *dim > kMostElements) return false;
    if (*dim != 0 && __builtin_mul_overflow(elements, *dim, &elements)) return false;
    shape.push_back(*dim);
  }
  return elements <= kMostElements;
}

// The number of numbers, checked before the array of the stated shape is allocated.
int64_t CountNumbers(const OptionValue& value) {
  const OptionValue::List* list = value.as_list();
  if (!list) return 1;
  int64_t count = 0;
  WithStack([&] {
    for (const OptionValue& item : *list) count += CountNumbers(item);
  });
  return count;
}

}  // namespace

std::shared_ptr<const NDArray> ReadArrayOption(const OptionValue& value, ArrayOptionError& error) {
  const OptionValue* dtype_name = value.Find("dtype");
  const OptionValue* shape_value = value.Find("shape");
  const OptionValue* data = value.Find("data");
  if (!dtype_name || !dtype_name->as_string() || !shape_value || !data) {
    error = {value.span(), "an array must be an object with \"dtype\", \"shape\" and \"data\""};
    return nullptr;
  }
  const std::optional<DataType> dtype = DataType::Parse(*dtype_name->as_string());
  if (!dtype || !IsElementType(*dtype)) {
    error = {dtype_name->span(), fmt::format("'{}' is not a dtype of arrays", *dtype_name->as_string())};
    return nullptr;
  }
  std::vector<int64_t> shape;
  if (!ReadShape(shape_value, shape)) {
    error = {shape_value->span(), "'shape' must be a list of dimensions"};
    return nullptr;
  }
  int64_t elements = 1;
  for (const int64_t dim : shape) elements *= dim;
  if (const int64_t count = CountNumbers(*data); count != elements) {
    error = {data->span(),
             fmt::format("'data' has {} numbers, but shape ({}) needs {}", count, fmt::join(shape, ", "), elements)};
    return nullptr;
  }
  std::shared_ptr<NDArray> array = NDArray::Make(*dtype, shape);
  const OptionValue* wrong = nullptr;
  DispatchElement(*dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    T* next = array->MutableAs<T>().data();
    wrong = Fill(*data, next);
  });
  if (!wrong) return array;
  error = {wrong->span(), fmt::format("{} is not a number of dtype {}", ToString(*wrong), dtype->ToString())};
  return nullptr;
}

}  // namespace iropt

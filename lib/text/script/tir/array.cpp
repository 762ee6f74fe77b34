#include "array.h"

#include "iropt/ir/narrow_element.h"
#include "iropt/support/stack.h"
#include "text/script/narrow_literals.h"
#include "text/script/parser_core.h"
#include "text/script/printer_core.h"

namespace iropt::text {
namespace {

using Kind = PyValue::Kind;

// The value as a number of the element type; false if it is not one.
template <class T>
bool Convert(const PyValue& value, T& out) {
  if constexpr (std::is_floating_point_v<T>) {
    if (value.is(Kind::kFloat)) return out = static_cast<T>(value.real), true;
    if (value.is(Kind::kInt)) return out = static_cast<T>(value.integer), true;
    if (!value.is(Kind::kString)) return false;
    const auto special = SpecialFloat(value.string());
    return special && (out = static_cast<T>(*special), true);
  } else {
    if (!value.is(Kind::kInt) && !value.is(Kind::kBool)) return false;
    const int64_t i = value.is(Kind::kBool) ? value.boolean : value.integer;
    out = static_cast<T>(i);
    return static_cast<int64_t>(out) == i && (i >= 0 || std::is_signed_v<T>);
  }
}

}  // namespace

void FlattenNumbers(const PyValue& value, std::vector<PyValue>& out) {
  if (!value.is_list()) return out.push_back(value);
  WithStack([&] {
    for (const PyValue& item : value.items()) FlattenNumbers(item, out);
  });
}

std::shared_ptr<const NDArray> ArrayOf(const std::vector<PyValue>& numbers, DataType dtype,
                                       std::vector<int64_t> shape) {
  if (!IsStoredType(dtype)) return nullptr;
  const std::shared_ptr<NDArray> array = NDArray::Make(dtype, shape);
  bool ok = true;
  const bool known = DispatchElement(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    for (size_t i = 0; i < numbers.size() && ok; ++i) {
      std::remove_const_t<decltype(Element<T>::Load(T{}))> number{};
      ok = Convert(numbers[i], number);
      array->MutableAs<T>()[i] = Element<T>::Store(number);
    }
  });
  for (size_t i = 0; i < numbers.size() && ok && !known; ++i) {
    double number = 0;
    ok = Convert(numbers[i], number) && StoreLiteral(number, dtype, array->mutable_data()[i]);
  }
  return ok ? array : nullptr;
}

void PrintArray(const NDArray& array, OutputStream& out) {
  out.Append('[');
  const bool known = DispatchElement(array.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    for (int64_t i = 0; i < array.num_elements(); ++i) {
      if (i) out.Append(", ");
      const auto value = Element<T>::Load(array.As<T>()[static_cast<size_t>(i)]);
      if constexpr (std::is_floating_point_v<std::remove_const_t<decltype(value)>>) {
        PrintFloat(static_cast<double>(value), out);
      } else {
        out.AppendInt(static_cast<int64_t>(value));
      }
    }
  });
  for (int64_t i = 0; i < array.num_elements() && !known; ++i) {
    if (i) out.Append(", ");
    PrintNarrow(array, i, out);
  }
  out.Append(']');
}

}  // namespace iropt::text

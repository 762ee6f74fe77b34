// Descriptions of the two sides of a difference. Private to lib/ir.
#pragma once

#include <string>
#include <string_view>

#include "iropt/ir/dispatch.h"

namespace iropt {
class NDArray;
}

namespace iropt::structural {

// A few words on a node: "call of relax.add", "variable lv1", "3".
std::string DescribeValue(const Node* node);
std::string DescribeValue(const NDArray* array);
std::string DescribeValue(const tir::PointerInfo* pointer);
std::string DescribeValue(DataType dtype);
std::string DescribeValue(std::string_view text);
std::string DescribeValue(double value);
std::string DescribeValue(bool value);
std::string DescribeValue(int64_t value);
template <class T>
requires(std::is_integral_v<T> || std::is_enum_v<T>) std::string DescribeValue(T value) {
  return DescribeValue(static_cast<int64_t>(value));
}

// "a, b", or "2 items, 3 items" with a word for what is counted.
template <class A, class B>
std::string DescribePair(const A& a, const B& b, std::string_view what) {
  const auto side = [&](const auto& value) {
    std::string text = DescribeValue(value);
    if (!what.empty()) text.append(" ").append(what);
    return text;
  };
  return side(a).append(", ").append(side(b));
}

}  // namespace iropt::structural

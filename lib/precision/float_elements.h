// The elements of tensors of floats as float32.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "iropt/ir/element.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/function_ref.h"

namespace iropt::precision {

// The dtype whose operators can get another format.
inline constexpr DataType kSingle = DataType::Float(32);

// Calls f with the elements of a tensor of floats, in order and in pieces; not at all for other tensors.
inline void ForEachPiece(const NDArray& tensor, FunctionRef<void(std::span<const float>)> f) {
  if (tensor.dtype() == DataType::Float(32)) return f(tensor.As<float>());
  if (!tensor.dtype().is_floating()) return;
  DispatchElement(tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    std::array<float, 1024> piece;
    const std::span<const T> elements = tensor.As<T>();
    for (size_t first = 0; first < elements.size(); first += piece.size()) {
      const size_t count = std::min(piece.size(), elements.size() - first);
      for (size_t i = 0; i < count; ++i) piece[i] = static_cast<float>(Element<T>::Load(elements[first + i]));
      f(std::span<const float>(piece.data(), count));
    }
  });
}

}  // namespace iropt::precision

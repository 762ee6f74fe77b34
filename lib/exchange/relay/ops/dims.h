// Arithmetic on shapes, and changes of layouts, that builders of several families share.
#pragma once

#include <string_view>
#include <vector>

#include "op_table.h"

namespace iropt::relay {

// The product of all dimensions.
const PrimExpr* Product(std::span<const PrimExpr* const> dims);

// An axis of a layout: NCHW4c has the axes N, C, H, W, and c of size 4.
struct LayoutAxis {
  char name;
  int64_t size;  // of a part, which has a lower-case name; else 0

  bool is_part() const { return name >= 'a' && name <= 'z'; }
  char whole() const { return is_part() ? static_cast<char>(name - 'a' + 'A') : name; }
};

// Nothing if the text is not a layout.
std::optional<std::vector<LayoutAxis>> ParseLayout(std::string_view layout);

// The tensor in another layout, by reshape and permute_dims; padded with zeros where a part does not divide an axis.
const Expr* TransformLayout(OpCall& call, const Expr* tensor, std::string_view from, std::string_view to);

// The position of an axis in a layout; npos if it has none.
inline size_t AxisIn(std::string_view layout, char name) { return layout.find(name); }

// A vector as a tensor that broadcasts along the axis of a tensor of the rank: of shape (n, 1, 1) for axis 1 of 4.
const Expr* AlongAxis(OpCall& call, const Expr* vector, int64_t axis, int rank);

}  // namespace iropt::relay

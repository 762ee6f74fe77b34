// Data layouts such as "NCHW" or "NCHW16c": the meaning of the dimensions of a tensor. An upper-case letter is an axis;
// a number and the lower-case letter split a part of that length off it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/relax/expr.h"

namespace iropt {

class Layout {
 public:
  struct Axis {
    char name;           // as written
    int64_t length = 0;  // of a split-off part; 0 for an axis
    bool is_part() const { return length != 0; }
    // The axis that it is, or is a part of.
    char primal() const { return is_part() ? static_cast<char>(name - 'a' + 'A') : name; }
    friend bool operator==(const Axis&, const Axis&) = default;
  };

  // Nothing if the text is not a layout: an axis twice, a part without its axis or without a length.
  static std::optional<Layout> Parse(std::string_view text);

  std::span<const Axis> axes() const { return axes_; }
  int ndim() const { return static_cast<int>(axes_.size()); }
  // Position of the axis, or -1.
  int IndexOf(char name) const;
  // The product of the lengths of all parts that are split off the axis.
  int64_t SplitOf(char primal) const;
  // Returns whether both have the same axes, in any order and split.
  bool ConvertibleTo(const Layout& other) const;
  std::string ToString() const;
  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  std::vector<Axis> axes_;
};

// The shape of a tensor after a change of layout; the layouts are convertible and `shape` has the rank of `from`. An
// axis that does not divide evenly into parts is padded. Dimensions are interned and simplified.
std::vector<const PrimExpr*> ConvertShape(std::span<const PrimExpr* const> shape, const Layout& from, const Layout& to);

}  // namespace iropt

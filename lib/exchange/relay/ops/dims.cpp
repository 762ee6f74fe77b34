#include "dims.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/nn.h"
#include "iropt/support/characters.h"

namespace iropt::relay {

const PrimExpr* Product(std::span<const PrimExpr* const> dims) {
  const arith::PrimBuilder make;
  const PrimExpr* product = make.Int(1);
  for (const PrimExpr* dim : dims) product = make.Mul(product, dim);
  return product;
}

std::optional<std::vector<LayoutAxis>> ParseLayout(std::string_view layout) {
  std::vector<LayoutAxis> axes;
  int64_t size = 0;
  for (const char c : layout) {
    if (IsDigit(c)) {
      size = size * 10 + (c - '0');
      if (size > INT32_MAX) return std::nullopt;
      continue;
    }
    const LayoutAxis axis{c, size};
    const bool is_axis = axis.is_part() ? size > 0 : (c >= 'A' && c <= 'Z' && size == 0);
    if (!is_axis || std::ranges::any_of(axes, [&](const LayoutAxis& a) { return a.name == c; })) return std::nullopt;
    axes.push_back(axis);
    size = 0;
  }
  if (size != 0 || axes.empty()) return std::nullopt;
  return axes;
}

namespace {

constexpr size_t kNoAxis = SIZE_MAX;

size_t FindAxis(const std::vector<LayoutAxis>& axes, char name) {
  const auto at = std::ranges::find(axes, name, &LayoutAxis::name);
  return at == axes.end() ? kNoAxis : static_cast<size_t>(at - axes.begin());
}

// The name of the parts of an axis.
char PartName(const LayoutAxis& axis) { return static_cast<char>(axis.name - 'A' + 'a'); }

// A layout splits an axis into at most two.
class LayoutChange {
 public:
  LayoutChange(OpCall& call, std::vector<LayoutAxis> from, std::vector<LayoutAxis> to)
      : call_(call), from_(std::move(from)), to_(std::move(to)) {}

  const Expr* Apply(const Expr* tensor) {
    const auto dims = DimsOf(tensor);
    if (!dims || dims->size() != from_.size())
      return call_.Error("type-inference", "the operand does not have the axes of the layout");
    dims_ = *dims;
    tensor = Join(tensor);
    return Order(Split(tensor));
  }

 private:
  // The parts of axes that the new layout does not split in the same way become part of their axes again.
  const Expr* Join(const Expr* tensor) {
    std::vector<int64_t> order;
    std::vector<LayoutAxis> joined;
    DimList shape;
    for (size_t i = 0; i < from_.size(); ++i) {
      if (IsJoined(i)) continue;
      order.push_back(static_cast<int64_t>(i));
      joined.push_back(from_[i]);
      shape.push_back(dims_[i]);
      const size_t part = PartOf(i);
      if (part == kNoAxis) continue;
      order.push_back(static_cast<int64_t>(part));
      shape.back() = make_.Mul(shape.back(), dims_[part]);
    }
    if (joined.size() == from_.size()) return tensor;
    from_ = joined;
    tensor = Permute(tensor, order);
    dims_ = shape;
    return call_.Reshape(tensor, shape);
  }

  bool SameSplit(char part) const {
    const size_t before = FindAxis(from_, part);
    const size_t after = FindAxis(to_, part);
    return before != kNoAxis && after != kNoAxis && from_[before].size == to_[after].size;
  }
  bool IsJoined(size_t i) const { return from_[i].is_part() && !SameSplit(from_[i].name); }
  // The part that joins the axis again, if it has one.
  size_t PartOf(size_t i) const {
    const size_t part = from_[i].is_part() ? kNoAxis : FindAxis(from_, PartName(from_[i]));
    return part != kNoAxis && IsJoined(part) ? part : kNoAxis;
  }
  // The part that the new layout splits off the axis.
  size_t NewPartOf(const LayoutAxis& axis) const {
    if (axis.is_part() || FindAxis(from_, PartName(axis)) != kNoAxis) return kNoAxis;
    return FindAxis(to_, PartName(axis));
  }

  const Expr* Split(const Expr* tensor) {
    std::vector<LayoutAxis> axes;
    DimList shape;
    std::vector<int64_t> pad;
    bool padded = false;
    for (size_t i = 0; i < from_.size(); ++i) {
      const size_t part = NewPartOf(from_[i]);
      axes.push_back(from_[i]);
      pad.insert(pad.end(), {0, 0});
      if (part == kNoAxis) {
        shape.push_back(dims_[i]);
        continue;
      }
      const int64_t size = to_[part].size;
      if (const int64_t* dim = arith::AsInt(dims_[i])) pad.back() = (size - *dim % size) % size;
      padded |= pad.back() != 0;
      shape.push_back(make_.CeilDiv(dims_[i], make_.Int(size)));
      axes.push_back(to_[part]);
      shape.push_back(make_.Int(size));
    }
    if (axes.size() == from_.size()) return tensor;
    from_ = axes;
    if (padded) {
      tensor = op::NnPad(call_, tensor, call_.Scalar(int64_t{0}, DTypeOf(tensor)), {.pad_width = pad});
    }
    return call_.Reshape(tensor, shape);
  }

  const Expr* Order(const Expr* tensor) {
    std::vector<int64_t> order;
    for (const LayoutAxis& axis : to_) {
      const size_t at = FindAxis(from_, axis.name);
      if (at == kNoAxis) return call_.Error("bad-argument", "the layouts do not have the same axes");
      order.push_back(static_cast<int64_t>(at));
    }
    if (order.size() != from_.size()) return call_.Error("bad-argument", "the layouts do not have the same axes");
    return Permute(tensor, order);
  }

  const Expr* Permute(const Expr* tensor, const std::vector<int64_t>& order) {
    std::vector<int64_t> identity(order.size());
    std::iota(identity.begin(), identity.end(), 0);
    if (order == identity) return tensor;
    return call_.Permute(tensor, order);
  }

  const arith::PrimBuilder make_;
  OpCall& call_;
  std::vector<LayoutAxis> from_;
  std::vector<LayoutAxis> to_;
  DimList dims_;
};

}  // namespace

const Expr* TransformLayout(OpCall& call, const Expr* tensor, std::string_view from, std::string_view to) {
  if (tensor == nullptr) return tensor;
  auto before = ParseLayout(from);
  auto after = ParseLayout(to);
  if (from == to) {
    const int rank = RankOf(tensor);
    if (!before || rank == kUnknownDim || rank == static_cast<int>(before->size())) return tensor;
    return call.Error("type-inference", "the operand does not have the axes of the layout");
  }
  if (!before || !after) return call.Error("bad-argument", fmt::format("'{}' is not a layout", before ? to : from));
  return LayoutChange(call, *std::move(before), *std::move(after)).Apply(tensor);
}

const Expr* AlongAxis(OpCall& call, const Expr* vector, int64_t axis, int rank) {
  if (vector == nullptr || axis >= rank - 1) return vector;
  std::vector<int64_t> axes(static_cast<size_t>(rank - 1 - axis));
  std::iota(axes.begin(), axes.end(), 1);
  return call.ExpandDims(vector, axes);
}

}  // namespace iropt::relay

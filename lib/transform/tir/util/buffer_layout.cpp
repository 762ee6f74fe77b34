#include "transform/tir/util/buffer_layout.h"

#include "iropt/arith/prim_builder.h"

namespace iropt {

namespace {

// Calls visit(axis, dimension of the memory) for every axis of the buffer.
template <class F>
void ForEachAxis(const tir::Buffer& buffer, F&& visit) {
  size_t out = 0;
  for (size_t i = 0; i < buffer.shape.size(); ++i) {
    while (out < buffer.axis_separators.size() && static_cast<int64_t>(i) >= buffer.axis_separators[out]) ++out;
    visit(i, out);
  }
}

}  // namespace

std::vector<const PrimExpr*> ElementOffset(const tir::Buffer& buffer, std::span<const PrimExpr* const> indices,
                                           arith::Analyzer& analyzer) {
  const arith::PrimBuilder& make = analyzer.make();
  std::vector<const PrimExpr*> offsets(buffer.axis_separators.size() + 1, make.Int(0, DataType::Int(32)));
  ForEachAxis(buffer, [&](size_t i, size_t out) {
    const PrimExpr*& offset = offsets[out];
    offset = buffer.strides.empty() ? make.Add(make.Mul(offset, buffer.shape[i]), indices[i])
                                    : make.Add(offset, make.Mul(indices[i], buffer.strides[i]));
  });
  const bool has_offset = buffer.elem_offset && !arith::IsInt(buffer.elem_offset, 0);
  if (has_offset && offsets.size() == 1) offsets[0] = make.Add(offsets[0], buffer.elem_offset);
  for (const PrimExpr*& offset : offsets) offset = analyzer.Simplify(offset);
  return offsets;
}

std::vector<const PrimExpr*> FlatShape(const tir::Buffer& buffer, const arith::PrimBuilder& make) {
  if (!buffer.strides.empty()) {
    std::vector<const PrimExpr*> shape = {make.Mul(buffer.strides[0], buffer.shape[0])};
    for (const int64_t first : buffer.axis_separators) {
      if (static_cast<size_t>(first) < buffer.shape.size())
        shape.push_back(make.Mul(buffer.strides[first], buffer.shape[first]));
    }
    return shape;
  }
  std::vector<const PrimExpr*> shape(buffer.axis_separators.size() + 1, make.Int(1, DataType::Int(32)));
  ForEachAxis(buffer, [&](size_t i, size_t out) { shape[out] = make.Mul(shape[out], buffer.shape[i]); });
  return shape;
}

void Flatten(tir::Buffer& buffer, Workspace& workspace, const arith::PrimBuilder& make) {
  buffer.shape = workspace.Copy(FlatShape(buffer, make));
  buffer.strides = {};
  std::vector<int64_t> separators;
  for (size_t i = 1; i <= buffer.axis_separators.size(); ++i) separators.push_back(static_cast<int64_t>(i));
  buffer.axis_separators = workspace.Copy(separators);
}

std::vector<const PrimExpr*> AllocationShape(const tir::Buffer& buffer, arith::Analyzer& analyzer) {
  std::vector<const PrimExpr*> shape(buffer.shape.begin(), buffer.shape.end());
  for (size_t i = 1; i < buffer.strides.size(); ++i) {
    const PrimExpr* outer = buffer.strides[i - 1];
    const PrimExpr* inner = buffer.strides[i];
    const PrimExpr* rest = analyzer.make().FloorMod(outer, inner);
    if (!analyzer.CanProveEqual(rest, analyzer.make().Const(0, rest->dtype))) return {};
    shape[i] = analyzer.make().TruncDiv(outer, inner);
  }
  return shape;
}

}  // namespace iropt

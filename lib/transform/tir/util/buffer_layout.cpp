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

// Returns whether the offset of the buffer is a part of the index into its memory.
bool CountsOffset(const tir::Buffer& buffer) {
  return buffer.axis_separators.empty() && buffer.elem_offset && !arith::IsInt(buffer.elem_offset, 0);
}

// The greatest index into memory, if it is constant.
struct LastElement {
  int64_t index = 0;
  bool is_known = true;

  // Counts the steps to the last of so many elements.
  void Add(const int64_t* stride, const PrimExpr* extent) {
    const int64_t* count = arith::AsInt(extent);
    int64_t distance = 0;
    is_known = is_known && count && stride && *count > 0 && !__builtin_mul_overflow(*count - 1, *stride, &distance) &&
               !__builtin_add_overflow(index, distance, &index);
  }
};

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
  if (CountsOffset(buffer)) offsets[0] = make.Add(offsets[0], buffer.elem_offset);
  for (const PrimExpr*& offset : offsets) offset = analyzer.Simplify(offset);
  return offsets;
}

std::vector<const PrimExpr*> FlatShape(const tir::Buffer& buffer, const arith::PrimBuilder& make) {
  std::vector<const PrimExpr*> shape(buffer.axis_separators.size() + 1, make.Int(1, DataType::Int(32)));
  if (buffer.strides.empty()) {
    ForEachAxis(buffer, [&](size_t i, size_t out) { shape[out] = make.Mul(shape[out], buffer.shape[i]); });
    if (CountsOffset(buffer)) shape[0] = make.Add(shape[0], buffer.elem_offset);
    return shape;
  }
  std::vector<LastElement> last(shape.size());
  if (CountsOffset(buffer)) last[0].Add(arith::AsInt(buffer.elem_offset), make.Int(2));
  // The first stride usually covers the others.
  std::vector<bool> has_first(shape.size(), false);
  ForEachAxis(buffer, [&](size_t i, size_t out) {
    if (!has_first[out]) shape[out] = make.Mul(buffer.strides[i], buffer.shape[i]);
    has_first[out] = true;
    last[out].Add(arith::AsInt(buffer.strides[i]), buffer.shape[i]);
  });
  for (size_t out = 0; out < shape.size(); ++out) {
    const int64_t* size = arith::AsInt(shape[out]);
    if (last[out].is_known && size && *size <= last[out].index)
      shape[out] = make.Const(last[out].index + 1, shape[out]->dtype);
  }
  if (CountsOffset(buffer) && !last[0].is_known) shape[0] = make.Add(shape[0], buffer.elem_offset);
  return shape;
}

void Flatten(tir::Buffer& buffer, Workspace& workspace, const arith::PrimBuilder& make) {
  const bool is_flat = buffer.strides.empty() && buffer.shape.size() == buffer.axis_separators.size() + 1;
  if (!is_flat || CountsOffset(buffer)) buffer.shape = workspace.Copy(FlatShape(buffer, make));
  if (CountsOffset(buffer)) buffer.elem_offset = make.Const(0, buffer.elem_offset->dtype);
  buffer.strides = {};
  std::vector<int64_t> separators;
  for (size_t i = 1; i <= buffer.axis_separators.size(); ++i) separators.push_back(static_cast<int64_t>(i));
  buffer.axis_separators = workspace.Copy(separators);
}

std::vector<const PrimExpr*> AllocationShape(const tir::Buffer& buffer, arith::Analyzer& analyzer) {
  const arith::PrimBuilder& make = analyzer.make();
  std::vector<const PrimExpr*> shape(buffer.shape.begin(), buffer.shape.end());
  if (buffer.strides.empty()) return shape;
  for (size_t i = 1; i < shape.size(); ++i) {
    const PrimExpr* outer = buffer.strides[i - 1];
    const PrimExpr* inner = buffer.strides[i];
    const PrimExpr* rest = make.FloorMod(outer, inner);
    if (analyzer.CanProveEqual(rest, make.Const(0, rest->dtype))) {
      shape[i] = make.TruncDiv(outer, inner);
    } else if (analyzer.CanProve(make.Binary(NodeKind::kGE, outer, make.Mul(inner, shape[i])))) {
      shape[i] = analyzer.Simplify(make.CeilDiv(outer, inner));
    } else {
      return {};
    }
  }
  // The elements of the last dimension may be apart, too.
  if (!shape.empty()) shape.back() = make.Mul(shape.back(), buffer.strides.back());
  return shape;
}

}  // namespace iropt

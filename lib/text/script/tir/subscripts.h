// The subscripts of buffers.
#pragma once

#include <span>
#include <vector>

#include "scalar_values.h"

namespace iropt::text {

// i, or start:stop:step.
struct Subscript {
  PyValue start, stop, step;  // kNone if absent
  bool slice = false;
};

using Subscripts = InlineVector<Subscript, 8>;

class BufferElements : public ScalarValues {
 public:
  using ScalarValues::ScalarValues;

  // A[...] as a value: a load, or a region if there are slices without a step. False after an error, as below.
  bool AccessOf(const tir::Buffer* buffer, std::span<const Subscript> indices, Span span, PyValue& out);
  // The indices of a load or store; slices are vectors of indices.
  bool VectorIndices(const tir::Buffer* buffer, std::span<const Subscript> indices, Prims& out);

 private:
  const tir::BufferRegion* RegionOf(const tir::Buffer* buffer, std::span<const Subscript> indices, Span span);
  const PrimExpr* SlicedIndex(const tir::Buffer* buffer, size_t i, const Subscript& index);
};

}  // namespace iropt::text

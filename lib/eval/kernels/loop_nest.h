// Loops over the index space of several operands at once, each addressed by strides: the shape of every elementwise,
// broadcasting and data-moving kernel. Dimensions that are contiguous for all operands are merged, so that the common
// cases are one plain loop.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace iropt::eval {

template <int N>
class LoopNest {
 public:
  using Offsets = std::array<int64_t, N>;

  // Dimensions from the outermost to the innermost; strides in elements, 0 if an operand repeats.
  void AddDim(int64_t extent, Offsets strides) {
    if (extent == 0) empty_ = true;
    if (extent == 1) return;
    if (!dims_.empty() && Continues(dims_.back(), extent, strides)) {
      dims_.back().extent *= extent;
      dims_.back().strides = strides;
    } else {
      dims_.push_back({extent, strides});
    }
  }

  // Calls row(offsets, extent, strides) for each run along the innermost dimension, in row-major order.
  template <class F>
  void ForEachRow(Offsets start, F&& row) const {
    if (empty_) return;
    if (dims_.empty()) return row(start, int64_t{1}, Offsets{});
    const Dim& inner = dims_.back();
    const size_t outer = dims_.size() - 1;
    if (outer == 0) return row(start, inner.extent, inner.strides);
    std::vector<int64_t> index(outer, 0);
    for (;;) {
      row(start, inner.extent, inner.strides);
      size_t d = outer;
      while (d > 0 && ++index[d - 1] == dims_[d - 1].extent) {
        --d;
        index[d] = 0;
        for (int k = 0; k < N; ++k) start[k] -= dims_[d].strides[k] * (dims_[d].extent - 1);
      }
      if (d == 0) return;
      for (int k = 0; k < N; ++k) start[k] += dims_[d - 1].strides[k];
    }
  }

  // Calls element(offsets) for each point, in row-major order.
  template <class F>
  void ForEach(Offsets start, F&& element) const {
    ForEachRow(start, [&](Offsets at, int64_t extent, const Offsets& strides) {
      for (int64_t i = 0; i < extent; ++i) {
        element(at);
        for (int k = 0; k < N; ++k) at[k] += strides[k];
      }
    });
  }

 private:
  struct Dim {
    int64_t extent;
    Offsets strides;
  };

  static bool Continues(const Dim& outer, int64_t extent, const Offsets& strides) {
    for (int k = 0; k < N; ++k) {
      if (outer.strides[k] != strides[k] * extent) return false;
    }
    return true;
  }

  std::vector<Dim> dims_;
  bool empty_ = false;
};

// The strides that make a row-major operand of `shape` broadcast to `out_shape`, in the dimensions of `out_shape`.
std::vector<int64_t> BroadcastStrides(std::span<const int64_t> shape, std::span<const int64_t> out_shape);

// Copies elements of `size` bytes along `extents`: destination and source advance by their strides (in elements).
void StridedCopy(std::byte* to, std::span<const int64_t> to_strides, const std::byte* from,
                 std::span<const int64_t> from_strides, std::span<const int64_t> extents, size_t size);

}  // namespace iropt::eval

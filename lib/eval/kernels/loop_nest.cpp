#include "loop_nest.h"

#include <cstring>

namespace iropt::eval {

std::vector<int64_t> BroadcastStrides(std::span<const int64_t> shape, std::span<const int64_t> out_shape) {
  std::vector<int64_t> strides(out_shape.size(), 0);
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t dim = shape[shape.size() - 1 - i];
    if (dim != 1) strides[out_shape.size() - 1 - i] = stride;
    stride *= dim;
  }
  return strides;
}

namespace {

template <class Word>
void CopyRow(std::byte* to, int64_t to_stride, const std::byte* from, int64_t from_stride, int64_t count) {
  Word* out = reinterpret_cast<Word*>(to);
  const Word* in = reinterpret_cast<const Word*>(from);
  for (int64_t i = 0; i < count; ++i) out[i * to_stride] = in[i * from_stride];
}

}  // namespace

void StridedCopy(std::byte* to, std::span<const int64_t> to_strides, const std::byte* from,
                 std::span<const int64_t> from_strides, std::span<const int64_t> extents, size_t size) {
  LoopNest<2> nest;
  for (size_t i = 0; i < extents.size(); ++i) nest.AddDim(extents[i], {to_strides[i], from_strides[i]});
  const int64_t bytes = static_cast<int64_t>(size);
  nest.ForEachRow({0, 0}, [&](LoopNest<2>::Offsets at, int64_t count, LoopNest<2>::Offsets strides) {
    std::byte* out = to + at[0] * bytes;
    const std::byte* in = from + at[1] * bytes;
    if (strides[0] == 1 && strides[1] == 1) {
      std::memcpy(out, in, static_cast<size_t>(count * bytes));
      return;
    }
    switch (size) {
      case 1: return CopyRow<uint8_t>(out, strides[0], in, strides[1], count);
      case 2: return CopyRow<uint16_t>(out, strides[0], in, strides[1], count);
      case 4: return CopyRow<uint32_t>(out, strides[0], in, strides[1], count);
      default: return CopyRow<uint64_t>(out, strides[0], in, strides[1], count);
    }
  });
}

}  // namespace iropt::eval

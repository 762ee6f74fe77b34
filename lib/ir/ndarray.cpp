#include "iropt/ir/ndarray.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "iropt/support/check.h"
#include "iropt/support/hash.h"

namespace iropt {

namespace {

int64_t NumElements(std::span<const int64_t> shape) {
  int64_t elements = 1;
  for (const int64_t dim : shape) {
    IROPT_CHECK(dim >= 0, "negative dimension {}", dim);
    // Readers must have refused sizes that no memory can hold; this only guards the product.
    IROPT_CHECK(!__builtin_mul_overflow(elements, dim, &elements), "array of more than 2^63 elements");
  }
  return elements;
}

size_t NumBytes(DataType dtype, std::span<const int64_t> shape) {
  int64_t bytes = 0;
  IROPT_CHECK(!__builtin_mul_overflow(NumElements(shape), dtype.bytes(), &bytes), "array of more than 2^63 bytes");
  return static_cast<size_t>(bytes);
}

}  // namespace

NDArray::NDArray(Private, DataType dtype, std::span<const int64_t> shape, size_t own_bytes)
    : dtype_(dtype), rank_(static_cast<uint32_t>(shape.size())), num_elements_(NumElements(shape)) {
  const size_t offset = DataOffset(rank_);
  std::byte* block = inline_;
  if (offset + own_bytes > kInlineBytes) {
    // The system hands out zeroed pages, so big arrays are not cleared by hand.
    block = static_cast<std::byte*>(std::calloc(offset + own_bytes, 1));
    if (!block) throw std::bad_alloc();
  } else {
    std::memset(inline_, 0, kInlineBytes);
  }
  shape_ = reinterpret_cast<int64_t*>(block);
  std::copy(shape.begin(), shape.end(), shape_);
  mutable_data_ = block + offset;
  data_ = mutable_data_;
}

NDArray::~NDArray() {
  if (auto* block = reinterpret_cast<std::byte*>(shape_); block != inline_) std::free(block);
}

std::shared_ptr<NDArray> NDArray::Make(DataType dtype, std::span<const int64_t> shape) {
  return std::make_shared<NDArray>(Private(), dtype, shape, NumBytes(dtype, shape));
}

std::shared_ptr<const NDArray> NDArray::View(DataType dtype, std::span<const int64_t> shape, const std::byte* data,
                                             std::shared_ptr<const void> owner) {
  NumBytes(dtype, shape);
  auto array = std::make_shared<NDArray>(Private(), dtype, shape, 0);
  array->data_ = data;
  array->mutable_data_ = nullptr;
  array->owner_ = std::move(owner);
  return array;
}

bool operator==(const NDArray& a, const NDArray& b) {
  if (&a == &b) return true;
  if (a.dtype_ != b.dtype_ || !std::ranges::equal(a.shape(), b.shape())) return false;
  return a.data_ == b.data_ || std::memcmp(a.data_, b.data_, a.num_bytes()) == 0;
}

uint64_t NDArray::Hash() const {
  // Zero means "not computed yet". Two threads may both compute it; they get the same number.
  uint64_t hash = hash_.load(std::memory_order_relaxed);
  if (hash != 0) return hash;
  hash = HashMix(dtype_.raw());
  for (const int64_t dim : shape()) hash = HashCombine(hash, static_cast<uint64_t>(dim));
  hash = HashCombine(hash, HashBytes(data_, num_bytes()));
  hash = std::max<uint64_t>(hash, 1);
  hash_.store(hash, std::memory_order_relaxed);
  return hash;
}

}  // namespace iropt

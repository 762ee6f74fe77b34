#include "iropt/ir/ndarray.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "iropt/support/check.h"
#include "iropt/support/hash.h"

namespace iropt {

NDArray::NDArray(DataType dtype, std::vector<int64_t> shape) : dtype_(dtype), shape_(std::move(shape)) {
  for (const int64_t dim : shape_) {
    IROPT_CHECK(dim >= 0, "negative dimension {}", dim);
    // Readers must have refused sizes that no memory can hold; this only guards the product.
    IROPT_CHECK(!__builtin_mul_overflow(num_elements_, dim, &num_elements_), "array of more than 2^63 elements");
  }
  int64_t bytes = 0;
  IROPT_CHECK(!__builtin_mul_overflow(num_elements_, dtype_.bytes(), &bytes), "array of more than 2^63 bytes");
}

std::shared_ptr<NDArray> NDArray::Make(DataType dtype, std::vector<int64_t> shape) {
  std::shared_ptr<NDArray> array(new NDArray(dtype, std::move(shape)));
  // At least one byte, so that the data pointer of an empty array is not null.
  array->owned_ = std::make_unique<std::byte[]>(std::max<size_t>(array->num_bytes(), 1));
  array->data_ = array->owned_.get();
  return array;
}

std::shared_ptr<const NDArray> NDArray::View(DataType dtype, std::vector<int64_t> shape, const std::byte* data,
                                             std::shared_ptr<const void> owner) {
  std::shared_ptr<NDArray> array(new NDArray(dtype, std::move(shape)));
  array->data_ = data;
  array->owner_ = std::move(owner);
  return array;
}

bool operator==(const NDArray& a, const NDArray& b) {
  if (&a == &b) return true;
  if (a.dtype_ != b.dtype_ || a.shape_ != b.shape_) return false;
  return a.data_ == b.data_ || std::memcmp(a.data_, b.data_, a.num_bytes()) == 0;
}

uint64_t NDArray::Hash() const {
  // Zero means "not computed yet". Two threads may both compute it; they get the same number.
  uint64_t hash = hash_.load(std::memory_order_relaxed);
  if (hash != 0) return hash;
  hash = HashMix(dtype_.raw());
  for (const int64_t dim : shape_) hash = HashCombine(hash, static_cast<uint64_t>(dim));
  hash = HashCombine(hash, HashBytes(data_, num_bytes()));
  hash = std::max<uint64_t>(hash, 1);
  hash_.store(hash, std::memory_order_relaxed);
  return hash;
}

}  // namespace iropt

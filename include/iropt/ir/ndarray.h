// A tensor in host memory: dtype, shape and bytes in row-major order. Immutable once shared.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>

#include "iropt/ir/dtype.h"

namespace iropt {

class NDArray : public std::enable_shared_from_this<NDArray> {
  struct Private {};  // only Make and View construct

 public:
  // Zeroed storage of the right size, to be filled through mutable_data() before it is shared. Throws std::bad_alloc if
  // there is not enough memory.
  static std::shared_ptr<NDArray> Make(DataType dtype, std::span<const int64_t> shape);
  static std::shared_ptr<NDArray> Make(DataType dtype, std::initializer_list<int64_t> shape) {
    return Make(dtype, std::span(shape.begin(), shape.size()));
  }
  // A view of memory that `owner` keeps alive (a mapped file). `data` must hold NumElements * dtype.bytes() bytes.
  static std::shared_ptr<const NDArray> View(DataType dtype, std::span<const int64_t> shape, const std::byte* data,
                                             std::shared_ptr<const void> owner);

  DataType dtype() const { return dtype_; }
  std::span<const int64_t> shape() const { return {shape_, rank_}; }
  int64_t num_elements() const { return num_elements_; }
  size_t num_bytes() const { return static_cast<size_t>(num_elements_ * dtype_.bytes()); }
  const std::byte* data() const { return data_; }
  std::byte* mutable_data() { return mutable_data_; }
  template <class T>
  std::span<const T> As() const {
    return {reinterpret_cast<const T*>(data_), static_cast<size_t>(num_elements_)};
  }
  template <class T>
  std::span<T> MutableAs() {
    return {reinterpret_cast<T*>(mutable_data_), static_cast<size_t>(num_elements_)};
  }
  // Same dtype, shape and bytes. O(bytes).
  friend bool operator==(const NDArray& a, const NDArray& b);
  // Of dtype, shape and bytes. O(bytes) once.
  uint64_t Hash() const;

  NDArray(Private, DataType dtype, std::span<const int64_t> shape, size_t own_bytes);
  NDArray(const NDArray&) = delete;
  NDArray& operator=(const NDArray&) = delete;
  ~NDArray();

 private:
  // Scalars and other small tensors, most constants of a model, live in the object: one allocation each.
  static constexpr size_t kInlineBytes = 48;
  // The offset of the bytes after the shape in a block of memory.
  static size_t DataOffset(size_t rank) { return (rank * sizeof(int64_t) + 15) & ~size_t{15}; }

  DataType dtype_;
  uint32_t rank_ = 0;
  int64_t num_elements_ = 1;
  int64_t* shape_ = nullptr;
  const std::byte* data_ = nullptr;
  std::byte* mutable_data_ = nullptr;  // null if the bytes are not owned
  std::shared_ptr<const void> owner_;
  mutable std::atomic<uint64_t> hash_ = 0;
  alignas(16) std::byte inline_[kInlineBytes];
};

}  // namespace iropt

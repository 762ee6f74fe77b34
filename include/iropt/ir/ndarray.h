// A tensor in host memory: dtype, shape and bytes in row-major order. Immutable once shared.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "iropt/ir/dtype.h"

namespace iropt {

class NDArray : public std::enable_shared_from_this<NDArray> {
 public:
  // Zeroed storage of the right size, filled by the maker through mutable_bytes() before it is shared.
  static std::shared_ptr<NDArray> Make(DataType dtype, std::vector<int64_t> shape);
  // A view of memory that `owner` keeps alive (a mapped file). `data` must hold NumElements * dtype.bytes() bytes.
  static std::shared_ptr<const NDArray> View(DataType dtype, std::vector<int64_t> shape, const std::byte* data,
                                             std::shared_ptr<const void> owner);

  DataType dtype() const { return dtype_; }
  std::span<const int64_t> shape() const { return shape_; }
  int64_t num_elements() const { return num_elements_; }
  size_t num_bytes() const { return static_cast<size_t>(num_elements_ * dtype_.bytes()); }
  const std::byte* data() const { return data_; }
  std::byte* mutable_data() { return owned_.get(); }
  template <class T>
  std::span<const T> As() const {
    return {reinterpret_cast<const T*>(data_), static_cast<size_t>(num_elements_)};
  }
  template <class T>
  std::span<T> MutableAs() {
    return {reinterpret_cast<T*>(owned_.get()), static_cast<size_t>(num_elements_)};
  }
  // Same dtype, shape and bytes. O(bytes).
  friend bool operator==(const NDArray& a, const NDArray& b);
  // Of dtype, shape and bytes. O(bytes) once.
  uint64_t Hash() const;

 private:
  NDArray(DataType dtype, std::vector<int64_t> shape);

  DataType dtype_;
  std::vector<int64_t> shape_;
  int64_t num_elements_ = 1;
  const std::byte* data_ = nullptr;
  std::unique_ptr<std::byte[]> owned_;
  std::shared_ptr<const void> owner_;
  mutable std::atomic<uint64_t> hash_ = 0;
};

}  // namespace iropt

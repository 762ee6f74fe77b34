// A tensor in host memory: dtype, shape and bytes in row-major order. Immutable once shared, unless it is a view of
// storage, as in code with planned memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "iropt/diag/source.h"
#include "iropt/ir/dtype.h"
#include "iropt/support/data_hash.h"
#include "iropt/support/file.h"

namespace iropt {

// Mutable memory, which several tensors may be views of.
class Storage {
 public:
  enum class Tracking : uint8_t { kOff, kOn };

  // Zeroed memory. Throws std::bad_alloc if there is not enough memory.
  static std::shared_ptr<Storage> Make(size_t bytes, Tracking tracking = Tracking::kOff);
  // A reference to memory of the caller, which must outlive the result.
  static std::shared_ptr<Storage> Wrap(std::byte* data, size_t bytes, std::byte* marks = nullptr);

  std::byte* data() { return data_; }
  size_t num_bytes() const { return num_bytes_; }
  // With tracking, a mark for each byte: 1 if it is initialized, else 0. Null without tracking.
  std::byte* marks() { return marks_; }
  // Returns whether all of these bytes are initialized; true without tracking. O(bytes).
  bool IsWritten(size_t offset, size_t bytes) const;
  // Marks all of these bytes as initialized or uninitialized.
  void SetWritten(size_t offset, size_t bytes, bool written);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  Storage() = default;

  std::unique_ptr<std::byte[], Free> owned_;
  std::byte* data_ = nullptr;
  std::byte* marks_ = nullptr;
  size_t num_bytes_ = 0;
};

// A tensor in a file, in which the bytes of an array lie.
struct FileTensor {
  std::string path;              // of the file
  bool absolute = false;         // references name the file by an absolute path
  std::string name;              // of the tensor in the file
  std::optional<DataHash> hash;  // as recorded elsewhere, for example in the text of a module
  SourceSpan span;               // of the reference to the tensor
  std::shared_ptr<const FileBuffer> file;
};

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
  // A view of storage from byte `offset` on, in which it must fit.
  static std::shared_ptr<NDArray> View(DataType dtype, std::span<const int64_t> shape, std::shared_ptr<Storage> storage,
                                       size_t offset);
  // The tensor of a file whose bytes begin at `data`, within `source.file`. They are copied if they are not aligned.
  // A recorded hash stands for the bytes in comparisons and in Hash(), which then do not read them. When the bytes are
  // used for the first time, the hash is checked; see damaged().
  static std::shared_ptr<const NDArray> InFile(DataType dtype, std::span<const int64_t> shape, const std::byte* data,
                                               FileTensor source);

  DataType dtype() const { return dtype_; }
  std::span<const int64_t> shape() const { return {shape_, rank_}; }
  int64_t num_elements() const { return num_elements_; }
  size_t num_bytes() const { return static_cast<size_t>(num_elements_ * dtype_.bytes()); }
  const std::byte* data() const {
    if (state_.load(std::memory_order_relaxed) == State::kUnchecked) [[unlikely]]
      CheckHash();
    return data_;
  }
  std::byte* mutable_data() { return mutable_data_; }
  // The storage that the tensor is a view of, whose bytes may change; null if the tensor is immutable.
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  // The offset of the first element in the storage, in bytes.
  size_t storage_offset() const { return static_cast<size_t>(data_ - storage_->data()); }
  template <class T>
  std::span<const T> As() const {
    return {reinterpret_cast<const T*>(data()), static_cast<size_t>(num_elements_)};
  }
  template <class T>
  std::span<T> MutableAs() {
    return {reinterpret_cast<T*>(mutable_data_), static_cast<size_t>(num_elements_)};
  }
  // Same dtype, shape and bytes. O(bytes), or O(rank) if both have recorded hashes.
  friend bool operator==(const NDArray& a, const NDArray& b);
  // Of dtype, shape and bytes. O(bytes) once, or O(rank) with a recorded hash.
  uint64_t Hash() const;

  // The tensor that the bytes lie in; null for other arrays.
  const FileTensor* source() const { return source_ ? &source_->tensor : nullptr; }
  // The recorded hash, or that of the bytes. O(bytes), for a tensor of a file only once.
  DataHash ContentHash() const;
  // Returns whether the bytes were used and do not have the recorded hash.
  bool damaged() const { return state_.load(std::memory_order_relaxed) == State::kDamaged; }

  // The array's own bytes are zero if `zeroed`, else undefined.
  NDArray(Private, DataType dtype, std::span<const int64_t> shape, size_t own_bytes, bool zeroed = true);
  NDArray(const NDArray&) = delete;
  NDArray& operator=(const NDArray&) = delete;
  ~NDArray();

 private:
  // Scalars and other small tensors, most constants of a model, live in the object: one allocation each.
  static constexpr size_t kInlineBytes = 48;
  // The bytes of an array that has no recorded hash are always valid.
  enum class State : uint8_t { kValid, kUnchecked, kDamaged };
  struct Source {
    FileTensor tensor;
    bool copied = false;  // the array has bytes of its own
    std::once_flag hashed;
    DataHash hash;  // of the bytes
  };

  bool has_recorded_hash() const { return source_ && source_->tensor.hash; }
  DataHash HashBytesInFile() const;
  void CheckHash() const;

  // The offset of the bytes after the shape in a block of memory.
  static size_t DataOffset(size_t rank) { return (rank * sizeof(int64_t) + 15) & ~size_t{15}; }

  DataType dtype_;
  uint32_t rank_ = 0;
  int64_t num_elements_ = 1;
  int64_t* shape_ = nullptr;
  const std::byte* data_ = nullptr;
  std::byte* mutable_data_ = nullptr;  // null if the bytes are not owned
  std::shared_ptr<const void> owner_;
  std::shared_ptr<Storage> storage_;
  std::unique_ptr<Source> source_;
  mutable std::atomic<uint64_t> hash_ = 0;
  mutable std::atomic<State> state_ = State::kValid;
  alignas(16) std::byte inline_[kInlineBytes];
};

// The size of a tensor in bytes; nullopt if a dimension is negative or the size is too large. If a dimension is 0, the
// product of the others is bounded, too.
std::optional<uint64_t> ArrayBytes(DataType dtype, std::span<const int64_t> shape);

}  // namespace iropt

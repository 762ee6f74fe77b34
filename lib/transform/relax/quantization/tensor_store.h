// Tensors that a pass makes one after the other, more than fit in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "iropt/ir/ndarray.h"
#include "iropt/support/result.h"
#include "iropt/support/scratch_file.h"

namespace iropt {

// Keeps tensors in memory up to a limit for all of them, and the rest in a temporary file.
class TensorStore {
 public:
  explicit TensorStore(size_t most_memory) : left_(most_memory) {}

  // A tensor that is being made.
  class Sink {
   public:
    Sink() = default;
    // The bytes from an offset of the tensor on. All must be written.
    Status Write(size_t offset, std::span<const std::byte> bytes);
    // The tensor, whose name is that of its source().
    Result<std::shared_ptr<const NDArray>> Finish();

   private:
    friend class TensorStore;
    std::string name_;
    DataType dtype_;
    std::vector<int64_t> shape_;
    std::string memory_;
    std::shared_ptr<ScratchFile> file_;  // null: in memory
    uint64_t begin_ = 0;
    size_t bytes_ = 0;
  };

  Result<Sink> Begin(std::string name, DataType dtype, std::span<const int64_t> shape);

 private:
  size_t left_;
  std::shared_ptr<ScratchFile> file_;
};

}  // namespace iropt

// The files that the text of modules refers to for big constants. They are mapped, and only their headers are read.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/ndarray.h"
#include "iropt/support/result.h"

namespace iropt {

// Not thread-safe; the arrays are.
class TensorFiles {
 public:
  // From now on, `array` is the tensor `tensor.name` with the hash `tensor.hash` of a file that is not written yet.
  void Provide(const FileTensor& tensor, std::shared_ptr<const NDArray> array);
  // The tensor `source.name` of the .safetensors or .params file `source.path`, with the hash and the span of `source`,
  // whose file is ignored. Fails with a message that names the file if it cannot be read, is damaged, or lacks the
  // tensor. O(1) after the first call for a file, which is O(tensors).
  Result<std::shared_ptr<const NDArray>> Open(FileTensor source);

  // Returns whether tensors of the file were opened, under whatever path.
  bool HasOpened(const std::string& path) const;
  // Returns whether no file was opened.
  bool empty() const { return files_.empty(); }

  // Checks the hashes of all tensors that were opened. O(bytes).
  void CheckAll() const;
  // The tensors that were opened, used and found damaged since the last call.
  std::vector<std::shared_ptr<const NDArray>> TakeDamaged();

 private:
  struct OpenFile;
  struct Provided {
    std::shared_ptr<const NDArray> array;
    std::optional<DataHash> hash;
  };

  std::shared_ptr<const NDArray> FindProvided(const FileTensor& source) const;
  Result<const OpenFile*> FileAt(const std::string& path);

  std::map<std::string, std::shared_ptr<const OpenFile>, std::less<>> files_;
  std::map<std::string, std::map<std::string, Provided>> provided_;
  std::vector<std::shared_ptr<const NDArray>> opened_;
};

}  // namespace iropt

// The arrays of tensors: views of the mapped file, or of files next to it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/onnx/model.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/file.h"
#include "iropt/support/result.h"

namespace iropt::onnx {

using Array = std::shared_ptr<const NDArray>;

// The dtype of elements; nullopt for strings, complex numbers and unknown types.
std::optional<DataType> DataTypeOf(ElementType type);
// The element type of a dtype; kUndefined if ONNX has none.
ElementType ElementTypeOf(DataType dtype);
// As the standard spells it: "float", "string", "complex64".
std::string_view NameOf(ElementType type);

// The bytes of a file that has several elements of the array in a byte; null for other arrays.
const NDArray* PackedBytesOf(const NDArray& array);

// Makes the arrays of one model. Not thread-safe.
class TensorReader {
 public:
  // Paths of external data are relative to `folder`, and cannot leave it.
  TensorReader(std::shared_ptr<const FileBuffer> owner, std::string folder)
      : owner_(std::move(owner)), folder_(std::move(folder)) {}

  // The array of a tensor of numbers. Fails if the elements are not as many as its dimensions say, of another type, or
  // in a file that cannot be read. O(1) if the file has the elements as a host tensor has them.
  Result<Array> Read(const TensorProto& tensor);
  // Dense.
  Result<Array> Read(const SparseTensorProto& tensor);
  // Returns whether a sparse tensor was read.
  bool has_read_sparse() const { return has_read_sparse_; }
  // The files that tensors were read from, relative to the folder.
  std::vector<std::string_view> DataFiles() const;

 private:
  Result<Array> ReadExternal(const TensorProto& tensor, DataType dtype);
  Result<std::shared_ptr<const FileBuffer>> OpenExternal(std::string_view location);
  static Result<Array> View(const TensorProto& tensor, DataType dtype, std::string_view bytes,
                            const std::shared_ptr<const FileBuffer>& file, std::string path = {});

  std::shared_ptr<const FileBuffer> owner_;
  std::string folder_;
  std::map<std::string, std::shared_ptr<const FileBuffer>, std::less<>> files_;
  bool has_read_sparse_ = false;
};

}  // namespace iropt::onnx

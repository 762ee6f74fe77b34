// Named tensors in files: numpy's archives (.npz) and arrays (.npy), .safetensors, and TVM's parameters (.params),
// which are read only.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/ndarray.h"
#include "iropt/support/file.h"
#include "iropt/support/result.h"

namespace iropt {

struct NamedTensor {
  std::string name;
  std::shared_ptr<const NDArray> tensor;
};

// Facts about a .safetensors file, texts by name, which it has besides its tensors.
using SafetensorsMetadata = std::map<std::string, std::string>;

// The tensors of a file, in its order and each name once; the one of a .npy file has an empty name. The first bytes of
// the file determine its format. Tensors of a .safetensors, .params or .npy file refer to the mapped file if their
// bytes are aligned; others are copied. The source() of those of a .safetensors file is the file.
Result<std::vector<NamedTensor>> ReadTensors(const std::string& path);

// The two formats. Stored and deflated entries, either order of dimensions and of bytes; names are without ".npy".
Result<std::vector<NamedTensor>> ReadNpz(const std::shared_ptr<const FileBuffer>& file);
// `path` is that of the file in the source() of its tensors.
Result<std::vector<NamedTensor>> ReadSafetensors(const std::shared_ptr<const FileBuffer>& file,
                                                 const std::string& path = {});

// Writes a file, all or nothing, in the format that the extension names: .npz, .safetensors, or .npy for one tensor.
// Fails for other names.
Status WriteTensors(const std::string& path, std::span<const NamedTensor> tensors);
// Writes an archive, all or nothing; entries are not compressed. Fails for dtypes that numpy does not have.
Status WriteNpz(const std::string& path, std::span<const NamedTensor> tensors);
Status WriteNpy(const std::string& path, const NDArray& tensor);
// Tensors with wide elements come first in the file, so that all are aligned. Fails for dtypes that the format lacks.
Status WriteSafetensors(const std::string& path, std::span<const NamedTensor> tensors);
Status AppendSafetensors(OutputStream& out, std::span<const NamedTensor> tensors,
                         const SafetensorsMetadata& metadata = {});
bool IsSafetensorsType(DataType dtype);
// Reads the header only. Fails if the file cannot be read or is damaged.
Result<SafetensorsMetadata> ReadSafetensorsMetadata(const std::string& path);

}  // namespace iropt

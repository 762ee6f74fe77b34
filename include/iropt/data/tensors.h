// Named tensors in files: numpy's archives (.npz) and arrays (.npy), and .safetensors.
#pragma once

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

// The tensors of a file, in its order and each name once; the one of a .npy file has an empty name. The first bytes of
// the file determine its format. Tensors of a .safetensors or a .npy file refer to the mapped file if their bytes are
// aligned; others are copied.
Result<std::vector<NamedTensor>> ReadTensors(const std::string& path);

// The two formats. Stored and deflated entries, either order of dimensions and of bytes; names are without ".npy".
Result<std::vector<NamedTensor>> ReadNpz(const std::shared_ptr<const FileBuffer>& file);
Result<std::vector<NamedTensor>> ReadSafetensors(const std::shared_ptr<const FileBuffer>& file);

// Writes a file, all or nothing, in the format that the extension names: .npz, .safetensors, or .npy for one tensor.
// Fails for other names.
Status WriteTensors(const std::string& path, std::span<const NamedTensor> tensors);
// Writes an archive, all or nothing; entries are not compressed. Fails for dtypes that numpy does not have.
Status WriteNpz(const std::string& path, std::span<const NamedTensor> tensors);
Status WriteNpy(const std::string& path, const NDArray& tensor);
// Fails for dtypes that the format does not know.
Status WriteSafetensors(const std::string& path, std::span<const NamedTensor> tensors);

}  // namespace iropt

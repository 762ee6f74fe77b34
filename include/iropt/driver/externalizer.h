// -externalize-constants: a .safetensors file for the big constants of the modules that are printed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "iropt/data/tensor_files.h"
#include "iropt/ir/module.h"
#include "iropt/support/file.h"
#include "iropt/support/result.h"
#include "iropt/text/script/printer.h"

namespace iropt {

// Constants that are in a .safetensors file already, such as a checkpoint that BindParams has read, are referred to in
// that file. Others are named by their dtype, shape and hash, so that equal ones are written once. Those of a dtype
// that the format lacks stay in the text.
class ConstantExternalizer {
 public:
  // The file next to `output`, with the extension .safetensors. Fails with a usage error if `output` is not a file, or
  // if the file exists and no ConstantExternalizer wrote it: a checkpoint must not be lost.
  static Result<std::string> PathNextTo(const std::string& output);

  // For constants of more than `min_bytes` bytes and `inline_constants` elements.
  ConstantExternalizer(std::string path, int64_t min_bytes, int64_t inline_constants, TensorFiles& files)
      : path_(std::move(path)), min_bytes_(min_bytes), inline_constants_(inline_constants), files_(files) {}

  // Plans references for the constants of a module, which then reads back although the file does not exist yet.
  // O(nodes + bytes of the constants).
  void Add(const Module& module);
  // The references of all modules.
  const ExternalArrays& references() const { return references_; }

  // Returns whether no constants are to be written.
  bool empty() const { return written_.empty(); }
  // The file, to be committed. Tensors of the file that it replaces are in it if they were read, because the input may
  // refer to them.
  Result<AtomicFile> Write() const;

 private:
  void AddArray(const NDArray& array);

  const std::string path_;
  const int64_t min_bytes_;
  const int64_t inline_constants_;
  TensorFiles& files_;
  ExternalArrays references_;
  std::vector<std::shared_ptr<const NDArray>> arrays_;  // keeps those of `references_` alive
  std::map<std::string, std::shared_ptr<const NDArray>> written_;
  bool refers_to_old_ = false;  // to tensors of the file that is at `path_` now
};

}  // namespace iropt

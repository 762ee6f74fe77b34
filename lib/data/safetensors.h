// The header of a .safetensors file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/data/tensors.h"
#include "iropt/ir/dtype.h"
#include "iropt/support/file.h"
#include "iropt/support/result.h"

namespace iropt::data {

struct TensorEntry {
  std::string name;
  DataType dtype;
  std::vector<int64_t> shape;
  std::string_view bytes;  // of the right number, within the file

  const std::byte* data() const { return reinterpret_cast<const std::byte*>(bytes.data()); }
};

struct SafetensorsHeader {
  std::vector<TensorEntry> entries;  // in the order of the file, each name once
  SafetensorsMetadata metadata;
};

// Reads nothing but the header.
Result<SafetensorsHeader> ReadSafetensorsHeader(const FileBuffer& file);

}  // namespace iropt::data

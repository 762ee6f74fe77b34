// The header of a .safetensors file.
#pragma once

#include <vector>

#include "iropt/data/tensors.h"
#include "iropt/support/file.h"
#include "iropt/support/result.h"
#include "tensor_entry.h"

namespace iropt::data {

struct SafetensorsHeader {
  std::vector<TensorEntry> entries;  // in the order of the file, each name once
  SafetensorsMetadata metadata;
};

// Reads nothing but the header.
Result<SafetensorsHeader> ReadSafetensorsHeader(const FileBuffer& file);

}  // namespace iropt::data

// A tensor that a file holds, as the header of the file describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/dtype.h"

namespace iropt::data {

struct TensorEntry {
  std::string name;
  DataType dtype;
  std::vector<int64_t> shape;
  std::string_view bytes;  // of the right number, within the file

  const std::byte* data() const { return reinterpret_cast<const std::byte*>(bytes.data()); }
};

}  // namespace iropt::data

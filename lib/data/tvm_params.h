// TVM's files of parameters (.params), as relay.save_param_dict writes them.
#pragma once

#include <string_view>
#include <vector>

#include "bytes.h"
#include "iropt/data/tensors.h"
#include "tensor_entry.h"

namespace iropt::data {

bool IsTvmParams(std::string_view file);
// Reads the headers of the tensors, which lie between their bytes.
Result<std::vector<TensorEntry>> ReadTvmParamsEntries(std::string_view file);
Result<std::vector<NamedTensor>> ReadTvmParams(const Bytes& file);

}  // namespace iropt::data

// Files that map names to names.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "iropt/support/result.h"

namespace iropt {

// Names and what they map to, in the order of the file.
using NamePairs = std::vector<std::pair<std::string, std::string>>;

// Reads {"model.layers.0.weight": "w0", ...}, JSON with each key once. Fails with a message that names the file.
Result<NamePairs> ReadNamePairs(const std::string& path);

}  // namespace iropt

// Objects in TVM's JSON of object graphs, as traces hold them in strings: index maps and scalar expressions of their
// parameters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "iropt/ir/attr.h"
#include "iropt/support/result.h"

namespace iropt::schedule {

// The map of a text such as {"root": 1, "nodes": [{"type_key": ""}, {"type_key": "tir.IndexMap", ...}, ...]}, as TVM
// 0.18 writes it, or {"root_index": 1, "nodes": [{"type": "None"}, {"type": "tirx.IndexMap", ...}], ...}, as its newest
// version does. O(size of the text).
Result<const IndexMapAttr*> ReadIndexMap(std::string_view json);
// The text as TVM 0.18 writes it. The expressions are sums, products, quotients and so on of parameters and constants.
std::string WriteIndexMap(const IndexMapAttr& map);

// The binary operation of a name such as FloorDiv.
std::optional<NodeKind> BinaryKindOf(std::string_view name);

}  // namespace iropt::schedule

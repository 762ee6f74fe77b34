// The metadata section: `metadata = tvm.ir.load_json("""...""")`, TVM's JSON for values without a literal. The JSON is
// a graph: {"root": i, "nodes": [{"type_key", "attrs", "data", "keys", "repr_str"}], "b64ndarrays": [...]}; the root is
// a map from type keys to arrays of objects.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "printer_core.h"

namespace iropt::text {

// Fills `entries`, by type key. Nodes are made in the workspace, which keeps the arrays alive. False with a message if
// the text is not such a section. Objects that are not constants are null entries; referring to them is an error.
bool LoadMetadata(std::string_view json, std::map<std::string, std::vector<const Node*>, std::less<>>& entries,
                  Workspace& workspace, std::string& error);

// Prints the section, or nothing if there are no entries.
void SaveMetadata(const MetadataTable& table, OutputStream& out);

}  // namespace iropt::text

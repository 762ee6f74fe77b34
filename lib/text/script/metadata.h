// The metadata section: `metadata = tvm.ir.load_json("""...""")`, TVM's JSON for values without a literal. The JSON is
// a graph: {"root": i, "nodes": [{"type_key", "attrs", "data", "keys", "repr_str"}], "b64ndarrays": [...]}; the root is
// a map from type keys to arrays of objects.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"
#include "iropt/text/script/parser.h"
#include "printer_core.h"

namespace iropt::text {

// The section as a part of the text of a module.
struct MetadataText {
  std::string_view json;
  std::string_view token;  // the string literal, for locations in it
  SourceSpan span;         // of the token
};

// Fills `entries`, by type key. Nodes are made in the workspace, which keeps the arrays alive. An error if the text is
// not such a section; a reported one for each tensor in a file that can't be opened. Objects that are not constants are
// null entries; referring to them is an error.
Status LoadMetadata(const MetadataText& text, const TensorOpener& open_tensor, DiagnosticEngine& diagnostics,
                    std::map<std::string, std::vector<const Node*>, std::less<>>& entries, Workspace& workspace);

// Prints the section, or nothing if there are no entries.
void SaveMetadata(const MetadataTable& table, const PrintOptions& options, TextVersion version, OutputStream& out);

}  // namespace iropt::text

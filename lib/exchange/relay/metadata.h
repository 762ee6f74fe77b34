// The metadata section of a Relay text: after a line #[metadata], or METADATA: in texts of TVM 0.6, TVM's JSON of the
// objects that the text refers to as meta[Key][index].
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/infer/py_value.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt::relay {

// An entry: a constant or the name of an external function is a value; an attribute record, or another object with
// fields, has the fields.
struct MetadataEntry {
  PyValue value;  // kExpr: a constant; None for an object with fields
  std::vector<PyKeyword> fields;
};

using MetadataEntries = std::map<std::string, std::vector<MetadataEntry>, std::less<>>;

// The offset of the section in the text, or of its end.
size_t FindMetadata(std::string_view text);
// The size of the line with which the section begins, without its end.
size_t MetadataHeaderSize(std::string_view section);

// Reads the section. Values live in the workspace.
Result<MetadataEntries> LoadMetadata(std::string_view section, Workspace& workspace);

}  // namespace iropt::relay

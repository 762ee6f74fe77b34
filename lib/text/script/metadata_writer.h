// The metadata section of TVM 0.22 and newer.
#pragma once

#include "printer_core.h"

namespace iropt::text {

// The kind of arrays among attributes, which was kArrayKey before.
inline constexpr std::string_view kTensorKey = "ffi.Tensor";
// That of strings of several lines in PrimFuncs, from 0.26 on.
inline constexpr std::string_view kStringImmKey = "tirx.StringImm";

// Constants in files have attributes as in the older form (weights.h), as fields of their nodes. O(bytes).
void WriteMetadataGraph(const MetadataTable& table, const PrintOptions& options, TextVersion version,
                        OutputStream& out);

}  // namespace iropt::text

// The forms of the metadata section.
#pragma once

#include <string_view>

#include "printer_core.h"

namespace iropt::text {

// The kind of arrays among attributes: kArrayKey until 0.20, in 0.21, and from 0.22 on.
inline constexpr std::string_view kNDArrayKey = "ffi.NDArray";
inline constexpr std::string_view kTensorKey = "ffi.Tensor";
// Those of strings of several lines: among the operands of PrimFuncs, before 0.24 and from then on, and among
// attributes, before 0.21 and from 0.22 on. 0.21 has literals there.
inline constexpr std::string_view kOldStringImmKey = "tir.StringImm";
inline constexpr std::string_view kStringImmKey = "tirx.StringImm";
inline constexpr std::string_view kOldStringKey = "runtime.String";
inline constexpr std::string_view kStringKey = "ffi.String";

inline bool IsStringImmKey(std::string_view key) { return key == kOldStringImmKey || key == kStringImmKey; }

// That of TVM 0.21 and older.
void WriteMetadataNodes(const MetadataTable& table, const PrintOptions& options, TextVersion version,
                        OutputStream& out);

// That of TVM 0.22 and newer.
// Constants in files have attributes as in the older form (weights.h), as fields of their nodes. O(bytes).
void WriteMetadataGraph(const MetadataTable& table, const PrintOptions& options, TextVersion version,
                        OutputStream& out);

}  // namespace iropt::text

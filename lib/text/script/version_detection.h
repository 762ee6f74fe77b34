// In which version of TVM a text was written, as far as it shows.
#pragma once

#include <optional>
#include <string_view>

#include "iropt/support/text_version.h"

namespace iropt::text {

// Signs of the version that were found in the text.
struct VersionSigns {
  bool imports_tir = false;   // as texts of 0.23 and older do
  bool imports_tirx = false;  // as texts of 0.24 and newer do
  bool imports_axis = false;  // as those that TVM 0.25 and newer prints do
  bool is_printed = false;    // the imports are comments, as in what TVM prints
  bool has_type_vars = false;
  std::optional<TextVersion> of_metadata;
  std::string_view functions;  // the text after the metadata section
};

// The version that the end of a metadata section states.
std::optional<TextVersion> VersionOfMetadata(std::string_view json);

// Nothing if the text could be of every version. Of versions that cannot be told from each other it is the newest, if
// the text shows to be of 0.21 or newer, and else 0.18. Linear in the functions.
std::optional<TextVersion> DetectVersion(const VersionSigns& signs);

}  // namespace iropt::text

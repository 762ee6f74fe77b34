// Several modules in one file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/support/result.h"

namespace iropt {

struct InputPart {
  std::string_view text;
  uint32_t first_line;  // of the file, from 1
};

// The parts between lines that hold only the marker and blanks. There is always at least one.
std::vector<InputPart> SplitInput(std::string_view text, std::string_view marker);

// Fails with ErrorCode::Usage if no line can be the marker.
Status CheckSplitMarker(std::string_view marker);

// Warns about lines that differ from the marker by one character or by blanks: they are likely to be misspelled. `base`
// is the offset of the text in the sources. Does nothing for a marker of fewer than five characters, which many lines
// are close to.
void WarnOfNearMarkers(std::string_view text, uint32_t base, std::string_view marker, DiagnosticEngine& diagnostics);

}  // namespace iropt

// Differences of texts by lines, in the unified format of diff -u.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace iropt {

enum class LineChange : uint8_t { Kept, Removed, Added };

struct DiffLine {
  LineChange change;
  std::string_view text;  // without the newline; of the old text if it is kept

  friend bool operator==(const DiffLine&, const DiffLine&) = default;
};

// The lines of both texts, removed ones before those that replace them. Lines that occur once in each text and in the
// same order are kept; between them the edit script is the shortest one, unless the texts differ in thousands of lines
// there: these are then replaced altogether. The views refer to the texts.
// O(lines * log lines + changed lines between two unique ones, squared). Sources: B. Cohen's patience diff; S. Wu,
// U. Manber, G. Myers, W. Miller, "An O(NP) Sequence Comparison Algorithm" (1990).
std::vector<DiffLine> DiffLines(std::string_view before, std::string_view after);

struct UnifiedDiffOptions {
  int context = 3;      // kept lines around each change
  bool colour = false;  // removed lines red, added ones green
};

// Hunks with headings such as "@@ -1,4 +1,5 @@"; empty for equal texts.
std::string UnifiedDiff(std::string_view before, std::string_view after, const UnifiedDiffOptions& options = {});

}  // namespace iropt

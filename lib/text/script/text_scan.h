// Searches in long texts for what is rare in them, several characters at a time.
#pragma once

#include <cstdint>
#include <string_view>

namespace iropt::text {

// Returns whether the text has a name that came with TVM 0.26: an argument out_ty= or ty_args=, or the type R.Any.
bool HasNewerName(std::string_view text);

// Adds the lines of a text that are neither blank nor comments to a hash.
uint64_t HashCode(uint64_t hash, std::string_view text);

// The end of the block around the offset `begin`, whose header is indented by `column`: the start of the first line
// that is indented no deeper. Lines that begin with a closing bracket continue an expression.
uint32_t BlockEnd(std::string_view text, uint32_t begin, uint32_t column);

}  // namespace iropt::text

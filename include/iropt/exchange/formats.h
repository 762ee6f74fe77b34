// Input and output formats of modules. A new one is a folder of lib/exchange and a line of CMakeLists.txt.
#pragma once

#include <span>
#include <string_view>

#include "iropt/exchange/format.h"
#include "iropt/support/result.h"

namespace iropt {

// The first row is the default for input and for output.
std::span<const FormatRow> Formats();

// The format of that name, for reading or for writing. Fails with ErrorCode::Usage and lists all names.
Result<const FormatRow*> FindInputFormat(std::string_view name, std::span<const FormatRow> formats = Formats());
Result<const FormatRow*> FindOutputFormat(std::string_view name, std::span<const FormatRow> formats = Formats());
// The format that has the extension of the file, else the first one that recognizes the contents, else the first one.
const FormatRow& DetectInputFormat(std::string_view path, std::string_view contents,
                                   std::span<const FormatRow> formats = Formats());
// The format that has the extension of the file, else the first one.
const FormatRow& DetectOutputFormat(std::string_view path, std::span<const FormatRow> formats = Formats());

// The format of a row. Loads its shared object, which is installed with the program, at the first call; it stays
// loaded. Thread-safe. Fails with ErrorCode::Usage if there is no such object, or it is of another version.
Result<const Format*> LoadFormat(const FormatRow& row);

}  // namespace iropt

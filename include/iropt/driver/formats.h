// Input and output formats of modules. A new one is a folder and a row in formats.cpp.
#pragma once

#include <span>
#include <string_view>

#include "iropt/support/result.h"
#include "iropt/text/format.h"

namespace iropt {

struct FormatRow {
  std::string_view name;                              // for -x and -emit
  std::span<const std::string_view> extensions = {};  // of files, with the dot
  // Returns whether the contents are certainly in this format. Null if they do not show it.
  bool (*sniff)(std::string_view contents) = nullptr;
  bool reads = true;    // -x
  bool writes = true;   // -emit
  bool is_text = true;  // messages have lines of the file
  // Files of weights have parameters of the function `main` by their names, as the text does not refer to tensors.
  bool weights_are_parameters = false;
  // One of the two: the format in this program, or the name of the shared object that has it.
  const Format& (*built_in)() = nullptr;
  const char* library = nullptr;
};

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

// Files that options of passes name, as sources of diagnostics.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "iropt/pass/option_value.h"
#include "iropt/pass/text_reader.h"
#include "iropt/support/file.h"

namespace iropt {

// A reader that has the sources of the diagnostics.
class SourceReader : public TextReader {
 public:
  // Adds a file to the sources: the global offset of its text, for messages with locations in it. Nothing if the
  // sources have no room for it.
  virtual std::optional<uint32_t> AddSource(const std::string& name,
                                            const std::shared_ptr<const FileBuffer>& text) const = 0;
};

// Reads strict JSON from a text that begins at the global offset `base`: errors and values are located in it. Nothing
// after an error.
std::optional<OptionValue> ReadLocatedOptionValue(std::string_view json, uint32_t base, DiagnosticEngine& diagnostics);

}  // namespace iropt

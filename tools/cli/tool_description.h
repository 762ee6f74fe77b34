// The texts about a tool, from which its help, its manual page and its completion are made.
#pragma once

#include <span>
#include <string_view>

#include "iropt/driver/flags.h"

namespace iropt {

struct ToolDescription {
  std::string_view name;          // "ir-run"
  std::string_view summary;       // the line of the manual page after the name: "run machine learning models"
  std::string_view purpose;       // a sentence, at the top of the help
  std::string_view arguments;     // after the name in the synopsis: "[flags] [FILE]"
  std::string_view file_meaning;  // in the help, what FILE is; empty: there is none
  std::span<const Flag> flags;
  std::string_view examples;    // lines of commands with their meaning, indented
  std::string_view exit_codes;  // lines of codes with their meaning, indented
  // The flags that -help shows; none: all of them.
  std::span<const std::string_view> common = {};
  // Pages of -help=PAGE that the tool has besides those that follow from its flags.
  std::span<const std::string_view> more_pages = {};
};

}  // namespace iropt

// Shell completion: short scripts that call the tool itself for the candidates.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/driver/flags.h"

namespace iropt {

// The script of a tool for a shell: bash, zsh or fish. It runs `TOOL -complete LINE [BREAKS]`.
std::string CompletionScript(std::string_view tool, std::string_view shell);

// The completions of the last word of the command line, which is typed up to its end: a line for each, as WORD TAB
// MEANING. `breaks` are characters up to which the shell keeps the word as it is; what they and opening quotes end is
// then not part of WORD. Names of plugins that the line loads are among them.
std::string Complete(std::span<const Flag> flags, std::string_view line, std::string_view breaks);
// The completions for the arguments of a run `-complete LINE [BREAKS]`; nothing for another run.
std::optional<std::string> CompleteFor(std::span<const Flag> flags, const std::vector<std::string>& arguments);

}  // namespace iropt

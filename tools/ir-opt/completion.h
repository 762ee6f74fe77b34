// Shell completion: short scripts that call ir-opt itself for the candidates.
#pragma once

#include <string>
#include <string_view>

namespace iropt {

// The script for a shell: bash, zsh or fish. It runs `ir-opt -complete LINE`.
std::string_view CompletionScript(std::string_view shell);

// The completions of the last word of the command line, which is typed up to its end: a line for each, as WORD TAB
// MEANING. `breaks` are characters up to which the shell keeps the word as it is; what they and opening quotes end is
// then not part of WORD. Names of plugins that the line loads are among them.
std::string Complete(std::string_view line, std::string_view breaks);

}  // namespace iropt

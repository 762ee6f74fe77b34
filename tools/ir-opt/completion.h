// Completion of command lines in shells: scripts of a few lines, which ask ir-opt itself what may come next.
#pragma once

#include <string>
#include <string_view>

namespace iropt {

// The script for a shell: bash, zsh or fish. It runs `ir-opt -complete LINE`.
std::string_view CompletionScript(std::string_view shell);

// What the last word of the command line may become, which is typed up to its end: a line for each, as WORD TAB
// MEANING. `breaks` are characters up to which the shell keeps the word as it is; what they and opening quotes end is
// then not part of WORD. Names of plugins that the line loads are among them.
std::string Complete(std::string_view line, std::string_view breaks);

}  // namespace iropt

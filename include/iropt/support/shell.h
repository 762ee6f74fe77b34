// Command lines for a shell.
#pragma once

#include <string>
#include <string_view>

namespace iropt {

// The text as one word, with quotes if it needs any.
std::string ShellWord(std::string_view word);

// The command on a file: {} stands for the file, which is the last word of a command without it.
std::string CommandOn(std::string_view command, std::string_view file);

}  // namespace iropt

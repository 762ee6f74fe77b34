// Command lines for a shell.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace iropt {

// The text as one word, with quotes if it needs any.
std::string ShellWord(std::string_view word);
// The words with blanks between them.
std::string ShellWords(std::span<const std::string> words);

// The command on a file: {} stands for the file, which is the last word of a command without it.
std::string CommandOn(std::string_view command, std::string_view file);

}  // namespace iropt

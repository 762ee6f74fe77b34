// One line at the end of the standard error output that tells how far the program is. It is shown on terminals, where
// it can be erased: before other text, and before another such line.
#pragma once

#include <string_view>

namespace iropt {

// `text` is one line, without its end. Thread-safe.
void ShowStatusLine(std::string_view text);
// Erases it. Async-signal-safe.
void EraseStatusLine();

// For other text to the standard error output: no line is shown from its construction to the end of the scope.
class StatusLinePause {
 public:
  StatusLinePause();
  StatusLinePause(const StatusLinePause&) = delete;
  StatusLinePause& operator=(const StatusLinePause&) = delete;
  ~StatusLinePause();
};

}  // namespace iropt

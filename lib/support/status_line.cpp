#include "iropt/support/status_line.h"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>

namespace iropt {

namespace {

constexpr std::string_view kErase = "\r\x1b[K";

std::mutex terminal;
std::atomic<bool> is_shown = false;

// Writes the text, as far as that is possible: a failure is not worth an error.
void WriteToTerminal(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace

void ShowStatusLine(std::string_view text) {
  const std::scoped_lock lock(terminal);
  is_shown = true;
  WriteToTerminal(std::string(kErase).append(text));
}

void EraseStatusLine() {
  if (is_shown.exchange(false)) WriteToTerminal(kErase);
}

StatusLinePause::StatusLinePause() {
  terminal.lock();
  EraseStatusLine();
}

StatusLinePause::~StatusLinePause() { terminal.unlock(); }

}  // namespace iropt

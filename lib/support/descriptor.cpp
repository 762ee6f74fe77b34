#include "descriptor.h"

#include <poll.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <system_error>

namespace iropt {

namespace {

constexpr size_t kReadBuffer = 64 * 1024;

void WaitFor(int fd, short events) {
  pollfd request{.fd = fd, .events = events, .revents = 0};
  poll(&request, 1, -1);
}

}  // namespace

std::string ErrnoText(int code) {
  std::string text = std::generic_category().message(code);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

ssize_t ReadSome(int fd, char* to, size_t size) {
  while (true) {
    const ssize_t n = read(fd, to, size);
    if (n >= 0) return n;
    if (errno == EAGAIN) {
      WaitFor(fd, POLLIN);
    } else if (errno != EINTR) {
      return -1;
    }
  }
}

int WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN) {
      WaitFor(fd, POLLOUT);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int ReadToEnd(int fd, size_t expected, std::string& contents) {
  size_t used = 0;
  contents.resize(expected + 1);
  while (true) {
    // A full buffer does not mean the end, and neither does the size that a file had when it was opened.
    if (used == contents.size()) contents.resize(std::max(2 * used, kReadBuffer));
    const ssize_t n = ReadSome(fd, contents.data() + used, contents.size() - used);
    if (n < 0) return errno;
    if (n == 0) break;
    used += static_cast<size_t>(n);
  }
  contents.resize(used);
  return 0;
}

}  // namespace iropt

// File descriptors: what is common to the ways of reading and writing files.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace iropt {

// A descriptor that is closed at the end, if it is owned; -1 if there is none.
class Descriptor {
 public:
  explicit Descriptor(int fd, bool owned = true) : fd_(fd), owned_(owned) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (owned_ && fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
  bool owned_;
};

// The system's message for an errno, in the lower case of our messages.
std::string ErrnoText(int code);

// These three handle signals and non-blocking descriptors.

// read().
ssize_t ReadSome(int fd, char* to, size_t size);
// Reads to the end; `expected` is a hint. Returns an errno, or 0.
int ReadToEnd(int fd, size_t expected, std::string& contents);
// Writes everything. Returns the errno of the failure, or 0.
int WriteAll(int fd, std::string_view text);

}  // namespace iropt

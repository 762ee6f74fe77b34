// Files with new names.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

extern "C" int mkstemps(char* pattern, int suffix_size) {
  constexpr size_t kLetters = 6;
  constexpr int kMostAttempts = 100;
  const size_t size = std::strlen(pattern);
  const auto suffix = static_cast<size_t>(suffix_size);
  if (size < kLetters + suffix || std::strncmp(pattern + size - suffix - kLetters, "XXXXXX", kLetters) != 0) {
    errno = EINVAL;
    return -1;
  }
  char* letters = pattern + size - suffix - kLetters;
  for (int i = 0; i < kMostAttempts; ++i) {
    unsigned char random[kLetters];
    if (getentropy(random, sizeof random) != 0) return -1;
    for (size_t at = 0; at < kLetters; ++at) letters[at] = "abcdefghijklmnopqrstuvwxyz234567"[random[at] % 32];
    const int file = open(pattern, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

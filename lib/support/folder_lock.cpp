#include "iropt/support/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "descriptor.h"

namespace iropt {

FolderLock::FolderLock(const std::string& folder, Use use)
    : folder_(folder), fd_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const int operation = use == Use::kRead ? LOCK_SH : LOCK_EX;
  int result = fd_ < 0 ? -1 : flock(fd_, operation);
  while (result != 0 && fd_ >= 0 && errno == EINTR) result = flock(fd_, operation);
  errno_ = result == 0 ? 0 : errno;
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) close(fd_);
}

Status FolderLock::status() const {
  if (errno_ == 0) return {};
  const std::string reason = ErrnoText(errno_);
  return Error{ErrorCode::Usage, fmt::format("cannot lock the folder '{}': {}", folder_, reason)};
}

}  // namespace iropt

#include "client_process.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace iropt::lsp {

ClientProcess::~ClientProcess() {
  if (descriptor_ >= 0) close(descriptor_);
}

// Systems older than Linux 5.3 can't watch a process; the end of the input tells there.
void ClientProcess::Watch(int64_t process) {
  descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  is_dead_ = descriptor_ < 0 && errno == ESRCH;
}

}  // namespace iropt::lsp

// The process of the client, which may die without a word.
#pragma once

#include <poll.h>

#include <cstdint>

namespace iropt::lsp {

class ClientProcess {
 public:
  ClientProcess() = default;
  ClientProcess(const ClientProcess&) = delete;
  ClientProcess& operator=(const ClientProcess&) = delete;
  ~ClientProcess();

  // From now on, is_dead tells of the process with that id.
  void Watch(int64_t process);
  bool is_dead() const { return is_dead_; }
  // Ready for reading when the process has ended; -1 if none is watched.
  int descriptor() const { return descriptor_; }
  // Takes the result of poll(2) for the descriptor.
  void Update(const pollfd& polled) { is_dead_ = is_dead_ || polled.revents != 0; }

 private:
  int descriptor_ = -1;
  bool is_dead_ = false;
};

}  // namespace iropt::lsp

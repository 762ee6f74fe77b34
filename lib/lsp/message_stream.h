// The messages of the base protocol: a header with the length, and JSON.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "protocol.h"

namespace iropt::lsp {

// Reads messages in a thread of its own, so that a request can be cancelled while it waits.
class MessageReader {
 public:
  explicit MessageReader(int fd);
  MessageReader(const MessageReader&) = delete;
  MessageReader& operator=(const MessageReader&) = delete;
  // The thread ends when the input does, or after a message "exit".
  ~MessageReader();

  // Waits for the next message; nothing at the end of the input. A text that is not JSON is a discarded value.
  std::optional<Json> Next();
  bool HasMore();
  // Returns whether a request that Next returned was cancelled meanwhile, and forgets the cancellation.
  bool TakeCancelled(const Json& id);

 private:
  void Run();
  std::string_view ReadMessage();
  bool ReadLine(std::string& line);
  bool Fill();

  int fd_;
  std::string buffer_;
  size_t begin_ = 0;  // of what was not used yet
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Json> messages_;
  std::set<std::string> cancelled_;
  bool at_end_ = false;
  std::thread thread_;
};

class MessageWriter {
 public:
  explicit MessageWriter(int fd) : fd_(fd) {}
  // Writes a message; drops it if the client does not take it.
  void Write(const Json& message);

 private:
  int fd_;
};

}  // namespace iropt::lsp

// The messages of the base protocol: a header with the length, and JSON.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "protocol.h"

namespace iropt::lsp {

inline constexpr std::string_view kCancelRequest = "$/cancelRequest";

// Reads messages in a thread of its own, so that a request can be cancelled while it waits.
class MessageReader {
 public:
  explicit MessageReader(int fd);
  MessageReader(const MessageReader&) = delete;
  MessageReader& operator=(const MessageReader&) = delete;
  ~MessageReader();

  // The next message; nothing if there is none yet. A text that is not JSON is a discarded value. A cancellation comes
  // at its place, after TakeCancelled has known of it.
  std::optional<Json> Next();
  bool HasMore();
  // Returns whether all messages were taken and no more will come.
  bool AtEnd();
  // Ready for reading when there is a message or the input has ended.
  int descriptor() const { return arrived_; }
  // Returns whether a request that Next returned was cancelled meanwhile, and forgets the cancellation.
  bool TakeCancelled(const Json& id);

 private:
  void Run();
  void TellArrival();
  std::string_view ReadMessage();
  bool WaitForInput() const;
  bool ReadLine(std::string& line);
  bool Fill();

  int fd_;
  std::string buffer_;
  size_t begin_ = 0;  // of what was not used yet
  int arrived_;       // an event that is set while there are messages, and at the end
  int stopped_;       // an event that ends the thread
  std::mutex mutex_;
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

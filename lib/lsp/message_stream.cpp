#include "message_stream.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <utility>

namespace iropt::lsp {

namespace {

constexpr size_t kBlock = 1 << 16;
// Messages hold whole files, which have at most 4 GiB.
constexpr size_t kLongestMessage = size_t{1} << 33;

}  // namespace

MessageReader::MessageReader(int fd) : fd_(fd), thread_([this] { Run(); }) {}

MessageReader::~MessageReader() { thread_.join(); }

bool MessageReader::Fill() {
  if (begin_ > 0 && begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  }
  const size_t size = buffer_.size();
  buffer_.resize(size + kBlock);
  ssize_t count = 0;
  do {
    count = read(fd_, buffer_.data() + size, kBlock);
  } while (count < 0 && errno == EINTR);
  buffer_.resize(size + static_cast<size_t>(count > 0 ? count : 0));
  return count > 0;
}

// Without the line break.
bool MessageReader::ReadLine(std::string& line) {
  size_t end = buffer_.find('\n', begin_);
  while (end == std::string::npos) {
    const size_t seen = buffer_.size() - begin_;
    if (!Fill()) return false;
    end = buffer_.find('\n', begin_ + seen);
  }
  line.assign(buffer_, begin_, end - begin_);
  if (!line.empty() && line.back() == '\r') line.pop_back();
  begin_ = end + 1;
  return true;
}

bool MessageReader::ReadMessage(std::string& body) {
  constexpr std::string_view kLength = "Content-Length:";
  size_t length = 0;
  for (std::string line; ReadLine(line) && !(line.empty() && length > 0);) {
    if (!line.starts_with(kLength)) continue;
    const char* digits = line.data() + line.find_first_not_of(' ', kLength.size());
    std::from_chars(digits, line.data() + line.size(), length);
  }
  if (length == 0 || length > kLongestMessage) return false;
  while (buffer_.size() - begin_ < length) {
    if (!Fill()) return false;
  }
  body.assign(buffer_, begin_, length);
  begin_ += length;
  // A long message is not kept.
  if (begin_ > kBlock) {
    buffer_.erase(0, begin_);
    if (buffer_.capacity() > 16 * kBlock) buffer_.shrink_to_fit();
    begin_ = 0;
  }
  return true;
}

void MessageReader::Run() {
  std::string body;
  for (bool ends = false; !ends && ReadMessage(body);) {
    Json message = Json::parse(body, nullptr, /*allow_exceptions=*/false);
    std::string().swap(body);
    const std::string method =
        message.is_object() ? message.value("method", Json()).is_string() ? message["method"].get<std::string>() : ""
                            : "";
    ends = method == "exit";
    const std::lock_guard lock(mutex_);
    if (method == "$/cancelRequest") {
      if (message.contains("params") && message["params"].contains("id"))
        cancelled_.insert(Dump(message["params"]["id"]));
      continue;
    }
    messages_.push_back(std::move(message));
    arrived_.notify_one();
  }
  const std::lock_guard lock(mutex_);
  at_end_ = true;
  arrived_.notify_one();
}

std::optional<Json> MessageReader::Next() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [&] { return !messages_.empty() || at_end_; });
  if (messages_.empty()) return std::nullopt;
  Json message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

bool MessageReader::HasMore() {
  const std::lock_guard lock(mutex_);
  return !messages_.empty();
}

bool MessageReader::TakeCancelled(const Json& id) {
  const std::lock_guard lock(mutex_);
  return cancelled_.erase(Dump(id)) > 0;
}

void MessageWriter::Write(const Json& message) {
  const std::string body = Dump(message);
  const std::string text = fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(fd_, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<size_t>(count);
  }
}

}  // namespace iropt::lsp

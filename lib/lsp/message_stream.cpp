#include "message_stream.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <utility>

#include "iropt/support/json.h"

namespace iropt::lsp {

namespace {

constexpr size_t kBlock = 1 << 16;
// Messages hold whole files, which have at most 4 GiB.
constexpr size_t kLongestMessage = size_t{1} << 33;
constexpr size_t kLong = 1 << 20;

// A message that opens a document is nearly all text, which this reads several times as fast as the general way.
// Nothing for other messages.
std::optional<Json> ParseOpening(std::string_view body) {
  const Result<JsonText> json = JsonText::Parse(body);
  if (!json.ok()) return std::nullopt;
  const std::optional<JsonValue> method = json->root().Find("method");
  const std::optional<JsonValue> params = json->root().Find("params");
  const std::optional<JsonValue> document = params ? params->Find("textDocument") : std::nullopt;
  if (!method || !method->is_string() || method->string() != "textDocument/didOpen" || !document) return std::nullopt;
  Json item = Json::object();
  for (const JsonMember member : document->members()) {
    if (member.value.is_string()) item[std::string(member.key)] = std::string(member.value.string());
    if (member.value.is_integer()) item[std::string(member.key)] = member.value.integer();
  }
  return Json{{"method", "textDocument/didOpen"}, {"params", {{"textDocument", std::move(item)}}}};
}

// The general way needs stack for each level.
bool IsTooDeep(std::string_view body) {
  constexpr int kMostLevels = 512;
  int levels = 0;
  bool in_string = false;
  for (size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '[' || c == '{') && ++levels > kMostLevels) {
      return true;
    } else if (!in_string && (c == ']' || c == '}')) {
      --levels;
    }
  }
  return false;
}

Json ParseMessage(std::string_view body) {
  if (IsTooDeep(body)) return Json(Json::value_t::discarded);
  if (body.size() > kLong) {
    if (std::optional<Json> opening = ParseOpening(body)) return *std::move(opening);
  }
  return Json::parse(body, nullptr, /*allow_exceptions=*/false);
}

// The value of the header with the length; nothing in another one. Names of headers have no case.
std::optional<std::string_view> LengthIn(std::string_view line) {
  constexpr std::string_view kLength = "content-length";
  const size_t colon = line.find(':');
  const bool is_length = colon != std::string_view::npos &&
                         std::ranges::equal(line.substr(0, colon), kLength, {},
                                            [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (!is_length) return std::nullopt;
  line.remove_prefix(std::min(line.find_first_not_of(" \t", colon + 1), line.size()));
  return line;
}

}  // namespace

MessageReader::MessageReader(int fd)
    : fd_(fd),
      arrived_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      stopped_(eventfd(0, EFD_CLOEXEC)),
      thread_([this] { Run(); }) {}

// The input may go on when the server ends: when the client is dead.
MessageReader::~MessageReader() {
  eventfd_write(stopped_, 1);
  thread_.join();
  close(stopped_);
  close(arrived_);
}

void MessageReader::TellArrival() { eventfd_write(arrived_, 1); }

// Returns whether there is input, or its end, before the reader is stopped.
bool MessageReader::WaitForInput() const {
  std::array<pollfd, 2> descriptors = {
      {{.fd = fd_, .events = POLLIN, .revents = 0}, {.fd = stopped_, .events = POLLIN, .revents = 0}}};
  while (poll(descriptors.data(), descriptors.size(), -1) < 0 && errno == EINTR) {
  }
  return descriptors[1].revents == 0;
}

bool MessageReader::Fill() {
  if (begin_ > 0 && begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  }
  const size_t size = buffer_.size();
  buffer_.resize(size + kBlock);
  ssize_t count = 0;
  do {
    count = WaitForInput() ? read(fd_, buffer_.data() + size, kBlock) : 0;
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

// A view of the buffer until the next call; empty at the end of the input.
std::string_view MessageReader::ReadMessage() {
  // The memory of a long message is given back.
  if (begin_ > kBlock) {
    buffer_.erase(0, begin_);
    begin_ = 0;
    if (buffer_.capacity() > 16 * kBlock) buffer_.shrink_to_fit();
  }
  size_t length = 0;
  for (std::string line; ReadLine(line) && !(line.empty() && length > 0);) {
    if (const std::optional<std::string_view> value = LengthIn(line))
      std::from_chars(value->data(), value->data() + value->size(), length);
  }
  if (length == 0 || length > kLongestMessage) return {};
  buffer_.reserve(std::min(begin_ + length + kBlock, 256 * kLong));
  while (buffer_.size() - begin_ < length) {
    if (!Fill()) return {};
  }
  begin_ += length;
  return std::string_view(buffer_).substr(begin_ - length, length);
}

void MessageReader::Run() {
  for (bool ends = false; !ends;) {
    const std::string_view body = ReadMessage();
    if (body.empty()) break;
    Json message = ParseMessage(body);
    const auto method = message.is_object() ? message.find("method") : message.end();
    const bool is_named = message.is_object() && method != message.end() && method->is_string();
    ends = is_named && *method == "exit";
    const std::lock_guard lock(mutex_);
    if (is_named && *method == kCancelRequest) {
      const Json params = message.value("params", Json::object());
      if (params.is_object() && params.contains("id")) cancelled_.insert(Dump(params["id"]));
    }
    messages_.push_back(std::move(message));
    TellArrival();
  }
  const std::lock_guard lock(mutex_);
  at_end_ = true;
  TellArrival();
}

std::optional<Json> MessageReader::Next() {
  const std::lock_guard lock(mutex_);
  if (messages_.empty()) return std::nullopt;
  Json message = std::move(messages_.front());
  messages_.pop_front();
  eventfd_t count = 0;
  if (messages_.empty() && !at_end_) eventfd_read(arrived_, &count);
  return message;
}

bool MessageReader::HasMore() {
  const std::lock_guard lock(mutex_);
  return !messages_.empty();
}

bool MessageReader::AtEnd() {
  const std::lock_guard lock(mutex_);
  return messages_.empty() && at_end_;
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

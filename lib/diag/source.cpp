#include "iropt/diag/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "iropt/diag/joint_spans.h"
#include "iropt/diag/location_comment.h"

namespace iropt {

namespace {

bool IsContinuation(unsigned char c) { return (c & 0xC0) == 0x80; }

// Offsets of the first byte of every line.
std::vector<uint32_t> LineStarts(std::string_view text) {
  std::vector<uint32_t> starts = {0};
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    starts.push_back(static_cast<uint32_t>(at + 1));
  }
  return starts;
}

// The name for the rest of the process.
std::string_view KeepName(std::string name) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> names;
  const std::scoped_lock lock(mutex);
  return *names.insert(std::move(name)).first;
}

}  // namespace

size_t CodePointLength(std::string_view text, bool* valid) {
  const auto lead = static_cast<unsigned char>(text[0]);
  size_t length = 1;
  if (lead >= 0xC2 && lead <= 0xDF) length = 2;
  if (lead >= 0xE0 && lead <= 0xEF) length = 3;
  if (lead >= 0xF0 && lead <= 0xF4) length = 4;
  bool good = (lead < 0x80 || length > 1) && length <= text.size();
  for (size_t i = 1; good && i < length; ++i) good = IsContinuation(static_cast<unsigned char>(text[i]));
  if (good && length > 2) {
    // Overlong forms, surrogates and code points beyond U+10FFFF are detected at the second byte.
    const auto second = static_cast<unsigned char>(text[1]);
    good = !(lead == 0xE0 && second < 0xA0) && !(lead == 0xED && second > 0x9F) && !(lead == 0xF0 && second < 0x90) &&
           !(lead == 0xF4 && second > 0x8F);
  }
  if (valid != nullptr) *valid = good;
  return good ? length : 1;
}

size_t CountCodePoints(std::string_view text) {
  size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(CodePointLength(text));
  return count;
}

Result<uint32_t> SourceManager::AddBuffer(std::string name, std::string_view text, std::shared_ptr<const void> owner,
                                          uint32_t first_line) {
  const std::scoped_lock lock(mutex_);
  // The end of a source has an offset too, which must not be the beginning of the next one.
  if (next_base_ + text.size() >= kFirstJointOffset) {
    return Error{ErrorCode::Usage, fmt::format("cannot read '{}': more than 4 GiB of source text", name)};
  }
  const auto base = static_cast<uint32_t>(next_base_);
  next_base_ += text.size() + 1;
  buffers_.push_back(std::make_unique<Buffer>(Buffer{std::move(name), text, std::move(owner), base, first_line, {}}));
  return base;
}

SourceManager::Buffer* SourceManager::Find(uint32_t offset) const {
  const auto after = std::upper_bound(buffers_.begin(), buffers_.end(), offset,
                                      [](uint32_t o, const std::unique_ptr<Buffer>& b) { return o < b->base; });
  if (after == buffers_.begin()) return nullptr;
  Buffer* buffer = std::prev(after)->get();
  return offset - buffer->base <= buffer->text.size() ? buffer : nullptr;
}

SourceLocation SourceManager::Locate(uint32_t offset) const {
  const std::scoped_lock lock(mutex_);
  Buffer* buffer = Find(offset);
  if (buffer == nullptr) return {};
  std::vector<uint32_t>& starts = buffer->line_starts;
  if (starts.empty()) starts = LineStarts(buffer->text);
  const uint32_t local = offset - buffer->base;
  const auto line = std::prev(std::upper_bound(starts.begin(), starts.end(), local));
  std::string_view text = buffer->text.substr(*line);
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  const size_t byte_in_line = std::min<size_t>(local - *line, text.size());
  SourceLocation location = {.name = buffer->name,
                             .line = static_cast<uint32_t>(line - starts.begin()) + buffer->first_line,
                             .column = static_cast<uint32_t>(CountCodePoints(text.substr(0, byte_in_line))) + 1,
                             .line_text = text,
                             .byte_in_line = byte_in_line};
  if (std::vector<CommentedPlace> places = PlacesInComment(text); !places.empty()) {
    location.name = KeepName(std::move(places.front().name));
    location.line = places.front().line;
    location.column = places.front().column;
  }
  return location;
}

std::string_view SourceManager::Text(SourceSpan span) const {
  const std::scoped_lock lock(mutex_);
  const Buffer* buffer = Find(span.begin);
  if (buffer == nullptr || span.end < span.begin) return {};
  return buffer->text.substr(span.begin - buffer->base, span.end - span.begin);
}

}  // namespace iropt

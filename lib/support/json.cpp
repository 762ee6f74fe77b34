// On the sections of weights in a module's text, RapidJSON is five times faster than nlohmann's parser with callbacks.
#include "iropt/support/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#ifdef __SSE2__
#define RAPIDJSON_SSE2
#endif
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

namespace iropt {

namespace {

// RapidJSON reads blocks of 16 bytes, at aligned addresses, up to the one with the final zero.
constexpr size_t kPadding = 16;
constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag;
// Values are counted only after parsing: room for one in 8 bytes of the text, of which unused pages cost nothing, but
// not more than this.
constexpr size_t kMostReserved = size_t{1} << 16;

// Receives the values of a text. The names of functions are RapidJSON's.
class ItemBuilder {
 public:
  explicit ItemBuilder(std::vector<JsonItem>& items) : items_(items) {}

  bool Null() { return Add(JsonKind::kNull); }
  bool Bool(bool value) { return Add(JsonKind::kBool, value ? 1 : 0); }
  bool Int(int value) { return Add(JsonKind::kInteger, value); }
  bool Uint(unsigned value) { return Add(JsonKind::kInteger, value); }
  bool Int64(int64_t value) { return Add(JsonKind::kInteger, value); }
  bool Uint64(uint64_t value) {
    const bool fits = value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return fits ? Add(JsonKind::kInteger, static_cast<int64_t>(value)) : Add(JsonKind::kFloat);
  }
  bool Double(double) { return Add(JsonKind::kFloat); }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return false; }  // with another flag only
  bool String(const char* string, rapidjson::SizeType size, bool) {
    JsonItem& item = items_.emplace_back();
    item.kind = JsonKind::kString;
    item.size = size;
    item.string = string;
    return true;
  }
  bool Key(const char* string, rapidjson::SizeType size, bool copy) { return String(string, size, copy); }
  bool StartObject() { return Open(JsonKind::kObject); }
  bool EndObject(rapidjson::SizeType) { return Close(); }
  bool StartArray() { return Open(JsonKind::kArray); }
  bool EndArray(rapidjson::SizeType) { return Close(); }

 private:
  bool Add(JsonKind kind, int64_t integer = 0) {
    JsonItem& item = items_.emplace_back();
    item.kind = kind;
    item.integer = integer;
    return true;
  }
  bool Open(JsonKind kind) {
    open_.push_back(items_.size());
    return Add(kind);
  }
  bool Close() {
    items_[open_.back()].size = static_cast<uint32_t>(items_.size() - open_.back());
    open_.pop_back();
    return true;
  }

  std::vector<JsonItem>& items_;
  std::vector<size_t> open_;  // the arrays and objects around the next value
};

Error ErrorAt(std::string_view text, size_t offset, std::string message) {
  const std::string_view before = text.substr(0, offset);
  const size_t line = 1 + static_cast<size_t>(std::ranges::count(before, '\n'));
  const size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  return {ErrorCode::Parse, fmt::format("parse error at line {}, column {}: {}", line, column, message)};
}

// RapidJSON's messages are sentences.
std::string MessageOf(rapidjson::ParseErrorCode code) {
  std::string message = rapidjson::GetParseError_En(code);
  message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  if (message.ends_with('.')) message.pop_back();
  return message;
}

// Checking the encoding takes RapidJSON's slow way through strings.
bool IsAscii(std::string_view text) {
  unsigned char bits = 0;
  for (const char c : text) bits |= static_cast<unsigned char>(c);
  return bits < 0x80;
}

Error WrongKind(std::string_view kind, std::string_view expected) {
  return {ErrorCode::Parse, fmt::format("invalid {}: expected {}", kind, expected)};
}

}  // namespace

Result<JsonText> JsonText::Parse(std::string_view text) {
  if (text.size() > std::numeric_limits<uint32_t>::max()) return ErrorAt(text, 0, "the text is too long");
  // For RapidJSON, a zero ends the text.
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos)
    return ErrorAt(text, zero, "invalid control character");
  JsonText json;
  json.text_ = std::make_unique_for_overwrite<char[]>(text.size() + kPadding);
  if (!text.empty()) std::memcpy(json.text_.get(), text.data(), text.size());
  std::memset(json.text_.get() + text.size(), 0, kPadding);
  rapidjson::InsituStringStream stream(json.text_.get());
  json.items_.reserve(std::min(text.size() / 8, kMostReserved));
  ItemBuilder builder(json.items_);
  rapidjson::Reader reader;
  const rapidjson::ParseResult result =
      IsAscii(text) ? reader.Parse<kFlags>(stream, builder)
                    : reader.Parse<kFlags | rapidjson::kParseValidateEncodingFlag>(stream, builder);
  if (result.IsError()) return ErrorAt(text, std::min(result.Offset(), text.size()), MessageOf(result.Code()));
  return json;
}

std::string_view JsonValue::KindName() const {
  static constexpr std::string_view kNames[] = {"null", "boolean", "integer", "float", "string", "array", "object"};
  return kNames[static_cast<size_t>(item_->kind)];
}

Result<int64_t> JsonValue::AsInteger() const {
  if (!is_integer()) return WrongKind(KindName(), "an integer");
  return integer();
}

Result<std::string_view> JsonValue::AsString() const {
  if (!is_string()) return WrongKind(KindName(), "a string");
  return string();
}

std::optional<JsonValue> JsonValue::Find(std::string_view key) const {
  for (const auto& [name, value] : members()) {
    if (name == key) return value;
  }
  return std::nullopt;
}

Result<JsonValue> JsonValue::At(std::string_view key) const {
  if (!is_object()) return WrongKind(KindName(), "an object");
  if (const auto found = Find(key)) return *found;
  return Error{ErrorCode::Parse, fmt::format("key '{}' not found", key)};
}

}  // namespace iropt

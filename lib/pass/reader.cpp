#include "reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "iropt/pass/located_text.h"
#include "word.h"

namespace iropt {

namespace {

void AppendUtf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int extra = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr uint32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kLead[extra] | (code >> (6 * extra)));
  for (int i = extra - 1; i >= 0; --i) out += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
}

}  // namespace

bool Reader::AtEnd() {
  while (position_ < text_.size() && std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos)
    ++position_;
  return position_ == text_.size();
}

char Reader::Peek() { return AtEnd() ? '\0' : text_[position_]; }

bool Reader::Consume(char c) {
  if (failed_ || AtEnd() || text_[position_] != c) return false;
  ++position_;
  return true;
}

bool Reader::Expect(char c, std::string_view where) {
  if (Consume(c)) return true;
  Error(fmt::format("expected '{}' {}", c, where));
  return false;
}

bool Reader::ExpectClosing(char c, std::string_view where, SourceSpan opened) {
  if (Consume(c)) return true;
  if (!failed_) {
    diagnostics_.Error(SpanOfNext(), "pipeline-syntax", fmt::format("expected '{}' {}", c, where))
        .Note(opened, "to match this bracket");
  }
  failed_ = true;
  return false;
}

std::string_view Reader::TakeWord() {
  AtEnd();
  const size_t begin = position_;
  while (position_ < text_.size() && IsWordChar(text_[position_])) ++position_;
  return text_.substr(begin, position_ - begin);
}

SourceSpan Reader::SpanOfNext() {
  AtEnd();
  const size_t begin = position_;
  size_t end = begin;
  while (end < text_.size() && IsWordChar(text_[end])) ++end;
  if (end == begin && end < text_.size()) end += CodePointLength(text_.substr(begin));
  return Span(begin, end);
}

void Reader::Error(const std::string& message) { ErrorAt(SpanOfNext(), message); }

void Reader::ErrorAt(SourceSpan span, const std::string& message) {
  if (!failed_) diagnostics_.Error(span, "pipeline-syntax", message);
  failed_ = true;
}

bool Reader::Enter() {
  if (++depth_ <= kMaxNesting) return true;
  Error(fmt::format("nested more than {} levels deep", kMaxNesting));
  return false;
}

std::optional<OptionValue> Reader::ReadValue() {
  AtEnd();
  const size_t begin = position_;
  std::optional<OptionValue> value = ReadUnlocated();
  if (value) value->set_span(SpanFrom(begin));
  return value;
}

std::optional<OptionValue> Reader::ReadUnlocated() {
  const char next = Peek();
  if (next == '"') {
    std::optional<std::string> text = ReadString();
    return text ? std::optional<OptionValue>(*std::move(text)) : std::nullopt;
  }
  if (next != '[' && next != '{') return ReadAtom();
  if (!Enter()) return std::nullopt;
  std::optional<OptionValue> value = next == '[' ? ReadList() : ReadDict();
  Leave();
  return value;
}

std::optional<OptionValue> Reader::ReadAtom() {
  const size_t begin = position_;
  const std::string_view word = TakeWord();
  const SourceSpan span = SpanFrom(begin);
  if (word.empty()) {
    Error("expected a value");
    return std::nullopt;
  }
  std::optional<OptionValue> value = WordValue(word);
  if (!value) {
    ErrorAt(span, "number out of range");
  } else if (words_ == Words::Json && value->as_string() != nullptr) {
    ErrorAt(span, "expected a value; strings need double quotes");
    return std::nullopt;
  }
  return value;
}

std::optional<OptionValue> Reader::ReadList() {
  OptionValue::List items;
  const SourceSpan opened = SpanOfNext();
  Consume('[');
  if (Consume(']')) return OptionValue(std::move(items));
  do {
    std::optional<OptionValue> item = ReadValue();
    if (!item) return std::nullopt;
    items.push_back(*std::move(item));
  } while (Consume(','));
  if (!ExpectClosing(']', "or ',' in the list", opened)) return std::nullopt;
  return OptionValue(std::move(items));
}

std::optional<OptionValue> Reader::ReadDict() {
  OptionValue::Dict entries;
  const SourceSpan opened = SpanOfNext();
  Consume('{');
  if (Consume('}')) return OptionValue(std::move(entries));
  do {
    AtEnd();
    const size_t begin = position_;
    std::optional<std::string> key = ReadKey();
    if (!key) return std::nullopt;
    const SourceSpan key_span = SpanFrom(begin);
    if (std::ranges::find(entries, *key, &OptionValue::Entry::key) != entries.end()) {
      ErrorAt(key_span, fmt::format("'{}' is given twice", *key));
      return std::nullopt;
    }
    if (!Expect(':', "after the key")) return std::nullopt;
    std::optional<OptionValue> value = ReadValue();
    if (!value) return std::nullopt;
    entries.push_back({*std::move(key), *std::move(value), key_span});
  } while (Consume(','));
  if (!ExpectClosing('}', "or ',' in the object", opened)) return std::nullopt;
  return OptionValue(std::move(entries));
}

std::optional<std::string> Reader::ReadKey() {
  if (Peek() == '"') return ReadString();
  const std::string_view word = words_ == Words::Bare ? TakeWord() : std::string_view();
  if (!word.empty()) return std::string(word);
  Error("expected a key in double quotes");
  return std::nullopt;
}

std::optional<std::string> Reader::ReadString() {
  const size_t begin = position_++;
  std::string out;
  while (position_ < text_.size() && text_[position_] != '"') {
    const char c = text_[position_];
    if (c == '\\') {
      if (!ReadEscape(out)) return std::nullopt;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      break;  // a line break or another control character
    } else {
      out += c;
      ++position_;
    }
  }
  if (position_ == text_.size() || text_[position_] != '"') {
    ErrorAt(SpanFrom(begin), "unterminated string");
    return std::nullopt;
  }
  ++position_;
  return out;
}

bool Reader::ReadEscape(std::string& out) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const size_t begin = position_++;
  const char letter = position_ < text_.size() ? text_[position_++] : '\0';
  if (const size_t i = kLetters.find(letter); i != std::string_view::npos) {
    out += kMeanings[i];
    return true;
  }
  std::optional<uint32_t> code = letter == 'u' ? ReadHex4() : std::nullopt;
  if (code && *code >= 0xD800 && *code < 0xDC00 && text_.substr(position_).starts_with("\\u")) {
    position_ += 2;
    const std::optional<uint32_t> low = ReadHex4();
    const bool pair = low && *low >= 0xDC00 && *low < 0xE000;
    code = pair ? std::optional(0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00)) : std::nullopt;
  }
  if (!code || (*code >= 0xD800 && *code < 0xE000)) {
    ErrorAt(SpanFrom(begin), "unknown escape in a string");
    return false;
  }
  AppendUtf8(out, *code);
  return true;
}

std::optional<uint32_t> Reader::ReadHex4() {
  const std::string_view digits = text_.substr(std::min(position_, text_.size()), 4);
  uint32_t code = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (error != std::errc() || digits.size() != 4 || end != digits.data() + 4) return std::nullopt;
  position_ += 4;
  return code;
}

static std::optional<OptionValue> ReadAll(Reader& reader) {
  std::optional<OptionValue> value = reader.ReadValue();
  if (!reader.failed() && !reader.AtEnd()) reader.Error("expected the end of the text");
  return reader.failed() ? std::nullopt : std::move(value);
}

std::optional<OptionValue> ReadOptionValue(std::string_view json, SourceSpan whole, DiagnosticEngine& diagnostics) {
  Reader reader(json, whole, Reader::Words::Json, diagnostics);
  return ReadAll(reader);
}

std::optional<OptionValue> ReadLocatedOptionValue(std::string_view json, uint32_t base, DiagnosticEngine& diagnostics) {
  Reader reader(json, base, Reader::Words::Json, diagnostics);
  return ReadAll(reader);
}

}  // namespace iropt

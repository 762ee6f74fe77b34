#include "iropt/pass/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "word.h"

namespace iropt {

Value::Value() = default;
Value::Value(bool value) : data_(value) {}
Value::Value(int value) : data_(int64_t{value}) {}
Value::Value(int64_t value) : data_(value) {}
Value::Value(double value) : data_(value) {}
Value::Value(std::string value) : data_(std::move(value)) {}
Value::Value(std::string_view value) : data_(std::string(value)) {}
Value::Value(const char* value) : data_(std::string(value)) {}
Value::Value(List value) : data_(std::move(value)) {}
Value::Value(Dict value) : data_(std::move(value)) {}
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

bool operator==(const Value& a, const Value& b) { return a.data_ == b.data_; }

std::string_view Value::KindName() const {
  constexpr std::string_view kNames[] = {"null",     "a boolean", "an integer", "a floating-point number",
                                         "a string", "a list",    "an object"};
  return kNames[data_.index()];
}

const Value* Value::Find(std::string_view key) const {
  const Dict* dict = as_dict();
  if (dict == nullptr) return nullptr;
  const auto entry = std::ranges::find(*dict, key, &Entry::key);
  return entry == dict->end() ? nullptr : &entry->value;
}

std::optional<Value> WordValue(std::string_view word) {
  if (word == "null") return Value();
  if (word == "true") return Value(true);
  if (word == "false") return Value(false);
  const char* last = word.data() + word.size();
  int64_t integer = 0;
  if (const auto [end, error] = std::from_chars(word.data(), last, integer); end == last) {
    if (error == std::errc()) return Value(integer);
    return std::nullopt;
  }
  // from_chars also knows "inf" and "nan", which JSON does not.
  const bool numeric = !word.empty() && word.find_first_not_of("+-.0123456789eE") == std::string_view::npos;
  double number = 0;
  if (const auto [end, error] = std::from_chars(word.data(), last, number); numeric && end == last) {
    if (error == std::errc()) return Value(number);
    return std::nullopt;
  }
  return Value(word);
}

namespace {

// Writes values as JSON, with bare words in place of strings or without.
class Writer {
 public:
  explicit Writer(bool bare_words) : bare_words_(bare_words) {}

  void Append(const Value& value) {
    if (const bool* b = value.as_bool()) {
      out_ += *b ? "true" : "false";
    } else if (const int64_t* i = value.as_int()) {
      out_ += std::to_string(*i);
    } else if (const double* d = value.as_double()) {
      AppendDouble(*d);
    } else if (const std::string* s = value.as_string()) {
      AppendString(*s);
    } else if (const Value::List* list = value.as_list()) {
      AppendSequence(*list, "[]", [&](const Value& item) { Append(item); });
    } else if (const Value::Dict* dict = value.as_dict()) {
      AppendSequence(*dict, "{}", [&](const Value::Entry& entry) {
        AppendQuoted(entry.key);
        out_ += bare_words_ ? ":" : ": ";
        Append(entry.value);
      });
    } else {
      out_ += "null";
    }
  }

  std::string Take() { return std::move(out_); }

 private:
  void AppendQuoted(std::string_view text) {
    out_ += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        out_ += fmt::format("\\u{:04x}", static_cast<int>(c));
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }

  // As a bare word where it would be read back as this string.
  void AppendString(const std::string& text) {
    const bool is_word = bare_words_ && IsWord(text);
    const std::optional<Value> read_back = is_word ? WordValue(text) : std::nullopt;
    if (read_back && read_back->as_string() != nullptr) {
      out_ += text;
    } else {
      AppendQuoted(text);
    }
  }

  void AppendDouble(double value) {
    const std::string text = fmt::format("{}", value);
    out_ += text;
    if (text.find_first_of(".e") == std::string::npos) out_ += ".0";
  }

  template <class T, class F>
  void AppendSequence(const std::vector<T>& items, std::string_view brackets, F&& append) {
    out_ += brackets[0];
    for (size_t i = 0; i < items.size(); ++i) {
      if (i != 0) out_ += bare_words_ ? "," : ", ";
      append(items[i]);
    }
    out_ += brackets[1];
  }

  const bool bare_words_;
  std::string out_;
};

std::string Write(const Value& value, bool bare_words) {
  Writer writer(bare_words);
  writer.Append(value);
  return writer.Take();
}

}  // namespace

std::string ToString(const Value& value) { return Write(value, /*bare_words=*/true); }

std::string ToJson(const Value& value) { return Write(value, /*bare_words=*/false); }

}  // namespace iropt

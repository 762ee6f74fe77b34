#include "iropt/pass/option_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "word.h"

namespace iropt {

OptionValue::OptionValue() = default;
OptionValue::OptionValue(bool value) : data_(value) {}
OptionValue::OptionValue(int value) : data_(int64_t{value}) {}
OptionValue::OptionValue(int64_t value) : data_(value) {}
OptionValue::OptionValue(double value) : data_(value) {}
OptionValue::OptionValue(std::string value) : data_(std::move(value)) {}
OptionValue::OptionValue(std::string_view value) : data_(std::string(value)) {}
OptionValue::OptionValue(const char* value) : data_(std::string(value)) {}
OptionValue::OptionValue(List value) : data_(std::move(value)) {}
OptionValue::OptionValue(Dict value) : data_(std::move(value)) {}
OptionValue::OptionValue(const OptionValue&) = default;
OptionValue::OptionValue(OptionValue&&) noexcept = default;
OptionValue& OptionValue::operator=(const OptionValue&) = default;
OptionValue& OptionValue::operator=(OptionValue&&) noexcept = default;
OptionValue::~OptionValue() = default;

bool operator==(const OptionValue& a, const OptionValue& b) { return a.data_ == b.data_; }

std::string_view OptionValue::KindName() const {
  constexpr std::string_view kNames[] = {"null",     "a boolean", "an integer", "a floating-point number",
                                         "a string", "a list",    "an object"};
  return kNames[data_.index()];
}

std::span<const OptionValue::Entry> OptionValue::entries() const {
  const Dict* dict = as_dict();
  return dict == nullptr ? std::span<const Entry>() : *dict;
}

const OptionValue* OptionValue::Find(std::string_view key) const {
  const Dict* dict = as_dict();
  if (dict == nullptr) return nullptr;
  const auto entry = std::ranges::find(*dict, key, &Entry::key);
  return entry == dict->end() ? nullptr : &entry->value;
}

std::optional<OptionValue> WordValue(std::string_view word) {
  if (word == "null") return OptionValue();
  if (word == "true") return OptionValue(true);
  if (word == "false") return OptionValue(false);
  const char* last = word.data() + word.size();
  int64_t integer = 0;
  if (const auto [end, error] = std::from_chars(word.data(), last, integer); end == last) {
    if (error == std::errc()) return OptionValue(integer);
    return std::nullopt;
  }
  // from_chars also knows "inf" and "nan", which JSON does not.
  const bool numeric = !word.empty() && word.find_first_not_of("+-.0123456789eE") == std::string_view::npos;
  double number = 0;
  if (const auto [end, error] = std::from_chars(word.data(), last, number); numeric && end == last) {
    if (error == std::errc()) return OptionValue(number);
    return std::nullopt;
  }
  return OptionValue(word);
}

namespace {

// Prints values as JSON, optionally with bare words instead of strings.
class Writer {
 public:
  explicit Writer(bool bare_words) : bare_words_(bare_words) {}

  void Append(const OptionValue& value) {
    if (const bool* b = value.as_bool()) {
      out_ += *b ? "true" : "false";
    } else if (const int64_t* i = value.as_int()) {
      out_ += std::to_string(*i);
    } else if (const double* d = value.as_double()) {
      AppendDouble(*d);
    } else if (const std::string* s = value.as_string()) {
      AppendString(*s);
    } else if (const OptionValue::List* list = value.as_list()) {
      AppendSequence(*list, "[]", [&](const OptionValue& item) { Append(item); });
    } else if (const OptionValue::Dict* dict = value.as_dict()) {
      AppendSequence(*dict, "{}", [&](const OptionValue::Entry& entry) {
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

  // As a bare word if it would be read back as this string.
  void AppendString(const std::string& text) {
    const bool is_word = bare_words_ && IsWord(text);
    const std::optional<OptionValue> read_back = is_word ? WordValue(text) : std::nullopt;
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

std::string Write(const OptionValue& value, bool bare_words) {
  Writer writer(bare_words);
  writer.Append(value);
  return writer.Take();
}

}  // namespace

std::string ToString(const OptionValue& value) { return Write(value, /*bare_words=*/true); }

std::string ToJson(const OptionValue& value) { return Write(value, /*bare_words=*/false); }

}  // namespace iropt

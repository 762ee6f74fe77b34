// Reading JSON: a text becomes one flat list of values, in the order of the text. For big texts of known structure: a
// value costs 16 bytes and no allocation, and strings are views of one copy of the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/support/result.h"

namespace iropt {

enum class JsonKind : uint8_t { kNull, kBool, kInteger, kFloat, kString, kArray, kObject };

// An item in the list of values of a JsonText. An array or object is followed by its items or by pairs of a key and a
// value.
struct JsonItem {
  JsonKind kind = JsonKind::kNull;
  uint32_t size = 1;  // of a string in bytes; of an array or object in items, itself included; otherwise 1
  union {
    int64_t integer = 0;
    const char* string;
  };

  // The number of items up to the next sibling.
  size_t step() const { return kind == JsonKind::kString ? 1 : size; }
};

class JsonMembers;

// A value in a JsonText, which must outlive it. Copying is cheap.
class JsonValue {
 public:
  explicit JsonValue(const JsonItem* item) : item_(item) {}

  bool is_integer() const { return item_->kind == JsonKind::kInteger; }
  bool is_string() const { return item_->kind == JsonKind::kString; }
  bool is_array() const { return item_->kind == JsonKind::kArray; }
  bool is_object() const { return item_->kind == JsonKind::kObject; }
  int64_t integer() const { return item_->integer; }                        // of an integer
  std::string_view string() const { return {item_->string, item_->size}; }  // of a string

  // Return the value, or for other kinds an error that names the expected one.
  Result<int64_t> AsInteger() const;
  Result<std::string_view> AsString() const;

  // The first member of an object with the key; none in other values. Linear in the number of members.
  std::optional<JsonValue> Find(std::string_view key) const;
  // Returns the first member with the key; a missing key and another kind of value are errors.
  Result<JsonValue> At(std::string_view key) const;

  // The items of an array, none of other values: `for (const JsonValue item : value)`.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = JsonValue;
    using difference_type = std::ptrdiff_t;
    using pointer = const JsonValue*;
    using reference = JsonValue;

    explicit Iterator(const JsonItem* at) : at_(at) {}
    JsonValue operator*() const { return JsonValue(at_); }
    Iterator& operator++() { return at_ += at_->step(), *this; }
    bool operator==(const Iterator&) const = default;

   private:
    const JsonItem* at_;
  };
  Iterator begin() const { return Iterator(item_ + 1); }
  Iterator end() const { return Iterator(item_ + (is_array() ? item_->size : 1)); }

  // The members of an object in the order of the text, none of other values; a key may be repeated.
  JsonMembers members() const;

 private:
  std::string_view KindName() const;

  const JsonItem* item_;
};

struct JsonMember {
  std::string_view key;
  JsonValue value;
};

class JsonMembers {
 public:
  class Iterator {
   public:
    explicit Iterator(const JsonItem* at) : at_(at) {}
    JsonMember operator*() const { return {JsonValue(at_).string(), JsonValue(at_ + 1)}; }
    Iterator& operator++() { return at_ += 1 + at_[1].step(), *this; }
    bool operator==(const Iterator&) const = default;

   private:
    const JsonItem* at_;
  };

  JsonMembers(const JsonItem* begin, const JsonItem* end) : begin_(begin), end_(end) {}
  Iterator begin() const { return Iterator(begin_); }
  Iterator end() const { return Iterator(end_); }

 private:
  const JsonItem* begin_;
  const JsonItem* end_;
};

inline JsonMembers JsonValue::members() const { return {item_ + 1, item_ + (is_object() ? item_->size : 1)}; }

class JsonText {
 public:
  // Linear, and iterative in the depth. The error has line and column in the text. Strings are valid UTF-8; numbers
  // that fit into int64_t and have neither fraction nor exponent are integers.
  static Result<JsonText> Parse(std::string_view text);

  JsonValue root() const { return JsonValue(items_.data()); }

 private:
  std::unique_ptr<char[]> text_;
  std::vector<JsonItem> items_;
};

}  // namespace iropt

// Annotations repeat: a model has a handful of different ones and thousands of bindings. This cache finds the type of
// an annotation by its spelling, without lexing it. Direct-mapped on a few bytes of the spelling; O(length) per
// look-up.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "iropt/ir/type.h"
#include "iropt/support/hash.h"

namespace iropt::text {

class TypeCache {
 public:
  struct Hit {
    const Type* type = nullptr;
    uint32_t length = 0;
  };

  // The type whose spelling `text` starts with; type == nullptr if the cache has none.
  Hit Find(std::string_view text) const {
    if (text.size() < kKeyBytes) return {};
    const Entry& e = entries_[Slot(text)];
    if (!e.type || e.epoch != epoch_ || text.size() < e.spelling.size() ||
        !EqualBytes(text.data(), e.spelling.data(), e.spelling.size()))
      return {};
    // "R.Tensor" must not match the start of "R.Tensor((2,))".
    const char next = text.size() > e.spelling.size() ? text[e.spelling.size()] : '\n';
    if (next != ' ' && next != ',' && next != ')' && next != ':' && next != '\n' && next != '\r') return {};
    return {e.type, static_cast<uint32_t>(e.spelling.size())};
  }

  void Insert(std::string_view spelling, const Type* type) {
    if (spelling.size() < kKeyBytes) return;
    entries_[Slot(spelling)] = {spelling, type, epoch_};
  }

  // To be called when a symbolic variable was defined.
  void Invalidate() { ++epoch_; }

 private:
  static constexpr size_t kKeyBytes = 24;  // as far as the dimensions of "R.Tensor((1, 64, 56, 56), ..."
  struct Entry {
    std::string_view spelling;
    const Type* type = nullptr;
    uint32_t epoch = 0;
  };

  static size_t Slot(std::string_view text) {
    uint64_t a, b;
    std::memcpy(&a, text.data() + 8, 8);
    std::memcpy(&b, text.data() + 16, 8);
    return (a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu) >> 57;
  }

  std::array<Entry, 128> entries_{};
  uint32_t epoch_ = 0;
};

}  // namespace iropt::text

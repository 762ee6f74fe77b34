#include "iropt/support/base64.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace iropt {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

bool DecodeBase64(std::string_view text, std::string& out) {
  static const std::array<int8_t, 256> values = [] {
    std::array<int8_t, 256> t;
    t.fill(-1);
    for (size_t i = 0; i < kBase64.size(); ++i) t[static_cast<uint8_t>(kBase64[i])] = static_cast<int8_t>(i);
    return t;
  }();
  out.clear();
  out.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=' || c == '\n' || c == '\r') continue;
    const int value = values[static_cast<uint8_t>(c)];
    if (value < 0) return false;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count);
  }
  return true;
}

void EncodeBase64(std::string_view bytes, FunctionRef<void(std::string_view)> append) {
  constexpr size_t kPart = 4096;
  std::string part;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < n ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) part += k <= n ? kBase64[group >> (18 - 6 * k) & 63] : '=';
    if (part.size() < kPart) continue;
    append(part);
    part.clear();
  }
  append(part);
}

}  // namespace iropt

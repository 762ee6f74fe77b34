// Text in pages of HTML.
#pragma once

#include <string>
#include <string_view>

namespace iropt {

// The text with the characters escaped that have a meaning in HTML.
inline std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace iropt

#include "printer_core.h"

#include <fmt/format.h>

#include <cmath>

namespace iropt::text {

void PrintImports(PrefixUse use, PrintContext& context) {
  const std::pair<bool, std::string_view> lines[] = {{use.ir, "# from tvm.script import ir as I"},
                                                     {use.tir, "# from tvm.script import tir as T"},
                                                     {use.relax, "# from tvm.script import relax as R"}};
  for (const auto& [used, line] : lines) {
    if (!used) continue;
    context.out.Append(line);
    context.NewLine();
  }
  context.NewLine();
}

void PrintString(std::string_view text, OutputStream& out) {
  out.Append('"');
  size_t plain = 0;
  const auto flush = [&](size_t end) { out.Append(text.substr(plain, end - plain)); };
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= ' ' && c < 127 && c != '"' && c != '\\') continue;
    flush(i);
    plain = i + 1;
    switch (c) {
      case '"': out.Append("\\\""); break;
      case '\\': out.Append("\\\\"); break;
      case '\t': out.Append("\\t"); break;
      case '\r': out.Append("\\r"); break;
      case '\n': out.Append("\\n"); break;
      default: {
        constexpr std::string_view kHex = "0123456789ABCDEF";
        const char hex[] = {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
        out.Append(std::string_view(hex, 4));
      }
    }
  }
  flush(text.size());
  out.Append('"');
}

void PrintFloat(double value, OutputStream& out) {
  fmt::memory_buffer text;
  if (std::isinf(value) || std::isnan(value)) {
    fmt::format_to(std::back_inserter(text), "\"{}\"",
                   std::isnan(value) ? (std::signbit(value) ? "-nan" : "nan")
                   : value < 0       ? "-inf"
                                     : "inf");
  } else if (std::nearbyint(value) == value) {
    fmt::format_to(std::back_inserter(text), "{:.1f}", value);
  } else {
    fmt::format_to(std::back_inserter(text), "{:.17g}", value);
  }
  out.Append(std::string_view(text.data(), text.size()));
}

void PrintInt(int64_t value, OutputStream& out) {
  const fmt::format_int text(value);
  out.Append(std::string_view(text.data(), text.size()));
}

}  // namespace iropt::text

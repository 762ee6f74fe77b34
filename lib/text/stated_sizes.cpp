#include "iropt/text/stated_sizes.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace iropt {

namespace {

std::optional<int64_t> ReadSize(std::string_view text) {
  int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  return error == std::errc() && end == text.data() + text.size() && size >= 0 ? std::optional(size) : std::nullopt;
}

Error Misuse(std::string_view flag, std::string_view form, std::string_view text) {
  return {ErrorCode::Usage, fmt::format("flag '{}' takes {}, not '{}'", flag, form, text)};
}

}  // namespace

Result<StatedSizes> ParseStatedSizes(std::span<const std::string> shapes, std::span<const std::string> symbols) {
  constexpr std::string_view kShapeForm = "NAME:SIZE,SIZE,..., such as x:1,3,?,224";
  StatedSizes sizes;
  for (const std::string& item : shapes) {
    // Names may have colons, too.
    const size_t colon = item.rfind(':');
    std::string_view size = item;
    if (colon != std::string::npos) {
      sizes.shapes.emplace_back(item.substr(0, colon), std::vector<std::optional<int64_t>>());
      size.remove_prefix(colon + 1);
      if (size.empty()) continue;  // a scalar
    }
    const std::optional<int64_t> number = ReadSize(size);
    if (sizes.shapes.empty() || sizes.shapes.back().first.empty() || (!number && size != "?"))
      return Misuse("-input-shape", kShapeForm, item);
    sizes.shapes.back().second.push_back(number);
  }
  for (const std::string& item : symbols) {
    const size_t equals = item.rfind('=');
    const std::optional<int64_t> number =
        equals == std::string::npos ? std::nullopt : ReadSize(std::string_view(item).substr(equals + 1));
    if (!number || equals == 0) return Misuse("-sym", "NAME=SIZE, such as n=16", item);
    sizes.symbols.emplace_back(item.substr(0, equals), *number);
  }
  return sizes;
}

}  // namespace iropt

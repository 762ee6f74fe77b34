// The row of ONNX files.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "iropt/exchange/format.h"

namespace iropt::formats {

namespace {

constexpr std::string_view kOnnxExtensions[] = {".onnx"};

// A varint of protobuf, which is taken from the front; nullopt if there is none.
std::optional<uint64_t> TakeVarint(std::string_view& bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// A ModelProto: its version and its graph are among its fields, and no others are there than it has. The graph may be
// cut off.
bool IsOnnx(std::string_view contents) {
  constexpr uint64_t kNumbers = 1 << 1 | 1 << 5;  // ir_version, model_version
  constexpr uint64_t kParts =
      1 << 2 | 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 14 | 1 << 20 | 1 << 25 | 1 << 26;
  uint64_t seen = 0;
  while (!contents.empty()) {
    const std::optional<uint64_t> tag = TakeVarint(contents);
    const uint64_t field = tag.value_or(0) >> 3;
    const uint64_t wire = tag.value_or(0) & 7;
    if (!tag || field > 26 || ((wire == 0 ? kNumbers : wire == 2 ? kParts : 0) >> field & 1) == 0) return false;
    const std::optional<uint64_t> value = TakeVarint(contents);
    if (!value) return false;
    if (wire == 2) contents.remove_prefix(std::min<uint64_t>(*value, contents.size()));
    seen |= uint64_t{1} << field;
  }
  constexpr uint64_t kNeeded = 1 << 1 | 1 << 7;
  return (seen & kNeeded) == kNeeded;
}

}  // namespace

extern const FormatRow onnx;
constinit const FormatRow onnx{.name = "onnx",
                               .extensions = kOnnxExtensions,
                               .sniff = &IsOnnx,
                               .is_text = false,
                               .max_constant_growth = 960,
                               .library = "libiropt_onnx.so"};

}  // namespace iropt::formats

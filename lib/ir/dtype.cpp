#include "iropt/ir/dtype.h"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "iropt/support/edit_distance.h"

namespace iropt {

namespace {

// The spelling of a type before its lanes. `fixed_bits` is the width of formats that have only one, whose spelling then
// includes it; otherwise the width follows, and `default_bits` applies if it is missing ("float" is float32).
struct Spelling {
  std::string_view prefix;
  TypeCode code;
  uint8_t fixed_bits;
  uint8_t default_bits;
};

// The first spelling of a code is the one that is printed (TVM 0.18's); later ones are read as well (TVM 0.26's). A
// prefix that others begin with ("float", "float8_e4m3") comes after them.
constexpr std::array kSpellings = {
    Spelling{"float8_e3m4", TypeCode::kFloat8E3M4, 8, 0},
    Spelling{"float8_e4m3b11fnuz", TypeCode::kFloat8E4M3B11Fnuz, 8, 0},
    Spelling{"float8_e4m3fnuz", TypeCode::kFloat8E4M3Fnuz, 8, 0},
    Spelling{"float8_e5m2fnuz", TypeCode::kFloat8E5M2Fnuz, 8, 0},
    Spelling{"float8_e8m0fnu", TypeCode::kFloat8E8M0, 8, 0},
    Spelling{"float6_e2m3fn", TypeCode::kFloat6E2M3, 6, 0},
    Spelling{"float6_e3m2fn", TypeCode::kFloat6E3M2, 6, 0},
    Spelling{"e4m3_float8", TypeCode::kFloat8E4M3, 8, 0},
    Spelling{"float8_e4m3fn", TypeCode::kFloat8E4M3, 8, 0},
    Spelling{"e5m2_float8", TypeCode::kFloat8E5M2, 8, 0},
    Spelling{"float8_e5m2", TypeCode::kFloat8E5M2, 8, 0},
    Spelling{"float8_e4m3", TypeCode::kFloat8E4M3Ieee, 8, 0},
    Spelling{"float4_e2m1fn", TypeCode::kFloat4E2M1, 4, 0},
    Spelling{"bfloat", TypeCode::kBFloat, 0, 16},
    Spelling{"bool", TypeCode::kUInt, 1, 0},
    Spelling{"handle", TypeCode::kHandle, 64, 0},
    Spelling{"uint", TypeCode::kUInt, 0, 32},
    Spelling{"int", TypeCode::kInt, 0, 32},
    Spelling{"float", TypeCode::kFloat, 0, 32},
};

// Takes a decimal number from the front of `text`; nullopt if there is none or it is not in 1..most.
std::optional<int> TakeNumber(std::string_view& text, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 1 || value > most) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

// "" is one lane, "x4" are four, "xvscalex4" four times a factor known at run time.
std::optional<int> ParseLanes(std::string_view text) {
  constexpr std::string_view kScalable = "xvscale";
  if (text.empty()) return 1;
  const bool scalable = text.starts_with(kScalable);
  if (scalable) text.remove_prefix(kScalable.size());
  if (!text.starts_with('x')) return std::nullopt;
  text.remove_prefix(1);
  const std::optional<int> lanes = TakeNumber(text, INT16_MAX);
  if (!lanes || !text.empty() || (scalable && *lanes == 1)) return std::nullopt;
  return scalable ? -*lanes : *lanes;
}

}  // namespace

std::optional<DataType> DataType::Parse(std::string_view text) {
  if (text.empty() || text == "void") return Void();
  for (const Spelling& s : kSpellings) {
    if (!text.starts_with(s.prefix)) continue;
    text.remove_prefix(s.prefix.size());
    int bits = s.fixed_bits != 0 ? s.fixed_bits : s.default_bits;
    if (s.fixed_bits == 0 && !text.empty() && text[0] != 'x') {
      const std::optional<int> written = TakeNumber(text, UINT8_MAX);
      if (!written) return std::nullopt;
      bits = *written;
    }
    const std::optional<int> lanes = ParseLanes(text);
    if (!lanes) return std::nullopt;
    return Make(s.code, bits, *lanes);
  }
  return std::nullopt;
}

std::string DataType::ToString() const {
  if (is_void()) return "void";
  if (is_handle()) return "handle";
  if (is_bool() && is_scalar()) return "bool";
  std::string text;
  for (const Spelling& s : kSpellings) {
    // A vector of booleans is spelled "uint1x4".
    if (s.code != code || (s.fixed_bits != 0 && is_uint())) continue;
    text = s.prefix;
    if (s.fixed_bits == 0) text += std::to_string(bits);
    break;
  }
  if (lanes > 1) text.append("x").append(std::to_string(lanes));
  if (lanes < -1) text.append("xvscalex").append(std::to_string(-lanes));
  return text;
}

std::string DescribeUnknownDType(std::string_view text) {
  static constexpr std::string_view kUsual[] = {
      "bool",   "int4",   "int8",    "int16",   "int32",   "int64",    "uint4",         "uint8",      "uint16",
      "uint32", "uint64", "float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2"};
  const std::optional<std::string_view> near = NearestName(text, kUsual);
  std::string message = "unknown data type \"" + std::string(text) + '"';
  if (near) message.append("; did you mean \"").append(*near).append("\"?");
  return message;
}

}  // namespace iropt

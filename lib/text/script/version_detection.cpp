#include "version_detection.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

#include "text_scan.h"

namespace iropt::text {

std::optional<TextVersion> VersionOfMetadata(std::string_view json) {
  constexpr std::string_view kKey = "tvm_version";
  constexpr std::string_view kMajor = "0.";
  const size_t key = json.rfind(kKey);
  if (key == std::string_view::npos) return std::nullopt;
  const std::string_view rest = json.substr(key + kKey.size());
  const size_t begin = rest.find_first_of("0123456789");
  if (begin == std::string_view::npos || !rest.substr(begin).starts_with(kMajor)) return std::nullopt;
  const std::string_view minor = rest.substr(begin + kMajor.size());
  unsigned number = 0;
  const char* const end = std::from_chars(minor.data(), minor.data() + minor.size(), number).ptr;
  if (end == minor.data()) return std::nullopt;
  // The main branch still calls itself 0.26 after that release.
  const bool is_main = minor.substr(static_cast<size_t>(end - minor.data())).starts_with(".dev");
  constexpr unsigned kOldest = 18, kNewest = 27;
  if (number < kOldest || number > kNewest) return std::nullopt;
  return static_cast<TextVersion>((is_main && number + 1 == kNewest ? kNewest : number) - kOldest);
}

namespace {

bool Has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool IsNameChar(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

// The next place of the part from `at` on that is not in a comment of its own line; npos if there is none.
size_t FindCode(std::string_view text, std::string_view part, size_t at) {
  for (at = text.find(part, at); at != std::string_view::npos; at = text.find(part, at + 1)) {
    const size_t line = text.rfind('\n', at) + 1;
    const size_t first = text.find_first_not_of(" \t", line);
    if (first == std::string_view::npos || text[first] != '#') return at;
  }
  return at;
}

// Whether the text has the name at the beginning of a string: ("n", 4) or ("n * 2",).
bool IsQuoted(std::string_view text, std::string_view name) {
  const std::string quoted = "\"" + std::string(name);
  for (size_t at = text.find(quoted); at != std::string_view::npos; at = text.find(quoted, at + 1)) {
    const size_t end = at + quoted.size();
    if (end < text.size() && !IsNameChar(text[end])) return true;
  }
  return false;
}

// Whether a function declares a symbolic variable, n = T.int64(), that its signature has in quotes. Since 0.27 such
// variables are declared before the function.
bool DeclaresQuotedNames(std::string_view functions) {
  constexpr std::string_view kDeclared = " = T.int64()", kFunction = "def ";
  size_t at = 0;
  while ((at = FindCode(functions, kDeclared, at + 1)) != std::string_view::npos) {
    const size_t line = functions.rfind('\n', at), function = functions.rfind(kFunction, at);
    if (line == std::string_view::npos || function == std::string_view::npos) continue;
    std::string_view name = functions.substr(line, at - line);
    name.remove_prefix(std::min(name.find_first_not_of("\n \t"), name.size()));
    name = name.substr(0, name.find(','));
    const std::string_view signature = functions.substr(function, functions.find('\n', function) - function);
    if (!name.empty() && IsQuoted(signature, name)) return true;
  }
  return false;
}

// A = T.match_buffer(a, (4,)): the buffer of a parameter. Since 0.26 only regions are matched.
bool MatchesParameters(std::string_view functions) {
  constexpr std::string_view kMatch = " = T.match_buffer(";
  size_t at = 0;
  while ((at = FindCode(functions, kMatch, at + 1)) != std::string_view::npos) {
    size_t end = at + kMatch.size();
    while (end < functions.size() && IsNameChar(functions[end])) ++end;
    if (end < functions.size() && functions[end] == ',') return true;
  }
  return false;
}

// Booleans in attributes are True instead of T.bool(True) since 0.21.
bool HasPlainFlags(std::string_view functions) {
  constexpr std::string_view kKey = "\"tir.";
  size_t at = 0;
  while ((at = FindCode(functions, kKey, at + 1)) != std::string_view::npos) {
    const size_t end = functions.find('"', at + 1);
    if (end != std::string_view::npos && functions.substr(end + 1).starts_with(": True")) return true;
  }
  return false;
}

// Devices in types have their memory scope since 0.23: vdevice="cuda:0:global".
bool HasDevicesWithoutScope(std::string_view functions) {
  constexpr std::string_view kDevice = "vdevice=\"";
  const size_t at = functions.find(kDevice);
  if (at == std::string_view::npos) return false;
  const size_t begin = at + kDevice.size();
  const std::string_view device = functions.substr(begin, functions.find('"', begin) - begin);
  return std::ranges::count(device, ':') < 2;
}

TextVersion NewestOfTirx(const VersionSigns& signs) {
  const bool has_old_names = Has(signs.functions, "out_sinfo=") || Has(signs.functions, "sinfo_args=");
  if (signs.is_printed && !signs.imports_axis) return TextVersion::kV0_24;
  if (has_old_names || (signs.is_printed && MatchesParameters(signs.functions)))
    return signs.imports_axis ? TextVersion::kV0_25 : TextVersion::kV0_24;
  return signs.is_printed && DeclaresQuotedNames(signs.functions) ? TextVersion::kV0_26 : TextVersion::kV0_27;
}

}  // namespace

std::optional<TextVersion> DetectVersion(const VersionSigns& signs) {
  if (signs.has_type_vars) return TextVersion::kV0_27;
  const auto fits = [&](TextVersion version) {
    return version >= TextVersion::kV0_24 ? !signs.imports_tir : !signs.imports_tirx;
  };
  if (signs.of_metadata && fits(*signs.of_metadata)) return signs.of_metadata;
  // TVM 0.26 renamed two arguments and a type of Relax.
  if (HasNewerName(signs.functions)) {
    const bool is_older = signs.is_printed && DeclaresQuotedNames(signs.functions);
    return is_older ? TextVersion::kV0_26 : TextVersion::kV0_27;
  }
  if (signs.imports_tirx) return NewestOfTirx(signs);
  if (!signs.imports_tir) return std::nullopt;
  if (!signs.is_printed || !HasPlainFlags(signs.functions)) return TextVersion::kV0_18;
  return HasDevicesWithoutScope(signs.functions) ? TextVersion::kV0_22 : TextVersion::kV0_23;
}

}  // namespace iropt::text

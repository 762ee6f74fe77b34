#include "version_detection.h"

#include <charconv>

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

std::optional<TextVersion> DetectVersion(const VersionSigns& signs) {
  if (signs.has_type_vars) return TextVersion::kV0_27;
  const auto fits = [&](TextVersion version) {
    return version >= TextVersion::kV0_24 ? !signs.imports_tir : !signs.imports_tirx;
  };
  if (signs.of_metadata && fits(*signs.of_metadata)) return signs.of_metadata;
  // TVM 0.26 renamed two arguments and a type of Relax.
  if (HasNewerName(signs.functions)) return TextVersion::kV0_27;
  const auto has = [&](std::string_view name) { return signs.functions.find(name) != std::string_view::npos; };
  if (signs.imports_tirx && (has("out_sinfo=") || has("sinfo_args=")))
    return signs.imports_axis ? TextVersion::kV0_25 : TextVersion::kV0_24;
  if (signs.imports_tirx) return TextVersion::kV0_27;
  return signs.imports_tir ? std::optional(TextVersion::kV0_18) : std::nullopt;
}

}  // namespace iropt::text

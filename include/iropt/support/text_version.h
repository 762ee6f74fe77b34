// The versions of TVM whose text (TVMScript) differs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace iropt {

// TVM's releases, oldest first; the text of a release is that of its mod.script(show_meta=True).
enum class TextVersion : uint8_t { kV0_18, kV0_19, kV0_20, kV0_21, kV0_22, kV0_23, kV0_24, kV0_25, kV0_26, kV0_27 };

inline constexpr std::array<std::string_view, 10> kTextVersions = {"0.18", "0.19", "0.20", "0.21", "0.22",
                                                                   "0.23", "0.24", "0.25", "0.26", "0.27"};

constexpr std::string_view ToString(TextVersion version) { return kTextVersions[static_cast<size_t>(version)]; }

constexpr std::optional<TextVersion> ParseTextVersion(std::string_view text) {
  for (size_t i = 0; i < kTextVersions.size(); ++i) {
    if (kTextVersions[i] == text) return static_cast<TextVersion>(i);
  }
  return std::nullopt;
}

// The versions from `since` on that come before `until`.
struct VersionRange {
  TextVersion since = TextVersion::kV0_18;
  std::optional<TextVersion> until = std::nullopt;

  constexpr bool Has(TextVersion version) const { return version >= since && (!until || version < *until); }
};

}  // namespace iropt

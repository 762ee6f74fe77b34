#include "iropt/semantics/options.h"

#include <fmt/format.h>

#include "iropt/support/edit_distance.h"

namespace iropt {

Result<InputKinds> InputKinds::Of(const std::vector<std::string>& words) {
  InputKinds kinds{false, false, false};
  if (words.empty()) return Error{ErrorCode::Usage, "expected kinds of inputs: ordinary, special, nonfinite"};
  for (const std::string& word : words) {
    bool* kind = word == "ordinary"    ? &kinds.ordinary
                 : word == "special"   ? &kinds.special
                 : word == "nonfinite" ? &kinds.non_finite
                                       : nullptr;
    if (kind == nullptr) {
      constexpr std::string_view kKinds[] = {"ordinary", "special", "nonfinite"};
      return Error{ErrorCode::Usage, fmt::format("unknown kind of inputs '{}'{}", word,
                                                 DidYouMeanOr(": expected one of ", word, kKinds))};
    }
    *kind = true;
  }
  return kinds;
}

std::vector<std::string> InputKinds::Words() const {
  std::vector<std::string> words;
  if (ordinary) words.emplace_back("ordinary");
  if (special) words.emplace_back("special");
  if (non_finite) words.emplace_back("nonfinite");
  return words;
}

}  // namespace iropt

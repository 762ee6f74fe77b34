#include "iropt/driver/flags.h"

#include <fmt/format.h>

namespace iropt {

std::string_view FlagGroupTitle(FlagGroup group) {
  constexpr std::string_view kTitles[] = {"Pipeline",
                                          "Function and inputs",
                                          "Reduction",
                                          "Input and output",
                                          "Input",
                                          "Output",
                                          "Checks",
                                          "Observation (on the standard error output)",
                                          "Help and lists (nothing else is done then)",
                                          "Other"};
  return kTitles[static_cast<size_t>(group)];
}

std::vector<std::string> WordsOf(const FlagValue& value) {
  std::vector<std::string> words;
  std::string_view rest = value.placeholder;
  while (!rest.empty()) {
    words.emplace_back(rest.substr(0, rest.find('|')));
    rest.remove_prefix(std::min(rest.size(), words.back().size() + 1));
  }
  return words;
}

bool AddsUp(const FlagValue& value) {
  return value.kind == ValueKind::List || value.kind == ValueKind::Repeated || value.kind == ValueKind::SwitchOrTexts;
}

bool IsOptionalValue(const FlagValue& value) {
  return value.kind == ValueKind::SwitchOrWord || value.kind == ValueKind::SwitchOrText ||
         value.kind == ValueKind::SwitchOrTexts;
}

bool TakesNextWord(const FlagValue& value) { return value.kind != ValueKind::Switch && !IsOptionalValue(value); }

std::string Spelling(const Flag& flag) {
  const std::string_view placeholder = flag.value.placeholder;
  if (flag.value.kind == ValueKind::Switch) return fmt::format("-{}", flag.name);
  if (IsOptionalValue(flag.value)) return fmt::format("-{}[={}]", flag.name, placeholder);
  return fmt::format("-{}={}", flag.name, placeholder);
}

}  // namespace iropt

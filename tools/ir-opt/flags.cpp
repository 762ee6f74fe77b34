#include "flags.h"

#include <fmt/format.h>

namespace iropt {

namespace {

#define IROPT_SWITCH                                                                                                   \
  {}
#define IROPT_TEXT(Placeholder, Completes)                                                                             \
  { ValueKind::Text, Placeholder, Completion::Completes }
#define IROPT_REPEATED(Placeholder, Completes)                                                                         \
  { ValueKind::Repeated, Placeholder, Completion::Completes }
#define IROPT_LIST(Placeholder, Completes)                                                                             \
  { ValueKind::List, Placeholder, Completion::Completes }
#define IROPT_NUMBER(Least, Most)                                                                                      \
  { ValueKind::Number, "N", Completion::None, Least, Most }
#define IROPT_WORD(Choices)                                                                                            \
  { ValueKind::Word, Choices, Completion::Words }
#define IROPT_SWITCH_OR_WORD(Choices)                                                                                  \
  { ValueKind::SwitchOrWord, Choices, Completion::Words }
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) {FlagGroup::Group, Name, Value, Summary, Details},

constexpr Flag kFlags[] = {
#include "flags.def"
};

#undef IROPT_SWITCH
#undef IROPT_TEXT
#undef IROPT_REPEATED
#undef IROPT_LIST
#undef IROPT_NUMBER
#undef IROPT_WORD
#undef IROPT_SWITCH_OR_WORD

}  // namespace

std::span<const Flag> Flags() { return kFlags; }

std::string_view FlagGroupTitle(FlagGroup group) {
  constexpr std::string_view kTitles[] = {"Pipeline",
                                          "Input and output",
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

bool TakesNextWord(const FlagValue& value) {
  return value.kind != ValueKind::Switch && value.kind != ValueKind::SwitchOrWord;
}

std::string Spelling(const Flag& flag) {
  const std::string_view placeholder = flag.value.placeholder;
  if (flag.value.kind == ValueKind::Switch) return fmt::format("-{}", flag.name);
  if (flag.value.kind == ValueKind::SwitchOrWord) return fmt::format("-{}[={}]", flag.name, placeholder);
  return fmt::format("-{}={}", flag.name, placeholder);
}

}  // namespace iropt

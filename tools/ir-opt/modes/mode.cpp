#include "ir-opt/modes/mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/arguments.h"
#include "ir-opt/flag_table.h"
#include "ir-opt/topics.h"
#include "iropt/support/edit_distance.h"

namespace iropt {

namespace {

constexpr const Mode* kModes[] = {&diff_mode,           &query_mode,     &eval_mode,   &list_mode,
                                  &verify_rules_mode,   &verify_mode,    &bisect_mode, &lint_mode,
                                  &print_pipeline_mode, &reproduce_mode, &extract_mode};

const Mode* FindNamedMode(std::string_view name) {
  const auto* mode = std::ranges::find(kModes, name, &Mode::name);
  return mode == std::end(kModes) ? nullptr : *mode;
}

// Returns whether a flag of the mode is among the words, and its last use does not turn it off.
bool IsSelected(const Mode& mode, const std::vector<std::string>& words) {
  return std::ranges::any_of(mode.selectors, [&](std::string_view selector) {
    bool is_on = false;
    for (const std::string& word : words) {
      if (word == "--") break;
      std::string_view text = word;
      if (!text.starts_with('-')) continue;
      text.remove_prefix(text.starts_with("--") ? 2 : 1);
      const std::string_view name = text.substr(0, text.find('='));
      if (name == selector) is_on = text.substr(name.size()) != "=false";
    }
    return is_on;
  });
}

// `ir-opt verify FILE` is `ir-opt -verify-only FILE`, and `ir-opt bisect verify FILE` is `ir-opt -bisect=verify FILE`.
void TranslateName(const Mode& mode, std::vector<std::string>& words) {
  if (mode.flag.empty()) return;
  if (!mode.flag_takes_argument) {
    words.insert(words.begin(), fmt::format("-{}", mode.flag));
  } else if (!words.empty() && !words.front().starts_with('-')) {
    words.front() = fmt::format("-{}={}", mode.flag, words.front());
  }
}

// The flag or the command that selects the mode, for messages.
std::string SelectorOf(const Mode& mode) {
  return mode.selectors.size() == 1 ? fmt::format("-{}", mode.selectors.front()) : std::string(mode.title);
}

}  // namespace

std::span<const Mode* const> Modes() { return kModes; }

const Mode* FindMode(std::vector<std::string>& words) {
  if (words.empty()) return nullptr;
  if (const Mode* mode = FindNamedMode(words.front())) {
    words.erase(words.begin());
    TranslateName(*mode, words);
    return mode;
  }
  std::vector<std::string> files;
  const Result<std::vector<std::string>> expanded = ExpandResponseFiles(words, files);
  if (!expanded.ok()) return nullptr;  // as the parser will say
  const auto* mode = std::ranges::find_if(kModes, [&](const Mode* row) { return IsSelected(*row, *expanded); });
  return mode == std::end(kModes) ? nullptr : *mode;
}

Status CheckCommand(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  const std::string& word = words.front();
  std::error_code error;
  if (word.find_first_of("-@./") != std::string::npos || std::filesystem::exists(word, error)) return {};
  std::vector<std::string_view> names;
  for (const Mode* mode : kModes) names.push_back(mode->name);
  const std::string meant = DidYouMean(word, names);
  return meant.empty() ? Status()
                       : Error{ErrorCode::Usage, fmt::format("no file or command is called '{}'{}", word, meant)};
}

std::span<const Flag> FlagsOfLine(std::string_view line) {
  const auto take_word = [&line] {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    return word;
  };
  take_word();  // the tool
  const std::string_view first = take_word();
  const Mode* mode = line.empty() ? nullptr : FindNamedMode(first);
  return mode == nullptr ? Flags() : mode->flags();
}

FlagRules RulesOf(const Mode& mode) { return {.others = Flags(), .mode = SelectorOf(mode)}; }

std::string DescribeFlagOfMode(std::string_view name) {
  for (const Mode* mode : Modes()) {
    const std::span<const Flag> flags = mode->flags();
    if (std::ranges::find(flags, name, &Flag::name) != flags.end())
      return fmt::format("flag '-{}' has no effect without '{}'", name, SelectorOf(*mode));
  }
  return {};
}

ToolDescription Describe(const Mode& mode) {
  return {.name = mode.title,
          .summary = mode.summary,
          .purpose = mode.summary,
          .arguments = mode.usage,
          .file_meaning = "",
          .flags = mode.flags(),
          .examples = mode.examples,
          .exit_codes = kExitCodes};
}

}  // namespace iropt

#include "cli/flag_parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <type_traits>

#include "cli/arguments.h"
#include "cli/compiler_flags.h"
#include "cli/foreign_flags.h"
#include "cli/tool.h"
#include "iropt/support/edit_distance.h"

namespace iropt {

namespace {

CLI::Validator Number(int64_t least, int64_t most) {
  const auto check = [=](const std::string& text) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool ok = error == std::errc() && end == text.data() + text.size() && value >= least && value <= most;
    if (ok) return std::string();
    const std::string limit =
        most == INT64_MAX ? fmt::format("from {}", least) : fmt::format("from {} to {}", least, most);
    return fmt::format("must be a number {}, not '{}'", limit, text);
  };
  return CLI::Validator(check, "");
}

CLI::Validator OneOf(std::vector<std::string> words) {
  const auto check = [words = std::move(words)](const std::string& text) {
    if (std::ranges::find(words, text) != words.end()) return std::string();
    const std::vector<std::string_view> known(words.begin(), words.end());
    return fmt::format("must be one of {}, not '{}'{}", fmt::join(words, ", "), text, DidYouMean(text, known));
  };
  return CLI::Validator(check, "");
}

CLI::Validator Real() {
  const auto check = [](const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= 0) return std::string();
    return fmt::format("must be a number from 0, not '{}'", text);
  };
  return CLI::Validator(check, "");
}

// A number may follow a flag of one letter, as in -j4.
const ForeignFlag* FindForeignFlag(std::string_view name) {
  const bool has_number = name.size() > 1 && name.find_first_not_of("0123456789", 1) == std::string_view::npos;
  const auto* row = std::ranges::find(kForeignFlags, has_number ? name.substr(0, 1) : name, &ForeignFlag::name);
  return row == std::ranges::end(kForeignFlags) ? nullptr : row;
}

// CLI11's message begins with the flag, with two dashes.
std::string DescribeParseError(const CLI::ParseError& error, std::span<const Flag> flags) {
  std::string what = error.what();
  const size_t colon = what.find(": ");
  if (!what.starts_with("--") || colon == std::string::npos) return what;
  const std::string flag = what.substr(1, colon - 1);
  const bool lacks_value = error.get_name() == "ArgumentMismatch";
  const auto row = std::ranges::find(flags, flag.substr(1), &Flag::name);
  const bool is_pair = row != flags.end() && row->value.kind == ValueKind::Pair;
  const std::string_view needed = is_pair ? "two values" : "a value";
  return lacks_value ? fmt::format("flag '{}' needs {}", flag, needed)
                     : fmt::format("flag '{}' {}", flag, what.substr(colon + 2));
}

// Of a flag with two dashes, with or without a value.
std::string_view NameOf(std::string_view word) { return word.substr(2, word.find('=') - 2); }

}  // namespace

FlagParser::FlagParser(std::string_view tool, std::span<const Flag> flags, const Arguments& arguments,
                       std::string& input, std::vector<std::string>* more_inputs, const FlagRules& rules)
    : tool_(tool),
      flags_(flags),
      arguments_(arguments),
      rules_(rules),
      more_inputs_(more_inputs),
      merged_(Merge()),
      app_(std::make_unique<CLI::App>()) {
  app_->set_help_flag();
  app_->allow_extras();
  app_->add_option(std::string(FlagExclusion::kInput), input);
}

FlagParser::~FlagParser() = default;

std::string FlagParser::DashedName(const Flag& flag) { return fmt::format("--{}", flag.name); }

bool FlagParser::IsMentioned(const Flag& flag) const {
  const auto names = [&](const std::string& word) { return word.starts_with("--") && NameOf(word) == flag.name; };
  return merged_.ok() && std::ranges::any_of(*merged_, names) && Find(flag.name) != nullptr;
}

void FlagParser::Bind(const Flag& flag, bool& member) {
  if (IsMentioned(flag)) app_->add_flag(DashedName(flag), member);
}

void FlagParser::Bind(const Flag& flag, std::vector<std::string>& member) {
  if (!IsMentioned(flag)) return;
  if (IsOptionalValue(flag.value)) {
    app_->add_flag(NameWithBareValue(flag), member);
    return;
  }
  CLI::Option* option = app_->add_option(DashedName(flag), member)->allow_extra_args(false);
  if (flag.value.kind == ValueKind::Pair) option->expected(2);
  if (flag.value.kind == ValueKind::List) option->delimiter(',');
}

template <class T>
void FlagParser::Bind(const Flag& flag, T& member) {
  if (!IsMentioned(flag)) return;
  CLI::Option* option = nullptr;
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::optional<std::string>>) {
    if (IsOptionalValue(flag.value)) option = app_->add_flag(NameWithBareValue(flag), member);
  }
  if (!option) option = app_->add_option(DashedName(flag), member);
  Constrain(*option, flag);
}

// The types of values in tables of flags.
template void FlagParser::Bind(const Flag& flag, std::string& member);
template void FlagParser::Bind(const Flag& flag, int& member);
template void FlagParser::Bind(const Flag& flag, int64_t& member);
template void FlagParser::Bind(const Flag& flag, size_t& member);
#if SIZE_MAX != UINT64_MAX
template void FlagParser::Bind(const Flag& flag, uint64_t& member);
#endif
template void FlagParser::Bind(const Flag& flag, std::optional<std::string>& member);
template void FlagParser::Bind(const Flag& flag, std::optional<int>& member);
template void FlagParser::Bind(const Flag& flag, std::optional<int64_t>& member);
template void FlagParser::Bind(const Flag& flag, std::optional<double>& member);

void FlagParser::Declare(const Flag& flag) {
  if (flag.value.kind == ValueKind::Switch) {
    Bind(flag, switches_.emplace_back());
  } else if (AddsUp(flag.value)) {
    Bind(flag, lists_.emplace_back());
  } else {
    Bind(flag, texts_.emplace_back());
  }
}

// As CLI11 takes the value of a flag that stands alone.
std::string FlagParser::NameWithBareValue(const Flag& flag) {
  const bool is_word = flag.value.kind == ValueKind::SwitchOrWord;
  return fmt::format("{}{{{}}}", DashedName(flag), is_word ? WordsOf(flag.value).front() : flag.value.bare);
}

void FlagParser::Constrain(CLI::Option& option, const Flag& flag) {
  option.multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  if (flag.value.kind == ValueKind::Number) option.check(Number(flag.value.least, flag.value.most));
  if (flag.value.kind == ValueKind::Real) option.check(Real());
  if (flag.value.completion == Completion::Words) option.check(OneOf(WordsOf(flag.value)));
}

// `name` is without dashes.
std::string FlagParser::DescribeUnknown(std::string_view name) const {
  if (std::ranges::find(rules_.others, name, &Flag::name) != rules_.others.end())
    return fmt::format("flag '-{}' has no effect with '{}'", name, rules_.mode);
  if (rules_.describe != nullptr) {
    if (std::string text = rules_.describe(name); !text.empty()) return text;
  }
  std::vector<std::string_view> known;
  for (const Flag& flag : flags_) known.push_back(flag.name);
  const std::string message = fmt::format("unknown flag '-{}'", name);
  if (const ForeignFlag* foreign = FindForeignFlag(name)) {
    if (foreign->ours.empty()) return fmt::format("{}; {}", message, foreign->why);
    if (std::ranges::find(known, foreign->our_name()) != known.end()) {
      return fmt::format("{}; the flag of {} is '{}'", message, tool_, foreign->ours);
    }
  }
  const std::optional<std::string_view> nearest = NearestName(name, known);
  return nearest ? fmt::format("{}; did you mean '-{}'?", message, *nearest) : message;
}

// Unknown flags, or inputs after the first one.
Status FlagParser::PlaceInputs(const std::vector<std::string>& unplaced) {
  bool literal = false;
  for (const std::string& argument : unplaced) {
    if (!literal && argument == "--") {
      literal = true;
    } else if (!literal && argument.size() > 1 && argument[0] == '-') {
      return Error{ErrorCode::Usage, DescribeUnknown(std::string_view(argument).substr(2, argument.find('=') - 2))};
    } else if (more_inputs_ == nullptr) {
      return Error{ErrorCode::Usage, fmt::format("more than one input: '{}'", argument)};
    } else {
      more_inputs_->push_back(argument);
    }
  }
  return {};
}

const Flag* FlagParser::Find(std::string_view name) const {
  const auto flag = std::ranges::find(flags_, name, &Flag::name);
  return flag == flags_.end() ? nullptr : &*flag;
}

bool FlagParser::Applies(const Flag& flag, const std::set<std::string_view>& given) const {
  return std::ranges::none_of(rules_.exclusions, [&](const FlagExclusion& exclusion) {
    const auto is_given = [&](std::string_view name) { return given.contains(name); };
    const bool is_other = std::ranges::find(exclusion.others, flag.name) != exclusion.others.end();
    return (is_other && is_given(exclusion.flag)) ||
           (flag.name == exclusion.flag && std::ranges::any_of(exclusion.others, is_given));
  });
}

// A default flag that the tool does not have is for another one, unless the tool is ir-opt, which has all of them.
bool FlagParser::Takes(std::string_view word, const std::set<std::string_view>& given) const {
  const Flag* flag = Find(NameOf(word));
  const std::string_view value = word.substr(std::min(word.find('='), word.size()));
  // That of another tool may have values.
  const bool fits = flag != nullptr &&
                    (flag->value.kind != ValueKind::Switch || value.empty() || value == "=true" || value == "=false");
  return fits ? Applies(*flag, given) : tool_ == "ir-opt";
}

// The words of one use of a flag, or one other word.
struct FlagParser::Use {
  const Flag* flag;  // null for other words, also unknown flags
  size_t begin;
  size_t end;
};

std::vector<FlagParser::Use> FlagParser::UsesIn(const std::vector<std::string>& words) const {
  std::vector<Use> uses;
  bool literal = false;
  for (size_t i = 0; i < words.size();) {
    literal |= words[i] == "--";
    const Flag* flag = !literal && words[i].starts_with("--") ? Find(NameOf(words[i])) : nullptr;
    const bool has_value = flag && TakesNextWord(flag->value);
    size_t more = has_value && words[i].find('=') == std::string::npos ? 1 : 0;
    if (has_value && flag->value.kind == ValueKind::Pair) ++more;
    // The empty word of "--flag=".
    if (flag && IsOptionalValue(flag->value) && i + 1 < words.size() && words[i + 1].empty()) ++more;
    const size_t end = std::min(i + 1 + more, words.size());
    uses.push_back({flag, i, end});
    i = end;
  }
  return uses;
}

// Of the uses of a flag that takes one value, or none, only the last one counts, and "=false" is as if there were none.
Result<std::vector<std::string>> FlagParser::KeepLast(const std::vector<std::string>& words) const {
  const std::vector<Use> uses = UsesIn(words);
  std::vector<std::string> kept;
  for (auto use = uses.begin(); use != uses.end(); ++use) {
    std::string first = words[use->begin];
    if (use->flag != nullptr && !AddsUp(use->flag->value)) {
      if (std::ranges::find(use + 1, uses.end(), use->flag, &Use::flag) != uses.end()) continue;
      const size_t equals = std::min(first.find('='), first.size());
      const std::string_view value = std::string_view(first).substr(equals);
      const bool is_switch = use->flag->value.kind == ValueKind::Switch;
      if (is_switch || IsOptionalValue(use->flag->value)) {
        if (value == "=false") continue;
        if (value == "=true") {
          first.resize(equals);
        } else if (is_switch && !value.empty()) {
          return Error{ErrorCode::Usage, fmt::format("flag '-{}' takes no value but true or false, not '{}'",
                                                     use->flag->name, value.substr(1))};
        }
      }
    }
    kept.push_back(std::move(first));
    kept.insert(kept.end(), words.begin() + static_cast<ptrdiff_t>(use->begin) + 1,
                words.begin() + static_cast<ptrdiff_t>(use->end));
  }
  return kept;
}

Result<std::vector<std::string>> FlagParser::Merge() {
  IROPT_ASSIGN_OR_RETURN(const std::vector<std::string> normalized,
                         NormalizeArguments(arguments_.words, flags_, response_files_, rules_.others));
  IROPT_ASSIGN_OR_RETURN(const std::vector<std::string> words, KeepLast(normalized));
  IROPT_ASSIGN_OR_RETURN(const std::vector<std::string> defaults,
                         NormalizeArguments(arguments_.defaults, flags_, response_files_));
  std::set<std::string_view> given;
  for (auto word = words.begin(); word != words.end() && *word != "--"; ++word) {
    if (word->starts_with("--")) given.insert(NameOf(*word));
  }
  std::vector<std::string> merged;
  for (auto word = defaults.begin(); word != defaults.end();) {
    if (!word->starts_with("--") || *word == "--")
      return Error{ErrorCode::Usage, fmt::format("'{}' is not a flag", *word)};
    const Flag* flag = Find(NameOf(*word));
    const auto next = word + 1;
    // The next word is the value; an empty one is that of "--flag=".
    const bool has_value = next != defaults.end() && word->find('=') == std::string::npos &&
                           (next->empty() || (!next->starts_with("--") && (!flag || TakesNextWord(flag->value))));
    const auto end = has_value ? next + 1 : next;
    if (Takes(*word, given)) merged.insert(merged.end(), word, end);
    word = end;
  }
  merged.insert(merged.end(), normalized.begin(), normalized.end());
  return KeepLast(merged);
}

// Of a flag with an optional value and a '=', the value is not empty; NormalizeArguments makes "--flag" and "" of
// "--flag=".
Status FlagParser::CheckOptionalValues() const {
  const std::vector<std::string>& arguments = *merged_;
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& argument = arguments[i];
    if (!argument.starts_with("--")) continue;
    const std::string_view name = NameOf(argument);
    const Flag* flag = Find(name);
    if (flag == nullptr) continue;
    if (IsOptionalValue(flag->value) && i + 1 < arguments.size() && arguments[i + 1].empty()) {
      return Error{ErrorCode::Usage, fmt::format("flag '-{}' needs a value after '='", name)};
    }
  }
  return {};
}

bool FlagParser::IsGiven(std::string_view name) const {
  const bool is_input = name == FlagExclusion::kInput;
  const CLI::Option* option = app_->get_option_no_throw(is_input ? std::string(name) : fmt::format("--{}", name));
  return option != nullptr && option->count() != 0;
}

std::span<const std::string> FlagParser::ValuesOf(const Flag& flag) const {
  const CLI::Option* option = app_->get_option_no_throw(DashedName(flag));
  return option == nullptr ? std::span<const std::string>() : option->results();
}

std::string FlagParser::Settings(std::span<const std::string_view> without) const {
  std::string text;
  for (const Flag& flag : flags_) {
    const bool is_left_out = std::ranges::find(without, flag.name) != without.end();
    if (is_left_out || !IsGiven(flag.name)) continue;
    text += flag.name;
    for (const std::string& value : ValuesOf(flag)) text += fmt::format("={}:{}", value.size(), value);
    text += '\n';
  }
  return text;
}

Status FlagParser::CheckExclusions() const {
  const auto is_given = [this](std::string_view name) { return IsGiven(name); };
  for (const FlagExclusion& exclusion : rules_.exclusions) {
    if (!IsGiven(exclusion.flag)) continue;
    const auto* other = std::ranges::find_if(exclusion.others, is_given);
    if (other == exclusion.others.end()) continue;
    const std::string what = *other == FlagExclusion::kInput ? "an input file" : fmt::format("flag '-{}'", *other);
    return Error{ErrorCode::Usage, fmt::format("{} has no effect with '-{}'", what, exclusion.flag)};
  }
  return {};
}

Status FlagParser::CheckRequirements() const {
  for (const FlagRequirement& requirement : rules_.requirements) {
    const bool has_alternative = !requirement.alternative.empty() && IsGiven(requirement.alternative);
    if (!IsGiven(requirement.flag) || IsGiven(requirement.needed) || has_alternative) continue;
    return Error{ErrorCode::Usage,
                 fmt::format("flag '-{}' has no effect without '-{}'", requirement.flag, requirement.needed)};
  }
  return {};
}

Status FlagParser::Parse() {
  const std::string format = FindDiagnosticFormat(arguments_.words);
  // For errors in response files.
  SetMessageFormat(ToDiagnosticFormat(format.empty() ? FindDiagnosticFormat(arguments_.defaults) : format));
  if (!merged_.ok()) return merged_.error();
  SetMessageFormat(ToDiagnosticFormat(FindDiagnosticFormat(*merged_)));
  IROPT_RETURN_IF_ERROR(CheckOptionalValues());
  try {
    app_->parse(std::vector<std::string>(merged_->rbegin(), merged_->rend()));  // CLI11 takes them from the back
  } catch (const CLI::ParseError& e) {
    return Error{ErrorCode::Usage, DescribeParseError(e, flags_)};
  }
  IROPT_RETURN_IF_ERROR(PlaceInputs(app_->remaining()));
  IROPT_RETURN_IF_ERROR(CheckExclusions());
  return CheckRequirements();
}

}  // namespace iropt

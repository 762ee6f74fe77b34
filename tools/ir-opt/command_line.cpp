#include "command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "arguments.h"
#include "flags.h"
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
    return fmt::format("must be one of {}, not '{}'", fmt::join(words, ", "), text);
  };
  return CLI::Validator(check, "");
}

std::string DashedName(const Flag& flag) { return fmt::format("--{}", flag.name); }

void Bind(CLI::App& app, const Flag& flag, bool& member) { app.add_flag(DashedName(flag), member); }

// One value, of which CheckRepetition refuses a second one.
template <class T>
void Bind(CLI::App& app, const Flag& flag, T& member) {
  CLI::Option* option = nullptr;
  const bool is_switch = flag.value.kind == ValueKind::SwitchOrWord;
  if (is_switch) {
    const std::string name = fmt::format("{}{{{}}}", DashedName(flag), WordsOf(flag.value).front());
    if constexpr (std::is_same_v<T, std::string>) option = app.add_flag(name, member);
  } else {
    option = app.add_option(DashedName(flag), member);
  }
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  if (flag.value.kind == ValueKind::Number) option->check(Number(flag.value.least, flag.value.most));
  if (flag.value.completion == Completion::Words) option->check(OneOf(WordsOf(flag.value)));
}

void Bind(CLI::App& app, const Flag& flag, std::vector<std::string>& member) {
  CLI::Option* option = app.add_option(DashedName(flag), member)->allow_extra_args(false);
  if (flag.value.kind == ValueKind::List) option->delimiter(',');
}

void BindAll(CLI::App& app, CommandLine& line) {
  const Flag* flag = Flags().data();
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) Bind(app, *flag++, line.Member);
#include "flags.def"
  app.add_option("input", line.driver.input);
}

// The arguments that CLI11 did not consume: unknown flags, or more than one input.
std::string DescribeUnplaced(const std::vector<std::string>& unplaced) {
  const bool is_literal = unplaced.front() == "--";
  if (is_literal && unplaced.size() == 1) return "";
  const std::string& argument = unplaced[is_literal ? 1 : 0];
  if (is_literal || argument.size() < 2 || argument[0] != '-')
    return fmt::format("more than one input: '{}'", argument);
  std::vector<std::string_view> known;
  for (const Flag& flag : Flags()) known.push_back(flag.name);
  const std::string name = argument.substr(2, argument.find('=') - 2);
  const std::optional<std::string_view> nearest = NearestName(name, known);
  std::string message = fmt::format("unknown flag '-{}'", name);
  if (nearest) message += fmt::format("; did you mean '-{}'?", *nearest);
  return message;
}

// CLI11's message begins with the flag, with two dashes.
std::string DescribeParseError(const CLI::ParseError& error) {
  const std::string what = error.what();
  const size_t colon = what.find(": ");
  if (!what.starts_with("--") || colon == std::string::npos) return what;
  const std::string flag = what.substr(1, colon - 1);
  const bool lacks_value = error.get_name() == "ArgumentMismatch";
  return lacks_value ? fmt::format("flag '{}' needs a value", flag)
                     : fmt::format("flag '{}' {}", flag, what.substr(colon + 2));
}

// A switch takes no value; CLI11 would parse it as a boolean or report its own message.
Status CheckSwitches(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    const size_t equals = argument.find('=');
    if (!argument.starts_with("--") || equals == std::string::npos) continue;
    const std::string name = argument.substr(2, equals - 2);
    const auto flag = std::ranges::find(Flags(), name, &Flag::name);
    if (flag == Flags().end() || flag->value.kind != ValueKind::Switch) continue;
    return Error{ErrorCode::Usage, fmt::format("flag '-{}' takes no value", name)};
  }
  return {};
}

// A flag that takes one value has it once: neither the first nor the last is silently dropped.
Status CheckRepetition(const CLI::App& app) {
  for (const Flag& flag : Flags()) {
    const bool adds_up = flag.value.kind == ValueKind::List || flag.value.kind == ValueKind::Repeated;
    if (adds_up || flag.value.kind == ValueKind::Switch) continue;
    const std::vector<std::string>& values = app.get_option(DashedName(flag))->results();
    if (values.size() < 2) continue;
    return Error{ErrorCode::Usage, fmt::format("flag '-{}' takes one value, but is given {}: '{}'", flag.name,
                                               values.size(), fmt::join(values, "', '"))};
  }
  return {};
}

// A flag that selects what is done, and those that would have no effect beside it.
struct Exclusion {
  std::string_view flag;
  std::initializer_list<std::string_view> others;
};

constexpr std::string_view kInput = "input";

// NOLINTNEXTLINE(readability-identifier-naming): GCC cannot make the table constexpr
const Exclusion kExclusions[] = {
    {"verify-only", {"passes",           "pipeline",          "opt-level",       "disable",          "require",
                     "config",           "print-pipeline",    "output",          "inline-constants", "verify-each",
                     "verify-roundtrip", "verify-idempotent", "no-verify",       "explain-pipeline", "print-before",
                     "print-after",      "print-before-all",  "print-after-all", "opt-bisect-limit", "instruments"}},
    {"eval",
     {kInput, "passes", "pipeline", "opt-level", "output", "verify-only", "split-input-file", "print-pipeline"}},
};

Status CheckExclusions(const CLI::App& app) {
  const auto is_given = [&](std::string_view name) {
    const bool is_input = name == kInput;
    return app.count(is_input ? std::string(name) : fmt::format("--{}", name)) != 0;
  };
  for (const Exclusion& exclusion : kExclusions) {
    if (!is_given(exclusion.flag)) continue;
    const auto* other = std::ranges::find_if(exclusion.others, is_given);
    if (other == exclusion.others.end()) continue;
    const std::string what = *other == kInput ? "an input file" : fmt::format("flag '-{}'", *other);
    return Error{ErrorCode::Usage, fmt::format("{} has no effect beside '-{}'", what, exclusion.flag)};
  }
  return {};
}

void TranslateWords(CommandLine& line) {
  if (line.print_pipeline == "text") line.driver.print_pipeline = PipelineForm::Text;
  if (line.print_pipeline == "json") line.driver.print_pipeline = PipelineForm::Json;
  if (line.diagnostics == "json") line.driver.compiler.diagnostics = DiagnosticFormat::Json;
  if (line.colour == "always") line.driver.compiler.colour = Colour::Always;
  if (line.colour == "never") line.driver.compiler.colour = Colour::Never;
}

}  // namespace

Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments) {
  CommandLine line;
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  BindAll(app, line);
  IROPT_ASSIGN_OR_RETURN(std::vector<std::string> normalized, NormalizeArguments(arguments));
  IROPT_RETURN_IF_ERROR(CheckSwitches(normalized));
  std::ranges::reverse(normalized);  // CLI11 takes them from the back
  try {
    app.parse(std::move(normalized));
  } catch (const CLI::ParseError& e) {
    return Error{ErrorCode::Usage, DescribeParseError(e)};
  }
  const std::vector<std::string> unplaced = app.remaining();
  const std::string problem = unplaced.empty() ? "" : DescribeUnplaced(unplaced);
  if (!problem.empty()) return Error{ErrorCode::Usage, problem};
  IROPT_RETURN_IF_ERROR(CheckRepetition(app));
  IROPT_RETURN_IF_ERROR(CheckExclusions(app));
  TranslateWords(line);
  return line;
}

}  // namespace iropt

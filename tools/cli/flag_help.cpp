#include "cli/flag_help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "cli/fit_lines.h"
#include "iropt/support/edit_distance.h"

namespace iropt {

namespace {

// Lines are not longer than people read with ease, however wide the terminal is.
constexpr size_t kWidestHelp = 100;

constexpr std::string_view kAllFlags = "flags";
constexpr std::string_view kExitCodesPage = "exit-codes";

// "  NAME      text", or the text below a name that leaves no room for it.
std::string RenderRow(std::string_view name, std::string_view text) {
  const std::string shown = fmt::format("  {}", name);
  const std::string gap = shown.size() + 1 < kFlagNameWidth ? std::string(kFlagNameWidth - shown.size(), ' ')
                                                            : fmt::format("\n{:{}}", "", kFlagNameWidth);
  return fmt::format("{}{}{}\n", shown, gap, text);
}

std::string RenderFlag(const Flag& flag, bool with_details) {
  std::string out = RenderRow(Spelling(flag), flag.summary);
  if (with_details && !flag.details.empty()) out += fmt::format("{:{}}{}\n", "", kFlagNameWidth, flag.details);
  return out;
}

// The first word of the title of a group, in small letters: the name of its page.
std::string PageOf(FlagGroup group) {
  const std::string_view title = FlagGroupTitle(group);
  std::string name(title.substr(0, title.find(' ')));
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

std::vector<std::string> Pages(const ToolDescription& tool) {
  std::vector<std::string> pages;
  ForEachFlag(tool.flags, [&](const Flag& flag, bool begins_group) {
    if (begins_group) pages.push_back(PageOf(flag.group));
  });
  pages.emplace_back(kAllFlags);
  pages.emplace_back(kExitCodesPage);
  pages.insert(pages.end(), tool.more_pages.begin(), tool.more_pages.end());
  return pages;
}

std::string RenderExitCodes(const ToolDescription& tool) { return fmt::format("\nExit codes:\n{}", tool.exit_codes); }

std::string RenderCommonFlags(const ToolDescription& tool) {
  std::string out = "\nCommon flags:\n";
  for (const std::string_view name : tool.common) {
    const auto flag = std::ranges::find(tool.flags, name, &Flag::name);
    if (flag != tool.flags.end()) out += RenderFlag(*flag, /*with_details=*/false);
  }
  return out;
}

}  // namespace

std::string FitHelp(std::string_view text) {
  return FitLines(text, std::min(OutputWidth().value_or(kUsualWidth), kWidestHelp));
}

std::string RenderFlags(std::span<const Flag> flags, bool with_details) {
  std::string out;
  ForEachFlag(flags, [&](const Flag& flag, bool begins_group) {
    if (begins_group) out += fmt::format("\n{}:\n", FlagGroupTitle(flag.group));
    out += RenderFlag(flag, with_details);
  });
  return out;
}

std::string RenderRows(std::span<const HelpRow> rows) {
  std::string out;
  for (const HelpRow& row : rows) out += RenderRow(row.name, row.text);
  return out;
}

std::string RenderHelpHead(const ToolDescription& tool) {
  std::string text = fmt::format("{}\n\nusage: {} {}\n", tool.purpose, tool.name, tool.arguments);
  if (!tool.file_meaning.empty()) text += '\n' + RenderRow("FILE", tool.file_meaning);
  return text;
}

std::string RenderHelp(const ToolDescription& tool) {
  const std::string head = fmt::format("{}\nExamples:\n{}", RenderHelpHead(tool), tool.examples);
  if (tool.common.empty()) {
    return fmt::format("{}{}{}\nMore: -help-all, man {}", head, RenderFlags(tool.flags, /*with_details=*/false),
                       RenderExitCodes(tool), tool.name);
  }
  return fmt::format("{}{}\nMore: -help-all; -help=PAGE, where PAGE is a flag or one of {}", head,
                     RenderCommonFlags(tool), fmt::join(Pages(tool), ", "));
}

std::string RenderHelpAll(const ToolDescription& tool) {
  return fmt::format("{}\nExamples:\n{}{}\n{}\n{}", RenderHelpHead(tool), tool.examples,
                     RenderFlags(tool.flags, /*with_details=*/true), kFlagRules, RenderExitCodes(tool));
}

Result<std::string> RenderHelpPage(const ToolDescription& tool, std::string_view page) {
  if (page == kCommonPage) return RenderHelp(tool) + '\n';
  if (page == kAllFlags) return RenderHelpHead(tool) + RenderFlags(tool.flags, /*with_details=*/false);
  if (page == kExitCodesPage) return fmt::format("Exit codes:\n{}", tool.exit_codes);
  std::string out;
  ForEachFlag(tool.flags, [&](const Flag& flag, bool begins_group) {
    if (PageOf(flag.group) != page) return;
    if (begins_group) out += fmt::format("{}{}:\n", out.empty() ? "" : "\n", FlagGroupTitle(flag.group));
    out += RenderFlag(flag, /*with_details=*/true);
  });
  if (!out.empty()) return out;
  const std::string_view name = page.substr(std::min(page.find_first_not_of('-'), page.size()));
  const auto flag = std::ranges::find(tool.flags, name, &Flag::name);
  if (flag != tool.flags.end()) return RenderFlag(*flag, /*with_details=*/true);
  const std::vector<std::string> pages = Pages(tool);
  std::vector<std::string_view> known(pages.begin(), pages.end());
  for (const Flag& other : tool.flags) known.push_back(other.name);
  std::string hint = DidYouMean(name, known);
  if (hint.empty()) hint = fmt::format("; expected a flag or one of {}", fmt::join(pages, ", "));
  return Error{ErrorCode::Usage, fmt::format("unknown page '{}' of the help{}", page, hint)};
}

}  // namespace iropt

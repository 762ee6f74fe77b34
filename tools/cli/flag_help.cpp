#include "cli/flag_help.h"

#include <fmt/format.h>

#include <algorithm>

namespace iropt {

namespace {

constexpr size_t kLineWidth = 100;

}  // namespace

std::string WrapText(std::string_view text, size_t indent) {
  std::string out;
  size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column + 1 + word.size() > kLineWidth) {
      out += fmt::format("\n{:{}}", "", indent);
      column = indent;
    } else if (column != indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

namespace {

std::string RenderFlag(const Flag& flag, bool with_details) {
  const std::string name = "  " + Spelling(flag);
  const std::string gap = name.size() < kFlagNameWidth ? std::string(kFlagNameWidth - name.size(), ' ')
                                                       : fmt::format("\n{:{}}", "", kFlagNameWidth);
  std::string out = name + gap + WrapText(flag.summary, kFlagNameWidth) + '\n';
  if (with_details && !flag.details.empty()) {
    out += fmt::format("{:{}}{}\n", "", kFlagNameWidth, WrapText(flag.details, kFlagNameWidth));
  }
  return out;
}

}  // namespace

std::string RenderFlags(std::span<const Flag> flags, bool with_details) {
  std::string out;
  ForEachFlag(flags, [&](const Flag& flag, bool begins_group) {
    if (begins_group) out += fmt::format("\n{}:\n", FlagGroupTitle(flag.group));
    out += RenderFlag(flag, with_details);
  });
  return out;
}

std::string RenderHelpHead(const ToolDescription& tool) {
  std::string text = fmt::format("{}\n\nusage: {} {}\n", tool.purpose, tool.name, tool.arguments);
  if (!tool.file_meaning.empty()) text += fmt::format("\n  {:{}}{}\n", "FILE", kFlagNameWidth - 2, tool.file_meaning);
  return text;
}

std::string RenderHelp(const ToolDescription& tool, bool with_details) {
  std::string text = RenderHelpHead(tool) + RenderFlags(tool.flags, with_details);
  if (with_details) text += fmt::format("\n{}\n\nExamples:\n{}", WrapText(kFlagRules, 0), tool.examples);
  text += fmt::format("\nExit codes:\n{}", tool.exit_codes);
  return with_details ? text : text + fmt::format("\nMore: -help-all, man {}\n", tool.name);
}

}  // namespace iropt

#include "help.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "flags.h"
#include "topics.h"

namespace iropt {

namespace {

constexpr size_t kNameWidth = 34;
constexpr size_t kLineWidth = 100;

// Wraps the text in lines that begin at the column `indent`; the first line is there already.
std::string Wrap(std::string_view text, size_t indent) {
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

std::string RenderFlag(const Flag& flag, bool with_details) {
  const std::string name = "  " + Spelling(flag);
  const std::string gap =
      name.size() < kNameWidth ? std::string(kNameWidth - name.size(), ' ') : fmt::format("\n{:{}}", "", kNameWidth);
  std::string out = name + gap + Wrap(flag.summary, kNameWidth) + '\n';
  if (with_details && !flag.details.empty()) {
    out += fmt::format("{:{}}{}\n", "", kNameWidth, Wrap(flag.details, kNameWidth));
  }
  return out;
}

std::string RenderFlags(bool with_details) {
  std::string out;
  std::optional<FlagGroup> group;
  for (const Flag& flag : Flags()) {
    if (group != flag.group) out += fmt::format("\n{}:\n", FlagGroupTitle(flag.group));
    group = flag.group;
    out += RenderFlag(flag, with_details);
  }
  return out;
}

std::string Head() {
  return fmt::format("{}\n\nusage: ir-opt [flags] [FILE]\n\n  {:{}}{}\n", kPurpose, "FILE", kNameWidth - 2,
                     "the module to read; '-' or nothing: the standard input");
}

}  // namespace

std::string RenderHelp() {
  return Head() + RenderFlags(/*with_details=*/false) +
         fmt::format("\nExit codes:\n{}\nMore: -help-all, -help-pipelines, -help-pass=NAME, man ir-opt\n", kExitCodes);
}

std::string RenderHelpAll() {
  return Head() + RenderFlags(/*with_details=*/true) +
         fmt::format("\n{}\n\nExamples:\n{}\nExit codes:\n{}", Wrap(kFlagRules, 0), kExamples, kExitCodes);
}

}  // namespace iropt

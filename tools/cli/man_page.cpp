#include "cli/man_page.h"

#include <fmt/format.h>

#include <cctype>

#include "cli/flag_help.h"
#include "iropt/support/version.h"

namespace iropt {

namespace {

constexpr std::string_view kTools[] = {"ir-opt", "ir-reduce", "ir-run"};

// Text for roff: no escapes, hyphens that can be copied, no line that looks like a request.
std::string Escape(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else {
      out += c;
    }
  }
  return out;
}

// A phrase as a sentence.
std::string Sentence(std::string_view phrase) {
  std::string text(phrase);
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + '.';
}

std::string RenderFlagEntries(std::span<const Flag> flags) {
  std::string out;
  ForEachFlag(flags, [&](const Flag& flag, bool begins_group) {
    if (begins_group) out += fmt::format(".SS \"{}\"\n", Escape(FlagGroupTitle(flag.group)));
    out += ManEntry(Spelling(flag), flag.summary, flag.details);
  });
  return out;
}

// The heading of the page: the name in capitals, the section, no date, and the version.
std::string Heading(std::string_view name) {
  std::string capitals;
  for (const char c : name) capitals += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return fmt::format(".TH {} 1 \"\" \"{}\" \"User Commands\"\n", Escape(capitals),
                     Escape(fmt::format("ir-opt {}", IROPT_VERSION)));
}

std::string RenderOtherTools(std::string_view name) {
  std::string out;
  for (const std::string_view tool : kTools) {
    if (tool != name) out += fmt::format("{}.BR {} (1)", out.empty() ? "" : ",\n", Escape(tool));
  }
  return out + '\n';
}

}  // namespace

std::string ManVerbatim(std::string_view text) { return fmt::format(".nf\n{}.fi\n", Escape(text)); }

std::string ManEntry(std::string_view name, std::string_view phrase, std::string_view details) {
  const std::string text = details.empty() ? Sentence(phrase) : fmt::format("{}\n{}", Sentence(phrase), details);
  return fmt::format(".TP\n.B {}\n{}\n", Escape(name), Escape(text));
}

std::string RenderManPage(const ToolDescription& tool, std::span<const ManSection> sections) {
  std::string out = Heading(tool.name);
  out += fmt::format(".SH NAME\n{} \\- {}\n", Escape(tool.name), Escape(tool.summary));
  out += fmt::format(".SH SYNOPSIS\n.B {}\n{}\n", Escape(tool.name), Escape(tool.arguments));
  const std::string_view input =
      tool.file_meaning.empty() ? "" : "The module comes from\n.I FILE\nor the standard input.\n";
  out += fmt::format(".SH DESCRIPTION\n{}\n{}{}\n", Escape(tool.purpose), input, Escape(kFlagRules));
  out += ".SH OPTIONS\n" + RenderFlagEntries(tool.flags);
  for (const ManSection& section : sections) out += fmt::format(".SH \"{}\"\n{}", section.title, section.text);
  out += ".SH \"EXIT STATUS\"\n" + ManVerbatim(tool.exit_codes);
  out += ".SH EXAMPLES\n" + ManVerbatim(tool.examples);
  return out + ".SH \"SEE ALSO\"\n" + RenderOtherTools(tool.name);
}

}  // namespace iropt

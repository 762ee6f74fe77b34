#include "man_page.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "cli/flag_help.h"
#include "flag_table.h"
#include "iropt/driver/catalog.h"
#include "topics.h"

namespace iropt {

namespace {

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

// Literal lines.
std::string Verbatim(std::string_view text) { return fmt::format(".nf\n{}.fi\n", Escape(text)); }

std::string Entry(std::string_view name, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", Escape(name), Escape(text));
}

// A sentence.
std::string Sentence(std::string_view phrase) {
  std::string text(phrase);
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + '.';
}

std::string RenderFlags() {
  std::string out;
  std::optional<FlagGroup> group;
  for (const Flag& flag : Flags()) {
    if (group != flag.group) out += fmt::format(".SS \"{}\"\n", Escape(FlagGroupTitle(flag.group)));
    group = flag.group;
    const std::string details = flag.details.empty() ? "" : fmt::format("\n{}", flag.details);
    out += Entry(Spelling(flag), Sentence(flag.summary) + details);
  }
  return out;
}

std::string RenderPassEntries(const PassRegistry& registry) {
  std::string out;
  for (const auto& [name, row] : registry.passes()) {
    out += Entry(fmt::format("{} (-O{})", name, row.info.opt_level), Sentence(row.summary));
  }
  return out;
}

std::string RenderInstrumentEntries(const PassRegistry& registry) {
  std::string out;
  for (const CatalogEntry& instrument : Instruments(registry)) {
    out += Entry(instrument.name, Sentence(instrument.summary));
  }
  return out;
}

}  // namespace

std::string RenderManPage(const PassRegistry& registry) {
  std::string out = fmt::format(".TH IR\\-OPT 1 \"\" \"ir\\-opt {}\" \"User Commands\"\n", IROPT_VERSION);
  out += ".SH NAME\nir\\-opt \\- optimize tensor programs in TVMScript\n";
  out += ".SH SYNOPSIS\n.B ir\\-opt\n[\\fIflags\\fR] [\\fIFILE\\fR]\n";
  out += fmt::format(".SH DESCRIPTION\n{}\nThe module comes from\n.I FILE\nor the standard input. {}\n",
                     Escape(kPurpose), Escape(kFlagRules));
  out += ".SH OPTIONS\n" + RenderFlags();
  out += ".SH PIPELINES\n" + Verbatim(kPipelines);
  out += ".SH PASSES\n" + RenderPassEntries(registry);
  out += ".SH INSTRUMENTS\n" + RenderInstrumentEntries(registry);
  out += ".SH \"EXIT STATUS\"\n" + Verbatim(kExitCodes);
  out += ".SH EXAMPLES\n" + Verbatim(kExamples);
  return out;
}

}  // namespace iropt

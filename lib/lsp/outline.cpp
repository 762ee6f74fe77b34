// The structure of a document: its symbols and what can be folded.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "features.h"
#include "iropt/driver/query.h"

namespace iropt::lsp {

namespace {

// SymbolKind of the protocol.
constexpr int kModuleSymbol = 2;
constexpr int kFunctionSymbol = 12;
constexpr int kVariableSymbol = 13;
constexpr int kObjectSymbol = 19;

// From the beginning of the line at the function to the end of its last line.
TextSpan SpanWithoutBlanks(const TextDocument& text, TextSpan span) {
  while (span.end > span.begin && std::isspace(static_cast<unsigned char>(text.text()[span.end - 1])) != 0) --span.end;
  return span;
}

Json Symbol(const TextDocument& text, std::string_view name, int kind, TextSpan span, TextSpan selection) {
  return {{"name", name},
          {"kind", kind},
          {"range", ToJson(text.RangeOf(span))},
          {"selectionRange", ToJson(text.RangeOf(selection))}};
}

// The blocks and the local functions of a function.
Json Children(const TextDocument& text, const ModulePart& part, const FunctionPart& function) {
  static constexpr std::array<std::string_view, 2> kBlocks = {".block", ".sblock"};
  Json children = Json::array();
  for (const Occurrence& occurrence : function.reading->occurrences) {
    const TextSpan span = part.SpanOf(function, occurrence);
    const std::string_view name = text.Text(span);
    if (occurrence.kind == OccurrenceKind::kDefinition) {
      if (span.begin >= 4 && text.Text({span.begin - 4, span.begin}) == "def ")
        children.push_back(Symbol(text, name, kFunctionSymbol, span, span));
      continue;
    }
    const bool is_block = occurrence.kind == OccurrenceKind::kOperator &&
                          std::ranges::any_of(kBlocks, [&](std::string_view end) { return name.ends_with(end); });
    if (!is_block || text.Text({span.end, std::min(span.end + 2, text.size())}) != "(\"") continue;
    const size_t close = text.text().find('"', span.end + 2);
    if (close == std::string::npos) continue;
    const TextSpan label{span.end + 2, static_cast<uint32_t>(close)};
    if (label.begin < label.end) children.push_back(Symbol(text, text.Text(label), kObjectSymbol, label, label));
  }
  return children;
}

// The number of blanks before the first character, or no number for a blank line.
constexpr uint32_t kBlankLine = UINT32_MAX;
uint32_t IndentationOf(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? kBlankLine : static_cast<uint32_t>(first);
}

}  // namespace

Json DocumentSymbols(Document& document) {
  const TextDocument& text = document.text();
  Json symbols = Json::array();
  for (const ModulePart& part : document.analysis().parts()) {
    Json functions = Json::array();
    for (const FunctionPart& function : part.reading->functions()) {
      const TextSpan span = SpanWithoutBlanks(text, {part.BeginOf(function), part.EndOf(function)});
      Json symbol = Symbol(text, function.reading->name, kFunctionSymbol, span, part.NameOf(function));
      Json children = Children(text, part, function);
      if (!children.empty()) symbol["children"] = std::move(children);
      functions.push_back(std::move(symbol));
    }
    const size_t header = text.Text(part.span).find("\nclass ");
    if (header == std::string_view::npos) {
      for (Json& function : functions) symbols.push_back(std::move(function));
      continue;
    }
    const auto begin = static_cast<uint32_t>(part.span.begin + header + 7);
    const auto end = static_cast<uint32_t>(text.text().find_first_of("(: \n", begin));
    const TextSpan name{begin, std::min(end, part.span.end)};
    if (name.begin >= name.end) continue;
    Json module =
        Symbol(text, text.Text(name), kModuleSymbol, SpanWithoutBlanks(text, {begin - 6, part.span.end}), name);
    module["children"] = std::move(functions);
    symbols.push_back(std::move(module));
  }
  return symbols;
}

bool IsPattern(std::string_view query) { return query.find('(') != std::string_view::npos; }

bool CanAsk(std::string_view pattern) {
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer);
  return Query::Parse(pattern, 1, engine).has_value();
}

bool HasSubsequence(std::string_view name, std::string_view query) {
  for (const char c : name) {
    if (!query.empty() &&
        std::tolower(static_cast<unsigned char>(c)) == std::tolower(static_cast<unsigned char>(query[0])))
      query.remove_prefix(1);
  }
  return query.empty();
}

// The expressions that match a pattern, as the variables that they are bound to.
static void AddMatches(Document& document, std::string_view query, Json& symbols) {
  DiagnosticBuffer buffer;
  DiagnosticEngine engine(&buffer);
  const std::optional<Query> parsed = Query::Parse(query, 1, engine);
  if (!parsed) return;
  for (const ModulePart& part : document.analysis().parts()) {
    for (const FunctionPart& function : part.reading->functions()) {
      const FunctionReading& reading = *function.reading;
      if (!reading.func) continue;
      Module module;
      module.Set(GlobalVar::Get(reading.name), reading.func, reading.storage);
      for (const QueryMatch& match : parsed->FindIn(module)) {
        // Spans are those of the text that was read.
        const uint32_t begin = part.BeginOf(function) + match.span.begin - reading.span.begin;
        const TextSpan span{begin, begin + match.span.end - match.span.begin};
        symbols.push_back({{"name", match.variable},
                           {"kind", kVariableSymbol},
                           {"containerName", reading.name},
                           {"location", Location(document.uri(), document.text().RangeOf(span))}});
      }
    }
  }
}

void AddWorkspaceSymbols(Document& document, std::string_view query, Json& symbols) {
  if (IsPattern(query)) return AddMatches(document, query, symbols);
  for (const ModulePart& part : document.analysis().parts()) {
    for (const FunctionPart& function : part.reading->functions()) {
      if (!HasSubsequence(function.reading->name, query)) continue;
      symbols.push_back({{"name", function.reading->name},
                         {"kind", kFunctionSymbol},
                         {"location", Location(document.uri(), document.text().RangeOf(part.NameOf(function)))}});
    }
  }
}

// A line and the lines below it that are indented deeper; runs of comments.
Json FoldingRanges(Document& document) {
  if (document.kind() == DocumentKind::kPython) return Json::array();
  const TextDocument& text = document.text();
  struct Open {
    uint32_t indentation;
    uint32_t line;
  };
  std::vector<Open> open;
  Json ranges = Json::array();
  uint32_t last = 0;               // the last line that is not blank
  uint32_t comments = UINT32_MAX;  // the first line of a run of comments
  const auto close = [&](uint32_t indentation) {
    while (!open.empty() && open.back().indentation >= indentation) {
      if (last > open.back().line) ranges.push_back({{"startLine", open.back().line}, {"endLine", last}});
      open.pop_back();
    }
  };
  const auto close_comments = [&] {
    if (comments < last) ranges.push_back({{"startLine", comments}, {"endLine", last}, {"kind", "comment"}});
    comments = UINT32_MAX;
  };
  for (uint32_t line = 0; line < text.num_lines(); ++line) {
    const std::string_view content = text.Text(text.Line(line));
    const uint32_t indentation = IndentationOf(content);
    if (indentation == kBlankLine) continue;
    if (content[indentation] == '#') {
      if (comments != UINT32_MAX && last + 1 != line) close_comments();
      if (comments == UINT32_MAX) comments = line;
      last = line;
      continue;
    }
    close_comments();
    close(indentation);
    open.push_back({indentation, line});
    last = line;
  }
  close_comments();
  close(0);
  return ranges;
}

}  // namespace iropt::lsp

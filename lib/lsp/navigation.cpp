// Definitions and uses of names.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>

#include "call_context.h"
#include "features.h"

namespace iropt::lsp {

namespace {

struct Place {
  TextSpan span;
  bool is_definition = false;
};

bool IsFunctionName(const FoundOccurrence& found) {
  return found.part && !found.span_is_empty() &&
         (!found.occurrence || found.occurrence->kind == OccurrenceKind::kFunction);
}

// All places of a function of the module.
std::vector<Place> PlacesOfFunction(const ModulePart& part, const TextDocument& text, std::string_view name) {
  std::vector<Place> places;
  for (const FunctionPart& function : part.reading->functions()) {
    if (function.reading->name == name) places.push_back({part.NameOf(function), true});
    for (const Occurrence& occurrence : function.reading->occurrences) {
      const TextSpan span = part.SpanOf(function, occurrence);
      if (occurrence.kind == OccurrenceKind::kFunction && text.Text(span) == name) places.push_back({span});
    }
  }
  return places;
}

std::vector<Place> PlacesOfSymbol(const FoundOccurrence& found) {
  std::vector<Place> places;
  for (const Occurrence& occurrence : found.function->reading->occurrences) {
    if (occurrence.kind > OccurrenceKind::kUse || occurrence.symbol != found.occurrence->symbol) continue;
    places.push_back({found.part->SpanOf(*found.function, occurrence), occurrence.kind == OccurrenceKind::kDefinition});
  }
  return places;
}

std::vector<Place> PlacesOfOperator(Document& document, std::string_view name) {
  std::vector<Place> places;
  for (const ModulePart& part : document.analysis().parts()) {
    for (const FunctionPart& function : part.reading->functions()) {
      for (const Occurrence& occurrence : function.reading->occurrences) {
        const TextSpan span = part.SpanOf(function, occurrence);
        if (occurrence.kind == OccurrenceKind::kOperator && document.text().Text(span) == name)
          places.push_back({span});
      }
    }
  }
  return places;
}

// The name of a block: the string of T.block("name") around the offset.
std::optional<TextSpan> BlockNameAt(const Document& document, uint32_t offset) {
  const TextDocument& text = document.text();
  const TextSpan line = text.Line(text.LineAt(offset));
  const std::string_view content = text.Text(line);
  for (const std::string_view opening : {".block(\"", ".sblock(\""}) {
    const size_t found = content.find(opening);
    if (found == std::string_view::npos) continue;
    const auto begin = static_cast<uint32_t>(line.begin + found + opening.size());
    const size_t end = text.text().find('"', begin);
    if (end <= line.end && offset >= begin && offset <= end) return TextSpan{begin, static_cast<uint32_t>(end)};
  }
  return std::nullopt;
}

// All places of what is named at the offset, in the order of the text.
std::vector<Place> PlacesAt(Document& document, uint32_t offset) {
  if (const std::optional<TextSpan> block = BlockNameAt(document, offset)) return {{*block, true}};
  const FoundOccurrence found = document.analysis().Find(offset);
  std::vector<Place> places;
  if (IsFunctionName(found)) {
    places = PlacesOfFunction(*found.part, document.text(), found.Text(document.text()));
  } else if (found.occurrence && found.occurrence->kind <= OccurrenceKind::kUse) {
    places = PlacesOfSymbol(found);
  } else if (found.occurrence && found.occurrence->kind == OccurrenceKind::kOperator) {
    places = PlacesOfOperator(document, found.Text(document.text()));
  }
  std::ranges::sort(places, {}, [](const Place& place) { return place.span.begin; });
  return places;
}

bool IsIdentifier(std::string_view name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::ranges::all_of(name, IsNameCharacter);
}

// The words that Python keeps for itself.
bool IsKeyword(std::string_view name) {
  static constexpr std::array<std::string_view, 35> kKeywords = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  return std::ranges::find(kKeywords, name) != kKeywords.end();
}

// Refuses a name that means something else where the renamed one occurs.
void CheckNewName(const FoundOccurrence& found, const TextDocument& text, std::string_view name) {
  static constexpr std::array<std::string_view, 3> kPrefixes = {"I", "R", "T"};
  if (!IsIdentifier(name) || IsKeyword(name) || std::ranges::find(kPrefixes, name) != kPrefixes.end())
    throw RequestError{RequestError::kInvalidParams, fmt::format("invalid name '{}': expected a Python name", name)};
  if (IsFunctionName(found)) {
    if (found.part->Find(name))
      throw RequestError{RequestError::kRequestFailed, fmt::format("the module has a function '{}' already", name)};
    return;
  }
  for (const Occurrence& occurrence : found.function->reading->occurrences) {
    if (occurrence.kind <= OccurrenceKind::kUse && occurrence.symbol != found.occurrence->symbol &&
        text.Text(found.part->SpanOf(*found.function, occurrence)) == name)
      throw RequestError{RequestError::kRequestFailed, fmt::format("the function has a variable '{}' already", name)};
  }
}

bool CanRename(const FoundOccurrence& found) {
  return IsFunctionName(found) || (found.occurrence && found.occurrence->kind <= OccurrenceKind::kUse);
}

}  // namespace

Json Definition(Document& document, uint32_t offset) {
  Json locations = Json::array();
  for (const Place& place : PlacesAt(document, offset)) {
    if (place.is_definition) locations.push_back(Location(document.uri(), document.text().RangeOf(place.span)));
  }
  return locations;
}

Json References(Document& document, uint32_t offset, bool with_definition) {
  Json locations = Json::array();
  for (const Place& place : PlacesAt(document, offset)) {
    if (with_definition || !place.is_definition)
      locations.push_back(Location(document.uri(), document.text().RangeOf(place.span)));
  }
  return locations;
}

Json Highlights(Document& document, uint32_t offset) {
  constexpr int kRead = 2;
  constexpr int kWrite = 3;
  Json highlights = Json::array();
  for (const Place& place : PlacesAt(document, offset)) {
    highlights.push_back(
        {{"range", ToJson(document.text().RangeOf(place.span))}, {"kind", place.is_definition ? kWrite : kRead}});
  }
  return highlights;
}

Json PrepareRename(Document& document, uint32_t offset) {
  const FoundOccurrence found = document.analysis().Find(offset);
  const std::optional<TextSpan> block = BlockNameAt(document, offset);
  if (!block && !CanRename(found)) return nullptr;
  const TextSpan span = block.value_or(found.span);
  return {{"range", ToJson(document.text().RangeOf(span))}, {"placeholder", document.text().Text(span)}};
}

Json Rename(Document& document, uint32_t offset, std::string_view name) {
  Json edits = Json::array();
  if (const std::optional<TextSpan> block = BlockNameAt(document, offset)) {
    if (name.find_first_of("\"\\\n") != std::string_view::npos)
      throw RequestError{RequestError::kInvalidParams, fmt::format("invalid name '{}' of a block", name)};
    edits.push_back(TextEdit(document.text().RangeOf(*block), name));
  } else {
    const FoundOccurrence found = document.analysis().Find(offset);
    if (!CanRename(found))
      throw RequestError{RequestError::kRequestFailed, "nothing here has a name that can be changed"};
    if (found.Text(document.text()) != name) CheckNewName(found, document.text(), name);
    for (const Place& place : PlacesAt(document, offset))
      edits.push_back(TextEdit(document.text().RangeOf(place.span), name));
  }
  return {{"changes", {{document.uri(), edits}}}};
}

}  // namespace iropt::lsp

// Which functions of a module call which. A call is where a function names another one: cls.f(x), R.call_tir(cls.f,
// ...).
#include <map>
#include <string>
#include <vector>

#include "features.h"

namespace iropt::lsp {

namespace {

constexpr int kCalleeSymbol = 12;

Json ItemOf(const Document& document, const ModulePart& part, const FunctionPart& function) {
  const TextDocument& text = document.text();
  return {{"name", function.reading->name},
          {"kind", kCalleeSymbol},
          {"uri", document.uri()},
          {"range", ToJson(text.RangeOf({part.BeginOf(function), part.EndOf(function)}))},
          {"selectionRange", ToJson(text.RangeOf(part.NameOf(function)))}};
}

// The function whose name is at the offset.
const FunctionPart* NamedAt(Document& document, uint32_t offset, const ModulePart*& part) {
  const FoundOccurrence found = document.analysis().Find(offset);
  const bool is_name = found.part && !found.span_is_empty() &&
                       (!found.occurrence || found.occurrence->kind == OccurrenceKind::kFunction);
  part = found.part;
  return is_name ? part->Find(found.Text(document.text())) : nullptr;
}

// The ranges in which a function names others, by their names.
std::map<std::string_view, Json> CallsOf(const Document& document, const ModulePart& part,
                                         const FunctionPart& function) {
  std::map<std::string_view, Json> calls;
  for (const Occurrence& occurrence : function.reading->occurrences) {
    if (occurrence.kind != OccurrenceKind::kFunction) continue;
    const TextSpan span = part.SpanOf(function, occurrence);
    calls[document.text().Text(span)].push_back(ToJson(document.text().RangeOf(span)));
  }
  return calls;
}

}  // namespace

Json PrepareCallHierarchy(Document& document, uint32_t offset) {
  const ModulePart* part = nullptr;
  const FunctionPart* function = NamedAt(document, offset, part);
  if (!function) return nullptr;
  return Json::array({ItemOf(document, *part, *function)});
}

Json IncomingCalls(Document& document, uint32_t offset) {
  Json incoming = Json::array();
  const ModulePart* part = nullptr;
  const FunctionPart* callee = NamedAt(document, offset, part);
  if (!callee) return incoming;
  for (const FunctionPart& function : part->reading->functions()) {
    auto calls = CallsOf(document, *part, function);
    const auto found = calls.find(callee->reading->name);
    if (found != calls.end())
      incoming.push_back({{"from", ItemOf(document, *part, function)}, {"fromRanges", std::move(found->second)}});
  }
  return incoming;
}

Json OutgoingCalls(Document& document, uint32_t offset) {
  Json outgoing = Json::array();
  const ModulePart* part = nullptr;
  const FunctionPart* caller = NamedAt(document, offset, part);
  if (!caller) return outgoing;
  for (auto& [name, ranges] : CallsOf(document, *part, *caller)) {
    const FunctionPart* callee = part->Find(name);
    if (callee) outgoing.push_back({{"to", ItemOf(document, *part, *callee)}, {"fromRanges", std::move(ranges)}});
  }
  return outgoing;
}

}  // namespace iropt::lsp

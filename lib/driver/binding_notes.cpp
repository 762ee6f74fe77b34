#include "binding_notes.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "iropt/ir/location.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/text/script/printer.h"

namespace iropt {

namespace {

// Finds the smallest binding at a place: passes keep the places of the nodes that theirs replace.
struct BindingSearch : WalkHandler {
  explicit BindingSearch(SourceSpan place) : place(place) {}

  void OnBinding(const Binding& binding) {
    Consider(binding, Location(*ValueOf(binding)));
    Consider(binding, Location(binding));
  }

  static const Expr* ValueOf(const Binding& binding) {
    const auto* match = As<MatchCast>(&binding);
    return match != nullptr ? match->value : To<VarBinding>(&binding)->value;
  }

  void Consider(const Binding& binding, SourceSpan span) {
    const bool contains = span.known() && span.begin <= place.begin && place.end <= span.end;
    if (!contains || (found != nullptr && size <= span.end - span.begin)) return;
    found = &binding;
    size = span.end - span.begin;
  }

  const SourceSpan place;
  const Binding* found = nullptr;
  uint32_t size = 0;
};

const Binding* FindBinding(const Module& module, SourceSpan place) {
  BindingSearch search(place);
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) Walk(function, search);
  }
  return search.found;
}

std::string TextOf(const Binding& binding) {
  constexpr size_t kLongest = 400;  // constants are printed in full
  std::string text = fmt::format("{} = {}", binding.var->name(), ExpressionToString(BindingSearch::ValueOf(binding)));
  if (text.size() <= kLongest) return text;
  text.resize(kLongest);
  return text + "...";
}

}  // namespace

void ReportWithBindings(const DiagnosticBuffer& found, const Module& module, DiagnosticEngine& diagnostics) {
  for (Diagnostic diagnostic : found.diagnostics()) {
    const Binding* binding = diagnostic.span.known() ? FindBinding(module, diagnostic.span) : nullptr;
    if (binding != nullptr)
      diagnostic.notes.push_back({{}, fmt::format("after the pass, the binding is: {}", TextOf(*binding))});
    diagnostics.Report(std::move(diagnostic));
  }
}

}  // namespace iropt

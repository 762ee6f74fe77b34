#include "iropt/text/script/reading.h"

#include <utility>

namespace iropt {

std::shared_ptr<const FunctionReading> Reading::Find(const std::string& name) const {
  const auto* known = by_name_.Find(name);
  return known ? functions_[*known].reading : nullptr;
}

void Reading::Replace(std::vector<FunctionPart> functions, Module module) {
  by_name_.clear();
  functions_ = std::move(functions);
  module_ = std::move(module);
  for (size_t i = 0; i < functions_.size(); ++i) by_name_.try_emplace(functions_[i].reading->name, i);
}

std::vector<Diagnostic> MovedDiagnostics(const std::vector<Diagnostic>& diagnostics, const FunctionReading& function,
                                         uint32_t begin) {
  std::vector<Diagnostic> moved = diagnostics;
  const uint32_t by = begin - function.span.begin;  // modulo 2^32
  const auto move = [&](SourceSpan& place) {
    if (place.begin >= function.span.begin && place.begin <= function.span.end)
      place = {place.begin + by, place.end + by};
  };
  for (Diagnostic& diagnostic : moved) {
    move(diagnostic.span);
    for (DiagnosticNote& note : diagnostic.notes) move(note.span);
    for (FixItHint& hint : diagnostic.fix_its) move(hint.span);
  }
  return moved;
}

}  // namespace iropt

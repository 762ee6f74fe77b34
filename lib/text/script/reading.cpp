#include "iropt/text/script/reading.h"

#include <utility>

namespace iropt {

std::shared_ptr<const FunctionReading> Reading::Find(const std::string& name, uint64_t key) const {
  const auto known = by_name_.find(name);
  if (known == by_name_.end()) return nullptr;
  const std::shared_ptr<const FunctionReading>& reading = functions_[known->second].reading;
  return reading->key == key ? reading : nullptr;
}

void Reading::Replace(std::vector<FunctionPart> functions, Module module) {
  by_name_.clear();
  functions_ = std::move(functions);
  module_ = std::move(module);
  for (size_t i = 0; i < functions_.size(); ++i) by_name_.emplace(functions_[i].reading->name, i);
}

std::vector<Diagnostic> MovedDiagnostics(const std::vector<Diagnostic>& diagnostics, SourceSpan span, uint32_t begin) {
  std::vector<Diagnostic> moved = diagnostics;
  const uint32_t by = begin - span.begin;  // modulo 2^32
  const auto move = [&](SourceSpan& place) {
    if (place.begin >= span.begin && place.end <= span.end) place = {place.begin + by, place.end + by};
  };
  for (Diagnostic& diagnostic : moved) {
    move(diagnostic.span);
    for (DiagnosticNote& note : diagnostic.notes) move(note.span);
    for (FixItHint& hint : diagnostic.fix_its) move(hint.span);
  }
  return moved;
}

}  // namespace iropt

#include "pending_function.h"

#include <utility>

namespace iropt::text {

void PendingFunction::Record(std::string_view text) {
  recorder = std::make_unique<OccurrenceRecorder>(text);
  symbols->set_recorder(recorder.get());
}

void PendingFunction::Reuse(std::shared_ptr<const FunctionReading> known, uint32_t base) {
  part = {std::move(known), base + begin, false};
  result = part.reading->func;
  for (Diagnostic& diagnostic : MovedDiagnostics(part.reading->diagnostics, part.reading->span, part.begin))
    diagnostics.Consume(diagnostic);
}

void PendingFunction::Keep(uint32_t base) {
  auto reading = std::make_shared<FunctionReading>();
  reading->name = name();
  reading->span = {base + begin, base + body_end};
  reading->name_begin = name_span().begin - base - begin;
  reading->body_begin = body_begin - begin;
  reading->func = result;
  reading->storage = workspace.Finish();
  recorder->Finish(reading->symbols, reading->occurrences);
  reading->diagnostics = diagnostics.diagnostics();
  reading->key = key;
  part = {std::move(reading), base + begin, true};
}

}  // namespace iropt::text

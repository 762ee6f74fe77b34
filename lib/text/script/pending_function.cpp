#include "pending_function.h"

#include <algorithm>
#include <utility>

namespace iropt::text {

void PendingFunction::Record(std::string_view text) {
  text_ = text;
  recorder = std::make_unique<OccurrenceRecorder>(text);
  symbols->set_recorder(recorder.get());
}

void PendingFunction::Reuse(std::shared_ptr<const FunctionReading> known, uint32_t base) {
  part = {std::move(known), base + begin, false};
  result = part.reading->func;
  for (const Diagnostic& diagnostic : MovedDiagnostics(part.reading->diagnostics, *part.reading, part.begin))
    diagnostics.Consume(diagnostic);
}

void PendingFunction::Keep(uint32_t base, uint64_t names_key, FunctionRef<uint64_t(const GlobalVar*)> callee_key) {
  auto reading = std::make_shared<FunctionReading>();
  reading->name = name();
  reading->span = {base + begin, base + body_end};
  reading->name_begin = static_cast<uint32_t>(name().data() - text_.data());
  reading->body_begin = body_begin - begin;
  reading->func = result;
  recorder->Finish(reading->symbols, reading->occurrences);
  reading->diagnostics = diagnostics.diagnostics();
  reading->storage = workspace.Finish();
  reading->header_key = header_key;
  reading->key = key;
  reading->names_key = names_key;
  for (const Occurrence& occurrence : reading->occurrences) {
    if (occurrence.kind != OccurrenceKind::kFunction) continue;
    const GlobalVar* var = GlobalVar::Get(text_.substr(occurrence.begin, occurrence.end - occurrence.begin));
    if (std::ranges::find(reading->callees, var, &ReadCallee::var) == reading->callees.end())
      reading->callees.push_back({var, callee_key(var)});
  }
  part = {std::move(reading), base + begin, true};
}

}  // namespace iropt::text

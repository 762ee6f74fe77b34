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

uint32_t PendingFunction::name_offset() const { return static_cast<uint32_t>(name().data() - text_.data()); }

void PendingFunction::Keep(uint32_t base, uint64_t names_key, FunctionRef<uint64_t(const GlobalVar*)> callee_key) {
  auto reading = std::make_shared<FunctionReading>();
  reading->name = name();
  reading->span = {base + begin, base + body_end};
  reading->name_begin = name_offset();
  reading->body_begin = body_begin - begin;
  reading->func = result;
  reading->bytes_read = body_end - body_begin;
  recorder->Finish(reading->symbols, reading->occurrences);
  reading->diagnostics = diagnostics.diagnostics();
  if (pieces) {
    KeepPieces(*reading);
  } else {
    reading->storage = workspace.Finish();
  }
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

// Nodes of the body outlive the lists of its bindings, which the workspace of the function has.
void PendingFunction::KeepPieces(FunctionReading& reading) {
  const std::shared_ptr<BodyReading> body = pieces->Finish(reading);
  body->params = relax.params;
  body->ret_annotation = relax.ret_annotation;
  body->num_vars = nodes->num_vars();
  const FuncStorageRef made = nodes->Finish();
  workspace.ReserveVars(body->num_vars);
  workspace.Adopt(made);
  if (before) {
    for (const FuncStorageRef& storage : before->storage) workspace.Adopt(storage);
    body->storage = before->storage;
    body->storage.push_back(made);
  }
  reading.storage = workspace.Finish();
  if (!before) body->storage = {reading.storage};
  reading.body = body;
  if (reading.places.empty()) return;
  diagnostics = DiagnosticBuffer();
  for (const Diagnostic& diagnostic : MovedDiagnostics(reading.diagnostics, reading, reading.span.begin))
    diagnostics.Consume(diagnostic);
}

}  // namespace iropt::text

#include <nlohmann/json.hpp>
#include <string>

#include "iropt/diag/consumers.h"

namespace iropt {

namespace {

using Json = nlohmann::ordered_json;

void AddPlace(Json& object, const SourceManager& sources, SourceSpan span) {
  if (!span.known()) return;
  const SourceLocation begin = sources.Locate(span.begin);
  if (begin.line == 0) return;
  const SourceLocation end = sources.Locate(span.end > span.begin ? span.end : span.begin);
  object["file"] = begin.name;
  object["line"] = begin.line;
  object["column"] = begin.column;
  object["end_line"] = end.line;
  object["end_column"] = end.column;
}

Json ToJson(const Diagnostic& diagnostic, const SourceManager& sources) {
  Json object;
  object["severity"] = SeverityName(diagnostic.severity);
  object["kind"] = diagnostic.kind;
  object["message"] = diagnostic.message;
  if (!diagnostic.file.empty()) object["file"] = diagnostic.file;
  AddPlace(object, sources, diagnostic.span);
  object["notes"] = Json::array();
  for (const DiagnosticNote& note : diagnostic.notes) {
    Json& item = object["notes"].emplace_back(Json{{"message", note.message}});
    AddPlace(item, sources, note.span);
  }
  object["fixits"] = Json::array();
  for (const FixItHint& hint : diagnostic.fix_its) {
    Json& item = object["fixits"].emplace_back(Json{{"replacement", hint.replacement}});
    AddPlace(item, sources, hint.span);
  }
  return object;
}

}  // namespace

void JsonConsumer::Consume(const Diagnostic& diagnostic) {
  // Names and messages may quote malformed UTF-8 from the input, which JSON cannot hold.
  out_->Append(ToJson(diagnostic, *sources_).dump(-1, ' ', false, Json::error_handler_t::replace));
  out_->Append('\n');
  static_cast<void>(out_->Flush());
}

}  // namespace iropt

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

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

Status WriteLine(const Json& object, OutputStream& out) {
  // Names and messages may quote malformed UTF-8 from the input, which JSON cannot hold.
  out.Append(object.dump(-1, ' ', false, Json::error_handler_t::replace));
  out.Append('\n');
  return out.Flush();
}

}  // namespace

void JsonConsumer::Consume(const Diagnostic& diagnostic) {
  // A closed stderr must not cause another failure.
  static_cast<void>(WriteLine(ToJson(diagnostic, *sources_), *out_));
}

Status JsonConsumer::Flush() {
  if (text_.empty()) return {};
  return WriteLine({{"kind", "output"}, {"text", std::exchange(text_, {})}}, *out_);
}

}  // namespace iropt

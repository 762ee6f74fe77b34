// The schemas of what the tools write as JSON.
#include "schema_json.h"

namespace iropt::schema {

namespace {

Json Number() { return {{"type", "number"}, {"minimum", 0}}; }
Json Count() { return {{"type", "integer"}, {"minimum", 0}}; }
Json Text() { return TypeOf("string"); }

// The place of a message; members are absent if there is none.
Json WithPlace(Json members) {
  members["file"] = Text();
  for (const char* name : {"line", "column", "end_line", "end_column"}) members[name] = Count();
  return members;
}

Json Counts(Json names) {
  Json members = Json::object();
  for (const Json& name : names) members[name.get<std::string>()] = Count();
  return ObjectOf(std::move(members), std::move(names));
}

Json Names(std::initializer_list<const char*> names) {
  Json members = Json::object();
  Json required = Json::array();
  for (const char* name : names) {
    members[name] = ListOf(Text());
    required.push_back(name);
  }
  return ObjectOf(std::move(members), std::move(required));
}

// The members that AddEffect gives.
Json EffectMembers() {
  return {{"functions", Names({"added", "removed", "changed"})},
          {"bindings", Counts({"added", "removed", "changed"})},
          {"operators", MapOf(Counts({"before", "after"}))},
          {"attributes", TypeOf("array")}};
}

Json ModuleRecordSchema() {
  const Json required = {"name",       "relax_functions", "prim_funcs", "bindings",  "calls",
                         "node_bytes", "operators",       "cost",       "cost_after"};
  const Json cost = Counts({"multiply_adds", "unknown_calls", "constant_bytes", "param_bytes"});
  Json members = {{"name", Text()}, {"operators", MapOf(Count())}, {"cost", cost}, {"cost_after", cost}};
  for (const char* name :
       {"relax_functions", "prim_funcs", "bindings", "calls", "node_bytes", "nodes_read", "nodes_written"}) {
    members[name] = Count();
  }
  return ObjectOf(std::move(members), required);
}

Json PassRecordSchema() {
  Json members = EffectMembers();
  for (const char* name : {"name", "title"}) members[name] = Text();
  members["composite"] = TypeOf("boolean");
  members["outcome"] = OneOf({"failed", "unchanged", "changed"});
  members["texts"] = TypeOf("array");
  for (const char* name : {"module", "depth", "node_bytes", "resident_bytes"}) members[name] = Count();
  for (const char* name : {"begin_ms", "wall_ms", "cpu_ms"}) members[name] = Number();
  return ObjectOf(std::move(members), {"name", "module", "depth", "composite", "outcome", "begin_ms", "wall_ms",
                                       "cpu_ms", "node_bytes", "resident_bytes", "title"});
}

}  // namespace

Json ObjectOf(Json members, Json required) {
  Json object = {{"type", "object"}, {"properties", std::move(members)}, {"additionalProperties", false}};
  if (!required.empty()) object["required"] = std::move(required);
  return object;
}

Json DiagnosticsSchema() {
  const Json note = ObjectOf(WithPlace({{"message", Text()}}), {"message"});
  const Json hint = ObjectOf(WithPlace({{"replacement", Text()}}), {"replacement"});
  const Json message = ObjectOf(WithPlace({{"severity", OneOf({"note", "remark", "warning", "error"})},
                                           {"kind", Text()},
                                           {"message", Text()},
                                           {"notes", ListOf(note)},
                                           {"fixits", ListOf(hint)}}),
                                {"severity", "kind", "message", "notes", "fixits"});
  // Other output than diagnostics, such as dumps.
  const Json output = ObjectOf({{"kind", {{"const", "output"}}}, {"text", Text()}}, {"kind", "text"});
  return AnyOf({message, output});
}

Json ReportSchema() {
  const Json step = ObjectOf({{"name", Text()}, {"module", Count()}, {"begin_ms", Number()}, {"wall_ms", Number()}},
                             {"name", "module", "begin_ms", "wall_ms"});
  const Json diagnostic = ObjectOf({{"severity", Text()}, {"text", Text()}, {"pass", Count()}}, {"severity", "text"});
  const Json report = ObjectOf(
      {{"version", Text()},
       {"command", Text()},
       {"pipeline", Text()},
       {"exit_code", Count()},
       {"modules", ListOf(ModuleRecordSchema())},
       {"passes", ListOf(PassRecordSchema())},
       {"steps", ListOf(step)},
       {"diagnostics", ListOf(diagnostic)},
       {"summaries", MapOf(Text())}},
      {"version", "command", "pipeline", "exit_code", "modules", "passes", "steps", "diagnostics", "summaries"});
  return ObjectOf({{"report", report}}, {"report"});
}

Json PassesSchema() {
  const Json option = {{"type", "object"},
                       {"properties", {{"name", Text()}, {"type", Text()}, {"summary", Text()}}},
                       {"required", {"name", "type"}}};
  const Json pass = {{"type", "object"},
                     {"properties",
                      {{"name", Text()},
                       {"kind", Text()},
                       {"opt_level", TypeOf("integer")},
                       {"summary", Text()},
                       {"options", ListOf(option)}}},
                     {"required", {"name", "kind", "opt_level"}}};
  return {{"type", "object"}, {"properties", {{"passes", ListOf(pass)}}}, {"required", {"passes"}}};
}

}  // namespace iropt::schema

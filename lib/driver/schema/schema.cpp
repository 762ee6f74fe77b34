#include "iropt/driver/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/support/edit_distance.h"
#include "schema_json.h"

namespace iropt {

namespace {

struct SchemaRow {
  std::string_view name;
  std::string_view title;
  schema::Json (*make)(const PassRegistry& registry);
};

// In alphabetical order.
constexpr SchemaRow kSchemas[] = {
    {"diagnostics", "a line of -diagnostics=json", [](const PassRegistry&) { return schema::DiagnosticsSchema(); }},
    {"passes", "-list-passes=json", [](const PassRegistry&) { return schema::PassesSchema(); }},
    {"pipeline", "a pipeline file", schema::PipelineSchema},
    {"report", "-report=json", [](const PassRegistry&) { return schema::ReportSchema(); }},
};

}  // namespace

std::vector<std::string_view> SchemaNames() {
  std::vector<std::string_view> names;
  for (const SchemaRow& row : kSchemas) names.push_back(row.name);
  return names;
}

Result<std::string> RenderSchema(std::string_view name, const PassRegistry& registry) {
  const SchemaRow* row = std::ranges::find(kSchemas, name, &SchemaRow::name);
  if (row == std::end(kSchemas))
    return Error{ErrorCode::Usage, fmt::format("unknown schema '{}' (-print-schema){}", name,
                                               DidYouMeanOr(": expected one of ", name, SchemaNames()))};
  schema::Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", row->title}};
  schema.update(row->make(registry));
  return schema.dump(2) + '\n';
}

}  // namespace iropt

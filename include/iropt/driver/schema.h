// JSON schemas of what the tools read and write, for editors and other programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "iropt/pass/registry.h"
#include "iropt/support/result.h"

namespace iropt {

// The names of the schemas: "pipeline", "diagnostics", "report" and so on.
std::vector<std::string_view> SchemaNames();

// A schema (JSON Schema, draft 7) with a line break at the end. That of pipelines has the passes, options and keys of
// the registry. Fails with ErrorCode::Usage if there is none of that name.
Result<std::string> RenderSchema(std::string_view name, const PassRegistry& registry);

}  // namespace iropt

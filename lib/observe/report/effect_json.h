// Effects as members of a JSON object.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "iropt/observe/report/pass_effect.h"

namespace iropt {

// Adds the members "functions", "bindings", "operators" and "attributes"; report_json.h shows them.
void AddEffect(nlohmann::ordered_json& object, const PassEffect& effect);

// The text of a JSON object. Malformed UTF-8, which names may have from the input, is replaced.
std::string DumpJson(const nlohmann::ordered_json& object);

}  // namespace iropt

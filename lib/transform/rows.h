// The rows of passes.def, configs.def, pipelines.def and names.def for the registry. scripts/tables makes the
// definitions.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "configs/keys.h"
#include "iropt/pass/registry.h"

namespace iropt {

std::vector<PassEntry> PassRows();
std::vector<OptionSpec> ConfigRows();
std::vector<PipelineEntry> PipelineRows();
std::span<const OtherName> PassNames();
std::span<const OtherName> ConfigNames();
std::span<const PassAlias> PassHints();

// The key, which configs.def must have: a wrong one does not compile.
consteval const char* ConfigOf(const char* key) {
  if (std::ranges::find(config::kKeys, std::string_view(key)) == std::end(config::kKeys)) throw "not in configs.def";
  return key;
}

}  // namespace iropt

#include "iropt/pass/print_instruments.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "iropt/pass/pipeline.h"

namespace iropt {

PassFilter PassesNamed(std::vector<std::string> passes) {
  return [passes = std::move(passes)](const PassInfo& info) {
    return passes.empty() ? !info.is_composite() : std::ranges::find(passes, info.name) != passes.end();
  };
}

Status PrintIRBefore::RunBeforePass(const Module& module, const PassInfo& info) {
  if (!filter_(info)) return {};
  return print_(module, fmt::format("IR before {}", TitleOf(info)));
}

Status PrintIRAfter::RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) {
  if (outcome == PassOutcome::Failed || !filter_(info)) return {};
  return print_(module, fmt::format("IR after {}", TitleOf(info)));
}

}  // namespace iropt

#include "iropt/pass/print_instruments.h"

#include <fmt/format.h>

#include <algorithm>

namespace iropt {

namespace {

bool Matches(const std::vector<std::string>& passes, const PassInfo& info) {
  return passes.empty() ? !info.is_composite() : std::ranges::find(passes, info.name) != passes.end();
}

}  // namespace

Status PrintIRBefore::RunBeforePass(const Module& module, const PassInfo& info) {
  if (!Matches(passes_, info)) return {};
  return print_(module, fmt::format("IR before {}", info.name));
}

Status PrintIRAfter::RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) {
  if (outcome == PassOutcome::Failed || !Matches(passes_, info)) return {};
  return print_(module, fmt::format("IR after {}", info.name));
}

}  // namespace iropt

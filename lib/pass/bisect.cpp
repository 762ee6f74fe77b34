#include "iropt/pass/bisect.h"

#include <fmt/format.h>

namespace iropt {

Status OptBisect::EnterPassContext() {
  passes_ = 0;
  return {};
}

bool OptBisect::ShouldRun(const Module&, const PassInfo& info) {
  if (info.is_composite()) return true;
  ++passes_;
  const bool runs = limit_ < 0 || passes_ <= limit_;
  say_(fmt::format("BISECT: {} pass ({}) {} on module\n", runs ? "running" : "NOT running", passes_, info.name));
  return runs;
}

std::string OptBisect::VetoReason() const {
  return fmt::format("bisected away: it has number {}, and the limit is {}", passes_, limit_);
}

}  // namespace iropt

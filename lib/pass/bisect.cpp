#include "iropt/pass/bisect.h"

#include <fmt/format.h>

#include <string_view>

namespace iropt {

std::string ToString(const BisectStep& step) {
  return step.function.empty() ? fmt::format("pass '{}' on the module", step.pass)
                               : fmt::format("pass '{}' on function '{}'", step.pass, step.function);
}

std::string BisectLine(const BisectStep& step, bool runs) {
  const std::string unit = step.function.empty() ? "module" : "function " + step.function;
  return fmt::format("BISECT: {} pass ({}) {} on {}\n", runs ? "running" : "NOT running", step.number, step.pass, unit);
}

Status OptBisect::EnterPassContext() {
  num_steps_ = 0;
  return {};
}

bool OptBisect::Count(const PassInfo& info, std::string_view function) {
  if (info.is_mandatory && !counts_mandatory_) return true;
  ++num_steps_;
  const bool runs = limit_ < 0 || num_steps_ <= limit_;
  on_step_({num_steps_, info.name, std::string(function)}, runs);
  return runs;
}

bool OptBisect::ShouldRun(const Module&, const PassInfo& info) {
  return info.kind != PassKind::Module || Count(info, {});
}

bool OptBisect::ShouldRunOnFunction(const GlobalVar& name, const BaseFunc&, const PassInfo& info) {
  return Count(info, name.name);
}

std::string OptBisect::VetoReason() const {
  return fmt::format("bisected away: it has number {}, and the limit is {}", num_steps_, limit_);
}

}  // namespace iropt

#include "iropt/observe/run_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "iropt/observe/operator_counts.h"
#include "iropt/support/check.h"

namespace iropt {

void RunStatistics::BeforePasses(std::string_view /*subject*/, const Module& module) {
  pending_ = CountOperators(module);
}

void RunStatistics::AfterPasses(std::string_view /*subject*/, const Module& module) {
  for (const auto& [name, count] : pending_) operators_[name].before += count;
  for (const auto& [name, count] : CountOperators(module)) operators_[name].after += count;
}

Status RunStatistics::EnterPassContext() {
  LeaveAll();
  return {};
}

// A run that is out of memory does not end its passes. The innermost scope ends first.
void RunStatistics::LeaveAll() {
  while (!running_.empty()) running_.pop_back();
}

Status RunStatistics::RunBeforePass(const Module&, const PassInfo&) {
  running_.push_back(std::make_unique<StatisticScope>(counts_));
  return {};
}

Status RunStatistics::RunAfterPass(const Module&, const PassInfo& info, PassOutcome) {
  IROPT_CHECK(!running_.empty(), "pass '{}' ends, but none has begun", info.name);
  running_.pop_back();
  return {};
}

std::string RunStatistics::RenderText() const {
  size_t width = 9;
  for (const auto& [name, count] : operators_) width = std::max(width, name.size());
  std::string out;
  const auto row = [&](std::string_view name, BeforeAndAfter n) {
    const auto change = static_cast<int64_t>(n.after) - static_cast<int64_t>(n.before);
    out += fmt::format("{:<{}}{:>11}{:>11}", name, width, n.before, n.after);
    out += change == 0 ? "\n" : fmt::format("{:>+11}\n", change);
  };
  out += fmt::format("{:<{}}{:>11}{:>11}{:>11}\n", "operator", width, "before", "after", "change");
  BeforeAndAfter total;
  for (const auto& [name, n] : operators_) {
    row(name, n);
    total.before += n.before;
    total.after += n.after;
  }
  row("total", total);
  const std::vector<StatisticCounts::Row> counters = counts_.Rows();
  if (counters.empty()) return out;
  size_t pass_width = 4;
  size_t name_width = 7;
  for (const auto& [statistic, value] : counters) {
    pass_width = std::max(pass_width, statistic.pass().size());
    name_width = std::max(name_width, statistic.name().size());
  }
  out += fmt::format("{:>11}  {:<{}}  {:<{}}  meaning\n", "count", "pass", pass_width, "counter", name_width);
  for (const auto& [statistic, value] : counters) {
    out += fmt::format("{:>11}  {:<{}}  {:<{}}  {}\n", value, statistic.pass(), pass_width, statistic.name(),
                       name_width, statistic.description());
  }
  return out;
}

std::string RunStatistics::Text(const RunEnd& /*end*/) {
  if (form_ != ShownForm::Json) return RenderText();
  using Json = nlohmann::ordered_json;
  Json operators = Json::array();
  for (const auto& [name, n] : operators_) {
    operators.push_back({{"name", name}, {"before", n.before}, {"after", n.after}});
  }
  Json counters = Json::array();
  for (const auto& [statistic, value] : counts_.Rows()) {
    counters.push_back({{"pass", statistic.pass()},
                        {"name", statistic.name()},
                        {"value", value},
                        {"description", statistic.description()}});
  }
  return Json{{"stats", {{"operators", std::move(operators)}, {"counters", std::move(counters)}}}}.dump() + '\n';
}

}  // namespace iropt

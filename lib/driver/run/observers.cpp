#include "observers.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "iropt/eval/relax/value_type.h"
#include "iropt/infer/infer.h"
#include "iropt/runtime/statistics.h"

namespace iropt {

namespace {

std::string_view NameOf(CalleeKind kind) {
  switch (kind) {
    case CalleeKind::kOperator: return "operator";
    case CalleeKind::kPrimFunc: return "PrimFunc";
    case CalleeKind::kPacked: return "packed";
  }
  return "";
}

std::string Row(double seconds, double total, size_t calls, std::string_view kind, std::string_view name) {
  const double share = total > 0 ? 100 * seconds / total : 0;
  const std::string count = calls == 0 ? "" : fmt::format("{}", calls);
  return fmt::format("{:>11.3f}{:>7.1f}{:>8}  {:9} {}\n", 1e3 * seconds, share, count, kind, name);
}

}  // namespace

void ObserverList::OnBinding(const Function& function, const Var& var, const HostValue& value) {
  for (RunObserver* observer : observers_) observer->OnBinding(function, var, value);
}

void ObserverList::OnCall(CalleeKind kind, std::string_view callee, double seconds) {
  for (RunObserver* observer : observers_) observer->OnCall(kind, callee, seconds);
}

void RunReporter::OnBinding(const Function&, const Var& var, const HostValue& value) {
  if (name_node_ && since_binding_.calls != 0) {
    Spent& spent = by_nodes_[name_node_(var)];
    spent.calls += since_binding_.calls;
    spent.seconds += since_binding_.seconds;
    since_binding_ = {};
  }
  if (!trace_) return;
  trace_->Append(fmt::format("{}: {}", var.name(), TypeToString(TypeOfValue(value))));
  if (const NDArray* tensor = value.tensor()) {
    trace_->Append(IsWritten(value) ? fmt::format("  {}", DescribeStatistics(StatisticsOf(*tensor)))
                                    : "  uninitialized");
  }
  trace_->Append('\n');
}

void RunReporter::OnCompile(std::string_view prim_func, size_t compiled, double seconds) {
  compiling_.calls += compiled;
  compiling_.seconds += seconds;
  compiled_.emplace(prim_func, seconds);
}

void RunReporter::OnCall(CalleeKind kind, std::string_view callee, double seconds) {
  if (kind == CalleeKind::kPrimFunc && !compiled_.empty()) {
    const auto compiled = compiled_.find(callee);
    if (compiled != compiled_.end()) {
      seconds = std::max(seconds - compiled->second, 0.0);
      compiled_.erase(compiled);
    }
  }
  if (name_node_) {
    ++since_binding_.calls;
    since_binding_.seconds += seconds;
    return;
  }
  Spent& spent = spent_[{kind, std::string(callee)}];
  ++spent.calls;
  spent.seconds += seconds;
}

std::string RunReporter::RenderTimes(double total_seconds) const {
  struct Entry {
    std::string_view kind, name;
    Spent spent;
  };
  std::vector<Entry> entries;
  for (const auto& [callee, spent] : spent_) entries.push_back({NameOf(callee.first), callee.second, spent});
  for (const auto& [node, spent] : by_nodes_) entries.push_back({"", node, spent});
  std::ranges::stable_sort(entries, std::greater(), [](const Entry& entry) { return entry.spent.seconds; });
  double known = 0;
  std::string text =
      fmt::format("{:>11}{:>7}{:>8}  {}\n", "wall ms", "%", "calls", name_node_ ? "           node" : "callee");
  for (const auto& [kind, name, spent] : entries) {
    text += Row(spent.seconds, total_seconds, spent.calls, kind, name);
    known += spent.seconds;
  }
  known += compiling_.seconds;
  if (compiling_.calls != 0)
    text += Row(compiling_.seconds, total_seconds, compiling_.calls, "", "compiling PrimFuncs");
  // The time of a packed function includes the functions that it calls, so the sum may exceed the total.
  text += Row(std::max(total_seconds - known, 0.0), total_seconds, 0, "", "everything else");
  return text + Row(total_seconds, total_seconds, 0, "", "total");
}

}  // namespace iropt

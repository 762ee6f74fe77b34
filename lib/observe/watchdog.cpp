#include "iropt/observe/watchdog.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "instrument_options/Limits.h"
#include "iropt/support/background.h"
#include "iropt/support/check.h"
#include "iropt/support/crash.h"
#include "iropt/support/end_process.h"
#include "module_size.h"
#include "process_memory.h"

namespace iropt {

InstrumentSpec LimitsSpec(const RunLimits& limits) {
  instrument_options::Limits options;
  if (limits.pass_seconds > 0) options.pass_timeout.Set(limits.pass_seconds);
  if (limits.rss_bytes > 0) options.max_rss.Set(limits.rss_bytes);
  if (limits.ir_growth > 0) options.max_ir_growth.Set(limits.ir_growth);
  return {std::string(options.kName), options.Given(), {}};
}

namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(10);
// A snapshot may need a lock that the pass holds.
constexpr unsigned kSecondsForSnapshot = 60;

}  // namespace

void Watchdog::Start() {
  stopped_ = false;
  // The growth is checked between passes, and all limits are where nothing can run next to them.
  if (CanStartThreads() && (limits_.pass_seconds > 0 || limits_.rss_bytes > 0))
    thread_ = std::thread([this] { Watch(); });
}

void Watchdog::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    // A short run may end before the thread has begun.
    if (!stopped_) CheckLimits();
    stopped_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::SetInput(const Module& module) {
  if (limits_.ir_growth > 0) input_nodes_ = nodes_ = CountNodes(module);
}

void Watchdog::Watch() {
  PrepareThreadForCrash();
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    CheckLimits();
    wake_.wait_for(lock, kPollInterval);
  }
}

// The lock is held, also while the process ends: no pass begins or ends any more.
void Watchdog::CheckLimits() const {
  if (limits_.rss_bytes > 0) {
    const int64_t used = ResidentBytes();
    if (used > limits_.rss_bytes) {
      const std::string where = running_.empty() ? "outside of passes" : "in " + Describe(running_.back());
      EndRun(fmt::format("the process uses {} MiB of memory, more than the {} MiB of -max-rss, {}", used >> 20,
                         limits_.rss_bytes >> 20, where),
             running_.empty() ? nullptr : &running_.back());
    }
  }
  if (limits_.pass_seconds <= 0) return;
  const Clock::time_point now = Clock::now();
  for (const Running& running : running_) {
    const double seconds = std::chrono::duration<double>(now - running.begin).count();
    if (seconds <= limits_.pass_seconds) continue;
    EndRun(fmt::format("{} takes more than the {:g} s of -pass-timeout", Describe(running), limits_.pass_seconds),
           &running);
  }
}

std::string Watchdog::Describe(const Running& running) const {
  std::string text = fmt::format("pass '{}' (number {}", running.pass, running.number);
  if (!running.functions.empty()) text += fmt::format(", function '{}'", running.functions.front());
  return text + ')';
}

void Watchdog::EndRun(const std::string& message, const Running* running) const {
  if (on_exceeded_) return on_exceeded_(message);
  PrintProcessError("budget", message);
  EndProcessAfter(kSecondsForSnapshot, ErrorCode::Budget);
  const std::string path = running != nullptr ? WriteSnapshot(*running) : "";
  if (!path.empty()) PrintProcessNote(fmt::format("to run this pass alone: ir-opt -run-reproducer {}", path));
  EndProcess(ErrorCode::Budget);
}

std::string Watchdog::WriteSnapshot(const Running& running) const {
  if (running.snapshot.path.empty() || !dump_dir_->Write(running.snapshot, running.input).ok()) return {};
  return running.snapshot.path;
}

// The growth is that since the input of the whole run.
PipelineFile Watchdog::WithLimits(PipelineFile file) const {
  RunLimits limits = limits_;
  if (nodes_ > 0) limits.ir_growth *= static_cast<double>(input_nodes_) / static_cast<double>(nodes_);
  file.instruments.push_back(LimitsSpec(limits));
  return file;
}

Status Watchdog::EnterPassContext() {
  const std::scoped_lock lock(mutex_);
  running_.clear();
  return {};
}

Status Watchdog::RunBeforePass(const Module& module, const PassInfo& info) {
  if (info.is_composite()) return {};
  Running running{.pass = info.name, .number = counter_->current(), .begin = {}};
  if (dump_dir_) {
    running.snapshot = dump_dir_->Before(info, [this](PipelineFile file) { return WithLimits(std::move(file)); });
    running.input = module;
  }
  const std::scoped_lock lock(mutex_);
  running.begin = Clock::now();
  running_.push_back(std::move(running));
  return {};
}

Status Watchdog::RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) {
  if (info.is_composite()) return {};
  std::unique_lock lock(mutex_);
  IROPT_CHECK(!running_.empty(), "pass '{}' ends, but none has begun", info.name);
  if (!CanStartThreads()) CheckLimits();
  const Running running = std::move(running_.back());
  running_.pop_back();
  lock.unlock();
  return outcome == PassOutcome::Changed ? CheckGrowth(module, running) : Status();
}

Status Watchdog::CheckGrowth(const Module& module, const Running& running) {
  if (limits_.ir_growth <= 0) return {};
  const uint64_t nodes = CountNodes(module);
  const double most = limits_.ir_growth * static_cast<double>(input_nodes_);
  if (static_cast<double>(nodes) <= most || input_nodes_ == 0) {
    nodes_ = nodes;
    return {};
  }
  const std::string path = WriteSnapshot(running);
  diagnostics_.Error(
      {}, "budget",
      fmt::format("after {} the module has {} nodes, more than {:g} times the {} of the input (-max-ir-growth)",
                  Describe(running), nodes, limits_.ir_growth, input_nodes_));
  if (!path.empty()) {
    diagnostics_.Remark({}, "reproducer", fmt::format("to run this pass alone: ir-opt -run-reproducer {}", path));
  }
  return Failure{ErrorCode::Budget};
}

Status Watchdog::RunBeforeFunction(const GlobalVar& name, const BaseFunc&, const PassInfo&) {
  const std::scoped_lock lock(mutex_);
  if (!running_.empty()) running_.back().functions.emplace_back(name.name);
  return {};
}

Status Watchdog::RunAfterFunction(const GlobalVar& name, const BaseFunc&, const PassInfo&, PassOutcome) {
  const std::scoped_lock lock(mutex_);
  if (running_.empty()) return {};
  std::vector<std::string>& functions = running_.back().functions;
  const auto at = std::ranges::find(functions, name.name);
  if (at != functions.end()) functions.erase(at);
  return {};
}

}  // namespace iropt

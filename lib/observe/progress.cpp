#include "iropt/observe/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/support/background.h"
#include "iropt/support/crash.h"
#include "iropt/support/status_line.h"
#include "iropt/support/terminal.h"

namespace iropt {

namespace {

constexpr auto kDelay = std::chrono::seconds(2);
constexpr auto kRepaintInterval = std::chrono::milliseconds(100);

constexpr size_t kUsualWidth = 80;

}  // namespace

size_t CountPasses(const Pipeline& pipeline) {
  struct Group {
    const Pipeline* items;
    size_t times;
  };
  size_t passes = 0;
  std::vector<Group> groups = {{&pipeline, 1}};
  while (!groups.empty()) {
    const auto [items, times] = groups.back();
    groups.pop_back();
    for (const PipelineItem& item : *items) {
      const bool repeats = item.kind == PipelineItem::Kind::Repeat;
      if (item.kind == PipelineItem::Kind::Pass) {
        passes += times;
      } else {
        groups.push_back({&item.children, repeats ? times * static_cast<size_t>(item.count) : times});
      }
    }
  }
  return passes;
}

bool ProgressLine::IsWanted(ProgressShown shown) {
  if (!CanStartThreads()) return false;
  if (shown != ProgressShown::Auto) return shown == ProgressShown::Always;
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

void ProgressLine::Start() {
  stopped_ = false;
  begin_ = std::chrono::steady_clock::now();
  thread_ = std::thread([this] { Watch(); });
}

void ProgressLine::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  EraseStatusLine();
}

void ProgressLine::Watch() {
  PrepareThreadForCrash();
  std::unique_lock lock(mutex_);
  const auto is_stopped = [this] { return stopped_; };
  if (wake_.wait_for(lock, kDelay, is_stopped)) return;
  do {
    const std::string line = Line().substr(0, TerminalWidth(STDERR_FILENO).value_or(kUsualWidth) - 1);
    lock.unlock();  // a pass does not wait for the terminal
    ShowStatusLine(line);
    lock.lock();
  } while (!wake_.wait_for(lock, kRepaintInterval, is_stopped));
}

double ProgressLine::SecondsSinceStart() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

StepProgress::StepProgress(std::string_view tool, ProgressShown shown) : tool_(tool) {
  if (IsWanted(shown)) Start();
}

void StepProgress::SetStep(std::string step, size_t done, size_t total) {
  const std::scoped_lock lock(mutex_);
  if (done == 0) kind_begin_ = SecondsSinceStart();
  kind_seconds_.reset();
  step_ = std::move(step);
  done_ = done;
  total_ = total;
}

void StepProgress::SetStepOf(std::string step, double seconds) {
  const std::scoped_lock lock(mutex_);
  kind_begin_ = SecondsSinceStart();
  kind_seconds_ = seconds;
  step_ = std::move(step);
  done_ = total_ = 0;
}

// The steps that are done tell how long the others take.
std::string StepProgress::Line() const {
  const double now = SecondsSinceStart();
  std::string line = fmt::format("{}: {}", tool_, step_.empty() ? "starting" : step_);
  if (total_ > 0) line += fmt::format(" {} of {}", done_ + 1, total_);
  line += fmt::format(", {:.0f} s", now);
  double left = 0;
  if (kind_seconds_) left = kind_begin_ + *kind_seconds_ - now;
  if (done_ > 0) left = (now - kind_begin_) / static_cast<double>(done_) * static_cast<double>(total_ - done_);
  return left >= 1 ? line + fmt::format(", about {:.0f} s left", left) : line;
}

// A fixpoint may run more passes than the pipeline has.
std::string Progress::Line() const {
  const double seconds = SecondsSinceStart();
  std::string line = "ir-opt: ";
  if (passes_ > 0) {
    const std::string total = passes_ <= total_ ? fmt::format(" of {}", total_) : "";
    line += fmt::format("pass {}{}, {}, ", passes_, total, pass_);
    if (functions_ > 0) line += fmt::format("{} function{} done, ", functions_, functions_ == 1 ? "" : "s");
  }
  return line + fmt::format("{:.0f} s", seconds);
}

Status Progress::RunBeforePass(const Module&, const PassInfo& info) {
  if (info.is_composite()) return {};
  const std::scoped_lock lock(mutex_);
  pass_ = info.name;
  ++passes_;
  functions_ = 0;
  return {};
}

Status Progress::RunAfterFunction(const GlobalVar&, const BaseFunc&, const PassInfo&, PassOutcome) {
  const std::scoped_lock lock(mutex_);
  ++functions_;
  return {};
}

}  // namespace iropt

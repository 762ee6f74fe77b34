#include "iropt/observe/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "iropt/support/crash.h"
#include "iropt/support/status_line.h"

namespace iropt {

namespace {

constexpr auto kDelay = std::chrono::seconds(2);
constexpr auto kRepaintInterval = std::chrono::milliseconds(100);

size_t TerminalWidth() {
  struct winsize size = {};
  constexpr size_t kUsual = 80;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : kUsual;
}

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

bool Progress::IsWanted(ProgressShown shown) {
  if (shown != ProgressShown::Auto) return shown == ProgressShown::Always;
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

void Progress::Start() {
  stopped_ = false;
  begin_ = std::chrono::steady_clock::now();
  thread_ = std::thread([this] { Watch(); });
}

void Progress::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  EraseStatusLine();
}

void Progress::Watch() {
  PrepareThreadForCrash();
  std::unique_lock lock(mutex_);
  const auto is_stopped = [this] { return stopped_; };
  if (wake_.wait_for(lock, kDelay, is_stopped)) return;
  do {
    const std::string line = Line().substr(0, TerminalWidth() - 1);
    lock.unlock();  // a pass does not wait for the terminal
    ShowStatusLine(line);
    lock.lock();
  } while (!wake_.wait_for(lock, kRepaintInterval, is_stopped));
}

// A fixpoint may run more passes than the pipeline has.
std::string Progress::Line() const {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
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

#include "iropt/pass/timing.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "iropt/support/check.h"

namespace iropt {

namespace {

double ProcessCpuSeconds() {
  timespec spent = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

}  // namespace

Stopwatch::Stopwatch() : wall_(std::chrono::steady_clock::now()), cpu_(ProcessCpuSeconds()) {}

TimeSpent Stopwatch::Read() const {
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wall_;
  return {wall.count(), ProcessCpuSeconds() - cpu_};
}

Status PassTimingInstrument::EnterPassContext() {
  root_ = {};
  running_.clear();
  return {};
}

PassProfile& PassTimingInstrument::Innermost() {
  PassProfile* profile = &root_;
  for (const Running& running : running_) profile = &profile->children[running.child];
  return *profile;
}

Status PassTimingInstrument::RunBeforePass(const Module&, const PassInfo& info) {
  std::vector<PassProfile>& siblings = Innermost().children;
  auto profile = std::ranges::find(siblings, info.name, &PassProfile::name);
  if (profile == siblings.end()) {
    siblings.emplace_back().name = info.name;
    profile = std::prev(siblings.end());
  }
  running_.push_back({static_cast<size_t>(profile - siblings.begin()), Stopwatch()});
  return {};
}

Status PassTimingInstrument::RunAfterPass(const Module&, const PassInfo& info, PassOutcome outcome) {
  IROPT_CHECK(!running_.empty(), "pass '{}' ends, but none has begun", info.name);
  PassProfile& profile = Innermost();
  profile.time += running_.back().watch.Read();
  ++profile.runs;
  profile.changed += outcome == PassOutcome::Changed ? 1 : 0;
  profile.failed += outcome == PassOutcome::Failed ? 1 : 0;
  running_.pop_back();
  return {};
}

namespace {

void RenderRows(const std::vector<PassProfile>& profiles, double whole, size_t indent, std::string& out) {
  for (const PassProfile& profile : profiles) {
    const double share = whole > 0 ? 100 * profile.time.wall_seconds / whole : 0;
    const std::string failed = profile.failed != 0 ? fmt::format("  ({} failed)", profile.failed) : "";
    out += fmt::format("{:>11.3f}{:>11.3f}{:>7.1f}%{:>6}{:>9}  {}{}{}\n", 1e3 * profile.time.wall_seconds,
                       1e3 * profile.time.cpu_seconds, share, profile.runs, profile.changed, std::string(indent, ' '),
                       profile.name, failed);
    RenderRows(profile.children, whole, indent + 2, out);
  }
}

}  // namespace

std::string PassTimingInstrument::Render() const {
  IROPT_CHECK(running_.empty(), "a pass is still running");
  double whole = 0;
  for (const PassProfile& profile : profiles()) whole += profile.time.wall_seconds;
  std::string out =
      fmt::format("{:>11}{:>11}{:>8}{:>6}{:>9}  {}\n", "wall ms", "cpu ms", "share", "runs", "changed", "pass");
  RenderRows(profiles(), whole, 0, out);
  return out;
}

}  // namespace iropt

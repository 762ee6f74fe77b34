#include "iropt/pass/timing.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <map>
#include <utility>

#include "iropt/pass/pipeline.h"
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

// The index of the profile for the pass that begins. Inside of another pass it is that of the position, which skipped
// passes have, too; at the top, where pipelines run one after the other, it is that of the pass with its options.
size_t PassTimingInstrument::NextChild(const PassInfo& info) {
  std::vector<PassProfile>& siblings = Innermost().children;
  const std::string title = TitleOf(info);
  if (running_.empty()) {
    const auto same = std::ranges::find(siblings, title, &PassProfile::title);
    const auto index = static_cast<size_t>(same - siblings.begin());
    if (index == siblings.size()) siblings.push_back({.name = info.name, .title = title});
    return index;
  }
  const size_t place = running_.back().next++;
  if (place == siblings.size() || siblings[place].title != title)
    siblings.insert(siblings.begin() + static_cast<ptrdiff_t>(place), {.name = info.name, .title = title});
  return place;
}

Status PassTimingInstrument::RunBeforePass(const Module&, const PassInfo& info) {
  const size_t child = NextChild(info);
  running_.push_back({child, Stopwatch()});
  return {};
}

Status PassTimingInstrument::OnSkippedPass(const PassInfo& info, const PassSkip&) {
  static_cast<void>(NextChild(info));
  return {};
}

Status PassTimingInstrument::OnRound(const PassInfo&) {
  if (!running_.empty()) running_.back().next = 0;
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

TimeSpent PassProfile::Self() const {
  TimeSpent self = time;
  for (const PassProfile& child : children) self -= child.time;
  return self;
}

namespace {

void AddTotals(const std::vector<PassProfile>& profiles, std::vector<std::string_view>& outer,
               std::map<std::string_view, PassTotal>& totals) {
  for (const PassProfile& profile : profiles) {
    if (profile.runs == 0) continue;
    PassTotal& total = totals[profile.name];
    total.name = profile.name;
    total.runs += profile.runs;
    total.changed += profile.changed;
    total.failed += profile.failed;
    total.self += profile.Self();
    if (std::ranges::find(outer, profile.name) == outer.end()) total.time += profile.time;
    outer.push_back(profile.name);
    AddTotals(profile.children, outer, totals);
    outer.pop_back();
  }
}

double WallSeconds(const std::vector<PassProfile>& profiles) {
  double whole = 0;
  for (const PassProfile& profile : profiles) whole += profile.time.wall_seconds;
  return whole;
}

std::string Header() {
  return fmt::format("{:>11}{:>11}{:>11}{:>8}{:>6}{:>9}  {}\n", "wall ms", "self ms", "cpu ms", "share", "runs",
                     "changed", "pass");
}

std::string Row(const PassTotal& total, double share_of, double whole, size_t indent) {
  const double share = whole > 0 ? 100 * share_of / whole : 0;
  const std::string failed = total.failed != 0 ? fmt::format("  ({} failed)", total.failed) : "";
  return fmt::format("{:>11.3f}{:>11.3f}{:>11.3f}{:>7.1f}%{:>6}{:>9}  {}{}{}\n", 1e3 * total.time.wall_seconds,
                     1e3 * total.self.wall_seconds, 1e3 * total.time.cpu_seconds, share, total.runs, total.changed,
                     std::string(indent, ' '), total.name, failed);
}

void RenderRows(const std::vector<PassProfile>& profiles, double whole, size_t indent, std::string& out) {
  for (const PassProfile& profile : profiles) {
    if (profile.runs == 0) continue;
    out += Row({profile.title, profile.runs, profile.changed, profile.failed, profile.time, profile.Self()},
               profile.time.wall_seconds, whole, indent);
    RenderRows(profile.children, whole, indent + 2, out);
  }
}

}  // namespace

std::vector<PassTotal> TotalsByName(const std::vector<PassProfile>& profiles) {
  std::map<std::string_view, PassTotal> by_name;
  std::vector<std::string_view> outer;
  AddTotals(profiles, outer, by_name);
  std::vector<PassTotal> totals;
  for (auto& [name, total] : by_name) totals.push_back(std::move(total));
  const auto self = [](const PassTotal& total) { return total.self.wall_seconds; };
  std::ranges::stable_sort(totals, std::ranges::greater(), self);
  return totals;
}

std::string PassTimingInstrument::Render() const {
  std::string out = Header();
  RenderRows(profiles(), WallSeconds(profiles()), 0, out);
  return out;
}

std::string PassTimingInstrument::RenderList() const {
  std::string out = Header();
  const double whole = WallSeconds(profiles());
  for (const PassTotal& total : TotalsByName(profiles())) out += Row(total, total.self.wall_seconds, whole, 0);
  return out;
}

}  // namespace iropt

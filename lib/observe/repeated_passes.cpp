#include "iropt/observe/repeated_passes.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "iropt/observe/sample.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kMilliseconds = 1e3;

}  // namespace

// A position that did not run has no time. A run may have positions that earlier ones did not have.
void RepeatedPasses::AddProfiles(const std::vector<PassProfile>& profiles, int depth, size_t& next) {
  for (const PassProfile& profile : profiles) {
    if (next == positions_.size()) positions_.push_back({profile.name, depth});
    Position& position = positions_[next++];
    if (profile.runs != 0) position.seconds.push_back(profile.time.wall_seconds);
    WithStack([&] { AddProfiles(profile.children, depth + 1, next); });
  }
}

void RepeatedPasses::Add(const PassTimingInstrument& timing) {
  size_t next = 0;
  AddProfiles(timing.profiles(), 0, next);
  ++num_runs_;
}

std::string RepeatedPasses::Render() const {
  std::string text = fmt::format("{:>12}{:>12}{:>12}{:>12}  pass\n", "median ms", "min ms", "max ms", "spread ms");
  for (const Position& position : positions_) {
    if (position.seconds.empty()) continue;
    const SampleSummary times = Summarize(position.seconds);
    text += fmt::format("{:>12.4f}{:>12.4f}{:>12.4f}{:>12.4f}  {:{}}{}\n", kMilliseconds * times.median,
                        kMilliseconds * times.min, kMilliseconds * times.max, kMilliseconds * times.spread, "",
                        2 * position.depth, position.name);
  }
  return text + fmt::format("runs: {} after 1 of warm-up\n", num_runs_);
}

std::string RepeatedPasses::RenderJson(std::string_view subject) const {
  Json passes = Json::array();
  for (const Position& position : positions_) {
    if (position.seconds.empty()) continue;
    const SampleSummary times = Summarize(position.seconds);
    passes.push_back({{"name", position.name},
                      {"depth", position.depth},
                      {"runs", times.count},
                      {"median_ms", kMilliseconds * times.median},
                      {"min_ms", kMilliseconds * times.min},
                      {"max_ms", kMilliseconds * times.max},
                      {"spread_ms", kMilliseconds * times.spread}});
  }
  const Json report = {{"input", subject}, {"repeat", num_runs_}, {"passes", std::move(passes)}};
  return Json{{"repeated-passes", report}}.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace iropt

#include "iropt/observe/time_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace iropt {

namespace {

using Json = nlohmann::ordered_json;

std::string RenderSteps(const StepTimes& steps) {
  std::string text = fmt::format("{:>11}{:>11}{:>11}  step\n", "wall ms", "", "cpu ms");
  for (size_t i = 0; i < steps.size(); ++i) {
    text += fmt::format("{:>11.3f}{:>11}{:>11.3f}  {}\n", 1e3 * steps[i].wall_seconds, "", 1e3 * steps[i].cpu_seconds,
                        kRunStepNames[i]);
  }
  return text;
}

Json PassesJson(const std::vector<PassProfile>& profiles) {
  Json passes = Json::array();
  for (const PassProfile& profile : profiles) {
    if (profile.runs == 0) continue;
    const TimeSpent self = profile.Self();
    Json pass = {{"name", profile.name},
                 {"runs", profile.runs},
                 {"changed", profile.changed},
                 {"failed", profile.failed},
                 {"wall_ms", 1e3 * profile.time.wall_seconds},
                 {"self_ms", 1e3 * self.wall_seconds},
                 {"cpu_ms", 1e3 * profile.time.cpu_seconds},
                 {"self_cpu_ms", 1e3 * self.cpu_seconds},
                 {"title", profile.title}};
    if (!profile.children.empty()) pass["passes"] = PassesJson(profile.children);
    passes.push_back(std::move(pass));
  }
  return passes;
}

std::string RenderJson(const PassTimingInstrument& timing, const StepTimes& steps) {
  Json times = {{"passes", PassesJson(timing.profiles())}, {"steps", Json::array()}};
  for (size_t i = 0; i < steps.size(); ++i) {
    times["steps"].push_back(
        {{"name", kRunStepNames[i]}, {"wall_ms", 1e3 * steps[i].wall_seconds}, {"cpu_ms", 1e3 * steps[i].cpu_seconds}});
  }
  return Json{{"time-passes", std::move(times)}}.dump() + '\n';
}

}  // namespace

std::string RenderTimes(const PassTimingInstrument& timing, const StepTimes& steps, TimesForm form) {
  if (form == TimesForm::Json) return RenderJson(timing, steps);
  return (form == TimesForm::List ? timing.RenderList() : timing.Render()) + RenderSteps(steps);
}

}  // namespace iropt

#include "iropt/observe/report/report_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "effect_json.h"
#include "iropt/support/version.h"

namespace iropt {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kOutcomes[] = {"failed", "unchanged", "changed"};

// To the microsecond.
double Milliseconds(double seconds) { return static_cast<double>(static_cast<int64_t>(seconds * 1e6)) / 1e3; }

Json CostJson(const ModuleCost& cost) {
  return {{"multiply_adds", cost.multiply_adds},
          {"unknown_calls", cost.unknown_calls},
          {"constant_bytes", cost.constant_bytes},
          {"param_bytes", cost.param_bytes}};
}

Json ModulesJson(const RunRecorder& run) {
  Json modules = Json::array();
  for (const ModuleRecord& module : run.modules()) {
    Json operators = Json::object();
    for (const auto& [name, count] : module.operators) operators[name] = count;
    modules.push_back({{"name", module.name},
                       {"relax_functions", module.relax_functions},
                       {"prim_funcs", module.prim_funcs},
                       {"bindings", module.bindings},
                       {"calls", module.calls},
                       {"node_bytes", module.node_bytes},
                       {"operators", std::move(operators)},
                       {"cost", CostJson(module.cost)},
                       {"cost_after", CostJson(module.cost_after)}});
    if (module.nodes_read) modules.back()["nodes_read"] = *module.nodes_read;
    if (module.nodes_written) modules.back()["nodes_written"] = *module.nodes_written;
  }
  return modules;
}

Json TextsJson(const std::vector<TextChange>& texts) {
  Json changes = Json::array();
  for (const TextChange& text : texts) {
    Json steps = Json::array();
    for (const LineStep& step : text.steps) {
      steps.push_back(step.kept);
      steps.push_back(step.removed);
      steps.push_back(step.added.empty() ? Json() : Json(fmt::format("{}", fmt::join(step.added, "\n"))));
    }
    changes.push_back({{"function", text.function}, {"steps", std::move(steps)}});
  }
  return changes;
}

Json PassesJson(const RunRecorder& run) {
  Json passes = Json::array();
  for (const PassRecord& record : run.passes()) {
    Json pass = {{"name", record.name},
                 {"module", record.module},
                 {"depth", record.depth},
                 {"composite", record.composite},
                 {"outcome", kOutcomes[static_cast<size_t>(record.outcome)]},
                 {"begin_ms", Milliseconds(record.begin_seconds)},
                 {"wall_ms", Milliseconds(record.time.wall_seconds)},
                 {"cpu_ms", Milliseconds(record.time.cpu_seconds)},
                 {"node_bytes", record.node_bytes},
                 {"resident_bytes", record.resident_bytes},
                 {"title", record.title}};
    if (!record.composite && record.outcome == PassOutcome::Changed) AddEffect(pass, record.effect);
    if (!record.texts.empty()) pass["texts"] = TextsJson(record.texts);
    passes.push_back(std::move(pass));
  }
  return passes;
}

Json RunJson(const RunRecorder& run, const RunSummary& summary) {
  Json steps = Json::array();
  for (const StepRecord& step : run.steps()) {
    steps.push_back({{"name", step.name},
                     {"module", step.module},
                     {"begin_ms", Milliseconds(step.begin_seconds)},
                     {"wall_ms", Milliseconds(step.time.wall_seconds)}});
  }
  Json diagnostics = Json::array();
  for (const RunDiagnostic& diagnostic : summary.diagnostics) {
    Json& entry =
        diagnostics.emplace_back(Json{{"severity", SeverityName(diagnostic.severity)}, {"text", diagnostic.text}});
    if (diagnostic.pass) entry["pass"] = *diagnostic.pass;
  }
  return {{"version", IROPT_VERSION},      {"command", summary.command},
          {"pipeline", summary.pipeline},  {"exit_code", summary.exit_code},
          {"modules", ModulesJson(run)},   {"passes", PassesJson(run)},
          {"steps", std::move(steps)},     {"diagnostics", std::move(diagnostics)},
          {"summaries", summary.summaries}};
}

}  // namespace

void AddEffect(Json& object, const PassEffect& effect) {
  object["functions"] = {{"added", effect.added}, {"removed", effect.removed}, {"changed", effect.changed}};
  object["bindings"] = {
      {"added", effect.bindings.added}, {"removed", effect.bindings.removed}, {"changed", effect.bindings.changed}};
  object["operators"] = Json::object();
  for (const auto& [name, n] : effect.operators) object["operators"][name] = {{"before", n.before}, {"after", n.after}};
  object["attributes"] = effect.attributes;
}

std::string DumpJson(const Json& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string RenderReportJson(const RunRecorder& run, const RunSummary& summary) {
  return DumpJson({{"report", RunJson(run, summary)}}) + '\n';
}

std::string RenderPageData(const RunRecorder& run, const RunSummary& summary) {
  Json data = RunJson(run, summary);
  Json functions = Json::array();
  for (const TextHistory& function : run.texts()->functions()) {
    functions.push_back(
        {{"module", function.module}, {"name", function.name}, {"kind", function.kind}, {"text", function.first}});
  }
  data["functions"] = std::move(functions);
  return DumpJson(data);
}

std::string RenderDiffJson(const std::string& before, const std::string& after, bool equal, const PassEffect& effect,
                           std::span<const ChangedFunction> changes) {
  Json diff = {{"before", before}, {"after", after}, {"equal", equal}};
  AddEffect(diff, effect);
  diff["changes"] = Json::array();
  for (const ChangedFunction& change : changes) {
    Json& entry = diff["changes"].emplace_back();
    entry["name"] = change.name;
    AddEffect(entry, change.effect);
    entry.erase("functions");
    entry.erase("attributes");
    entry["text"] = change.difference;
  }
  return DumpJson({{"diff", std::move(diff)}}) + '\n';
}

}  // namespace iropt

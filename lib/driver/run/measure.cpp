#include "measure.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "iropt/pass/timing.h"
#include "iropt/support/parallel.h"

namespace iropt {

namespace {

using Json = nlohmann::ordered_json;

double Milliseconds(double seconds) { return 1e3 * seconds; }

std::string CallsHeading() {
  return fmt::format("{:>12}{:>12}{:>12}{:>12}{:>12}", "median ms", "min ms", "max ms", "spread ms", "calls/s");
}

std::string CallsRow(const ProgramTimes& times) {
  const SampleSummary& calls = times.calls;
  return fmt::format("{:>12.4f}{:>12.4f}{:>12.4f}{:>12.4f}{:>12.1f}", Milliseconds(calls.median),
                     Milliseconds(calls.min), Milliseconds(calls.max), Milliseconds(calls.spread), times.throughput);
}

std::string StepRow(double seconds, std::string_view step) {
  return fmt::format("{:>12.4f}  {}\n", Milliseconds(seconds), step);
}

std::string RenderOne(const ProgramTimes& times) {
  return fmt::format("{:>12}  step\n", "ms") + StepRow(times.steps.read_seconds, "read and check") +
         StepRow(times.steps.passes_seconds, "passes") + StepRow(times.steps.inputs_seconds, "inputs") +
         StepRow(times.compile_seconds, "compile") + CallsHeading() + "\n" + CallsRow(times) + "\n";
}

std::string RenderSeveral(std::span<const ProgramTimes> programs) {
  std::string text = fmt::format("{:>12}{:>12}{}{:>8}  pipeline\n", "passes ms", "compile ms", CallsHeading(), "ratio");
  const double first = programs.front().calls.median;
  for (const ProgramTimes& times : programs) {
    text += fmt::format("{:>12.4f}{:>12.4f}{}{:>8.3f}  {}\n", Milliseconds(times.steps.passes_seconds),
                        Milliseconds(times.compile_seconds), CallsRow(times),
                        first > 0 ? times.calls.median / first : 0, times.pipeline);
  }
  return text;
}

}  // namespace

Status ProgramTimer::Prepare() {
  for (int64_t i = 0; i < options_.threads; ++i) {
    IROPT_ASSIGN_OR_RETURN(std::unique_ptr<PrimFuncExecutor> executor,
                           program_.MakeExecutor({.max_bytes = PhysicalMemory()}));
    executors_.push_back(std::move(executor));
  }
  return {};
}

double ProgramTimer::compile_seconds() const {
  double seconds = 0;
  for (const auto& executor : executors_) seconds += executor->compile_seconds();
  return seconds;
}

void ProgramTimer::RunCall(PrimFuncExecutor& executor, Call& call) const {
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  RunOptions run{.limits = {.max_bytes = PhysicalMemory()}, .seed = options_.seed, .prim_funcs = &executor};
  RunReporter reporter(nullptr, name_node_);
  if (options_.time) run.observer = &reporter;
  const double compiled = executor.compile_seconds();
  const Stopwatch watch;
  Result<HostValue> result = program_.Call(std::move(call.inputs), diagnostics, run);
  call.seconds = watch.Read().wall_seconds - (executor.compile_seconds() - compiled);
  if (options_.time) call.times = reporter.RenderTimes(call.seconds);
  if (result.ok()) return;
  Error error = result.TakeError();
  if (error.reported() && !buffer.diagnostics().empty()) error.message = buffer.diagnostics().front().message;
  call.status = std::move(error);
}

Status ProgramTimer::RunRound(bool is_measured) {
  std::vector<Call> calls(executors_.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    IROPT_ASSIGN_OR_RETURN(calls[i].inputs, program_.CopyInputs(executors_[i]->tracking()));
  }
  const Stopwatch watch;
  ParallelFor(calls.size(), static_cast<int>(calls.size()), [&](size_t i) { RunCall(*executors_[i], calls[i]); });
  const double elapsed = watch.Read().wall_seconds;
  for (Call& call : calls) {
    if (!call.status.ok()) return std::move(call.status);
    if (!is_measured) continue;
    seconds_.push_back(call.seconds);
    if (seconds_.size() == 1 || call.seconds < fastest_.seconds)
      fastest_ = {.seconds = call.seconds, .times = call.times};
  }
  if (is_measured) round_seconds_ += calls.size() == 1 ? calls[0].seconds : elapsed;
  return {};
}

std::string RenderProgramTimes(std::span<const ProgramTimes> programs, const ProgramOptions& options) {
  const std::string calls =
      fmt::format("calls: {} after {} of warm-up, in {} thread{}\n", programs.front().calls.count,
                  options.warmup * options.threads, options.threads, options.threads == 1 ? "" : "s");
  return (programs.size() == 1 ? RenderOne(programs.front()) : RenderSeveral(programs)) + calls;
}

std::string RenderProgramTimesJson(std::span<const ProgramTimes> programs, const ProgramOptions& options) {
  Json rows = Json::array();
  for (const ProgramTimes& times : programs) {
    Json row = Json::object();
    if (programs.size() > 1) row["pipeline"] = times.pipeline;
    row["read_ms"] = Milliseconds(times.steps.read_seconds);
    row["passes_ms"] = Milliseconds(times.steps.passes_seconds);
    row["inputs_ms"] = Milliseconds(times.steps.inputs_seconds);
    row["compile_ms"] = Milliseconds(times.compile_seconds);
    row["calls"] = times.calls.count;
    row["median_ms"] = Milliseconds(times.calls.median);
    row["min_ms"] = Milliseconds(times.calls.min);
    row["max_ms"] = Milliseconds(times.calls.max);
    row["spread_ms"] = Milliseconds(times.calls.spread);
    row["calls_per_second"] = times.throughput;
    rows.push_back(std::move(row));
  }
  const Json report = {{"repeat", options.repeat},
                       {"warmup", options.warmup},
                       {"threads", options.threads},
                       {"programs", std::move(rows)}};
  return Json{{"run-times", report}}.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace iropt

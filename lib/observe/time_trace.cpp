#include "iropt/observe/time_trace.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "iropt/support/check.h"

namespace iropt {

namespace {

constexpr std::array<std::string_view, 3> kCategoryNames = {"step", "pass", "function"};
constexpr std::array<std::string_view, 3> kOutcomeNames = {"failed", "unchanged", "changed"};

// Names may have malformed UTF-8 from the input, which JSON cannot hold.
std::string Quote(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

double Microseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

}  // namespace

TimeTrace::TimeTrace(std::unique_ptr<AtomicFile> file) : PassInstrument("time-trace"), file_(std::move(file)) {
  CurrentThread();
}

uint32_t TimeTrace::NumberOf(std::string_view name) {
  const auto known = numbers_.find(name);
  if (known != numbers_.end()) return known->second;
  const auto number = static_cast<uint32_t>(names_.size());
  names_.emplace_back(name);
  numbers_.emplace(names_.back(), number);
  return number;
}

// The first one is the thread of the driver.
uint32_t TimeTrace::CurrentThread() {
  const auto [thread, is_new] = threads_.emplace(std::this_thread::get_id(), static_cast<uint32_t>(running_.size()));
  if (is_new) running_.emplace_back();
  return thread->second;
}

void TimeTrace::Begin() { running_[CurrentThread()].push_back(Clock::now()); }

void TimeTrace::End(Category category, std::string_view name, std::string_view pass, PassOutcome outcome) {
  const Clock::time_point now = Clock::now();
  const uint32_t thread = CurrentThread();
  IROPT_CHECK(!running_[thread].empty(), "'{}' ends, but nothing has begun", name);
  const Clock::time_point begin = running_[thread].back();
  running_[thread].pop_back();
  events_.push_back({begin, now - begin, NumberOf(name), NumberOf(pass), thread, category, outcome});
}

Status TimeTrace::RunBeforePass(const Module&, const PassInfo&) {
  Begin();
  return {};
}

Status TimeTrace::RunAfterPass(const Module&, const PassInfo& info, PassOutcome outcome) {
  End(Category::Pass, info.name, {}, outcome);
  return {};
}

Status TimeTrace::RunBeforeFunction(const GlobalVar&, const BaseFunc&, const PassInfo&) {
  Begin();
  return {};
}

Status TimeTrace::RunAfterFunction(const GlobalVar& name, const BaseFunc&, const PassInfo& info, PassOutcome outcome) {
  End(Category::Function, name.name, info.name, outcome);
  return {};
}

void TimeTrace::OnStep(RunStep step, const Stopwatch& watch, const TimeSpent& /*time*/) {
  const Clock::time_point begin = watch.begin();
  events_.push_back({begin, Clock::now() - begin, NumberOf(RunStepName(step)), NumberOf({}), CurrentThread(),
                     Category::Step, PassOutcome::Unchanged});
}

Status TimeTrace::Write(const RunEnd& end) {
  if (!end.has_read) return {};
  WriteTo(file_->stream());
  return OfFlag("-time-trace", file_->Commit());
}

void TimeTrace::WriteTo(OutputStream& out) const {
  std::vector<std::string> quoted;
  quoted.reserve(names_.size());
  for (const std::string& name : names_) quoted.push_back(Quote(name));
  out.Append("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n");
  out.Append(R"({"ph": "M", "pid": 1, "tid": 0, "name": "process_name", "args": {"name": "ir-opt"}})");
  for (size_t i = 0; i < running_.size(); ++i) {
    const std::string name = i == 0 ? "main" : fmt::format("worker {}", i);
    out.Append(fmt::format(
        ",\n{{\"ph\": \"M\", \"pid\": 1, \"tid\": {}, \"name\": \"thread_name\", \"args\": {{\"name\": \"{}\"}}}}", i,
        name));
  }
  for (const Event& event : events_) WriteEvent(event, quoted, out);
  out.Append("\n]}\n");
}

void TimeTrace::WriteEvent(const Event& event, const std::vector<std::string>& quoted, OutputStream& out) const {
  out.Append(fmt::format(
      ",\n{{\"ph\": \"X\", \"pid\": 1, \"tid\": {}, \"ts\": {:.3f}, \"dur\": {:.3f}, \"cat\": \"{}\", \"name\": {}",
      event.thread, Microseconds(event.begin - start_), Microseconds(event.duration),
      kCategoryNames[static_cast<size_t>(event.category)], quoted[event.name]));
  if (event.category != Category::Step) {
    out.Append(fmt::format(", \"args\": {{\"outcome\": \"{}\"", kOutcomeNames[static_cast<size_t>(event.outcome)]));
    if (event.category == Category::Function) out.Append(fmt::format(", \"pass\": {}", quoted[event.pass]));
    out.Append('}');
  }
  out.Append('}');
}

}  // namespace iropt

#include "driver/instruments/run_instruments.h"

#include <algorithm>
#include <utility>

namespace iropt {

void RunInstruments::Add(InstrumentPhase phase, InstrumentRuns runs, std::shared_ptr<PassInstrument> instrument,
                         Renew renew) {
  const auto place = std::ranges::upper_bound(entries_, phase, {}, &Entry::phase);
  entries_.insert(place, {phase, runs, std::move(instrument), std::move(renew)});
}

InstrumentList RunInstruments::ListFor(InstrumentRuns runs) const {
  InstrumentList list;
  for (const Entry& entry : entries_) {
    if (entry.runs < runs) continue;
    list.push_back(entry.renew && runs != InstrumentRuns::First ? entry.renew() : entry.instrument);
  }
  return list;
}

void RunInstruments::BeginInput() {
  for (const auto& listener : listeners_) listener->BeginInput();
}

void RunInstruments::BeginOutput() {
  for (const auto& listener : listeners_) listener->BeginOutput();
}

void RunInstruments::OnRead(std::string_view subject, const Module& module, const Stopwatch& watch) {
  OnStep(RunStep::Read, watch);
  subject_ = subject;
  end_.has_read = true;
  const TimeSpent time = watch.Read();
  for (const auto& listener : listeners_) listener->OnRead(subject_, module, time);
}

void RunInstruments::OnStep(RunStep step, const Stopwatch& watch) {
  const TimeSpent time = watch.Read();
  end_.step_times[static_cast<size_t>(step)] += time;
  for (const auto& listener : listeners_) listener->OnStep(step, watch, time);
}

void RunInstruments::BeforePasses(const Module& module) {
  end_.has_read = true;
  for (const auto& listener : listeners_) listener->BeforePasses(subject_, module);
}

void RunInstruments::AfterPasses(const Module& module) {
  for (const auto& listener : listeners_) listener->AfterPasses(subject_, module);
}

void RunInstruments::EndPasses() {
  for (const auto& listener : listeners_) listener->EndPasses(subject_);
}

Status RunInstruments::CheckResult(const Module& module) {
  for (const auto& listener : listeners_) IROPT_RETURN_IF_ERROR(listener->CheckResult(module));
  return {};
}

void RunInstruments::EndInput() {
  for (const auto& listener : listeners_) listener->EndInput();
}

// What sees passes first tells last.
int RunInstruments::Finish(int code) {
  BeginOutput();
  end_.code = code;
  for (auto at = listeners_.rbegin(); at != listeners_.rend(); ++at) {
    RunListener& listener = **at;
    compiler_.err().Append(listener.Text(end_));
    static_cast<void>(compiler_.err().Flush());
    const Status written = listener.Write(end_);
    if (written.ok()) continue;
    const int failure = compiler_.Report(written.error(), "file");
    if (end_.code == 0) end_.code = failure;
  }
  return end_.code;
}

}  // namespace iropt

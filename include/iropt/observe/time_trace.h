// -time-trace: when each pass, function and step of the driver ran, and on which thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "iropt/observe/run_listener.h"
#include "iropt/observe/run_step.h"
#include "iropt/pass/instrument.h"
#include "iropt/support/file.h"

namespace iropt {

// Writes the format of Chrome's trace viewer, which Perfetto and Speedscope read, too: complete events (ph "X"), a
// track for each thread, times in microseconds. Source: "Trace Event Format", Google, 2016. Takes 40 bytes per event.
class TimeTrace : public PassInstrument, public RunListener {
 public:
  using Clock = std::chrono::steady_clock;

  explicit TimeTrace(std::unique_ptr<AtomicFile> file);

  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;
  Status RunBeforeFunction(const GlobalVar& name, const BaseFunc& function, const PassInfo& info) override;
  Status RunAfterFunction(const GlobalVar& name, const BaseFunc& function, const PassInfo& info,
                          PassOutcome outcome) override;
  void OnStep(RunStep step, const Stopwatch& watch, const TimeSpent& time) override;
  // The file appears only if that succeeds, and if a module was read.
  Status Write(const RunEnd& end) override;

 private:
  enum class Category : uint8_t { Step, Pass, Function };

  struct Event {
    Clock::time_point begin;
    Clock::duration duration;
    uint32_t name;    // index in names_
    uint32_t pass;    // of a function; the same
    uint32_t thread;  // index in running_
    Category category;
    PassOutcome outcome;
  };

  uint32_t NumberOf(std::string_view name);
  uint32_t CurrentThread();
  void Begin();
  void End(Category category, std::string_view name, std::string_view pass, PassOutcome outcome);
  void WriteTo(OutputStream& out) const;
  void WriteEvent(const Event& event, const std::vector<std::string>& quoted, OutputStream& out) const;

  std::unique_ptr<AtomicFile> file_;
  const Clock::time_point start_ = Clock::now();
  std::vector<Event> events_;  // in the order of their ends
  std::vector<std::string> names_;
  std::map<std::string, uint32_t, std::less<>> numbers_;
  std::map<std::thread::id, uint32_t> threads_;
  std::vector<std::vector<Clock::time_point>> running_;  // by thread: the begins of what runs
};

}  // namespace iropt

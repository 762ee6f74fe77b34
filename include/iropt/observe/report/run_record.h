// The record of a run: each module, pass and step with its time, its memory and its effect. The reports show it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/observe/module_metrics.h"
#include "iropt/observe/report/function_texts.h"
#include "iropt/observe/report/pass_effect.h"
#include "iropt/observe/run_step.h"
#include "iropt/pass/instrument.h"
#include "iropt/pass/timing.h"

namespace iropt {

// A module as the passes find it, and what it costs after them.
struct ModuleRecord {
  std::string name;
  size_t relax_functions = 0;
  size_t prim_funcs = 0;
  size_t bindings = 0;
  size_t calls = 0;
  size_t node_bytes = 0;
  std::map<std::string, uint64_t> operators = {};
  ModuleCost cost = {};
  ModuleCost cost_after = {};  // all passes
  // In the files that the module was read from and is written to, if their formats are graphs.
  std::optional<uint64_t> nodes_read = {};
  std::optional<uint64_t> nodes_written = {};
};

struct PassRecord {
  std::string name;
  std::string title = {};  // with its options
  uint32_t module = 0;     // index of the module
  uint32_t depth = 0;      // the number of passes around it
  bool composite = false;
  PassOutcome outcome = PassOutcome::Failed;  // also if it does not end
  double begin_seconds = 0;                   // since the recorder was made, without the work of recording
  TimeSpent time = {};
  size_t node_bytes = 0;  // of the module after it
  size_t resident_bytes = 0;
  PassEffect effect = {};  // empty for composite passes
  std::vector<TextChange> texts = {};
};

struct StepRecord {
  std::string_view name;
  uint32_t module = 0;
  double begin_seconds = 0;
  TimeSpent time = {};
};

class RunRecorder : public PassInstrument {
 public:
  // Null `texts`: none are kept.
  explicit RunRecorder(std::unique_ptr<FunctionTexts> texts) : PassInstrument("report"), texts_(std::move(texts)) {}

  // Keeps texts, too. Before the first module is read.
  void set_texts(std::unique_ptr<FunctionTexts> texts) { texts_ = std::move(texts); }
  // Called when a pass that is not composite has ended.
  void set_on_pass(std::function<void(const PassRecord&)> on_pass) { on_pass_ = std::move(on_pass); }

  void OnRead(std::string_view name, const Module& module, std::optional<uint64_t> nodes = {});
  // The module that was read last is in a file with so many nodes.
  void OnWritten(std::optional<uint64_t> nodes);
  void OnStep(RunStep step, TimeSpent time);

  Status EnterPassContext() override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

  const std::vector<ModuleRecord>& modules() const { return modules_; }
  const std::vector<PassRecord>& passes() const { return passes_; }  // in the order in which they begin
  const std::vector<StepRecord>& steps() const { return steps_; }
  // The index of the innermost pass that runs.
  std::optional<size_t> running_pass() const;
  // Null if none are kept.
  const FunctionTexts* texts() const { return texts_.get(); }

 private:
  struct Running {
    size_t pass;  // index of its record
    Module before;
    TimeSpent begin;
  };

  // The time of the run, without that for recording.
  TimeSpent Now() const;
  void LoseTimeSince(TimeSpent begin);
  void EndPass(const Module& module, PassOutcome outcome, TimeSpent end);
  void BeginModule(std::string_view name, const Module& module);
  void RecordEffect(const Running& run, const Module& module, PassRecord& record);

  std::unique_ptr<FunctionTexts> texts_;
  std::function<void(const PassRecord&)> on_pass_;
  std::vector<ModuleRecord> modules_;
  std::vector<PassRecord> passes_;
  std::vector<StepRecord> steps_;
  std::vector<Running> running_;
  Module last_;  // as the last pass left it
  const Stopwatch watch_;
  TimeSpent lost_;  // the time for recording
};

}  // namespace iropt

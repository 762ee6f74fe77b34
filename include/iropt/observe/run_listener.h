// An instrument that sees the steps of a run of the tool as well as passes, and tells about it at the end.
// end.
#pragma once

#include <string>
#include <string_view>

#include "iropt/ir/module.h"
#include "iropt/observe/run_step.h"
#include "iropt/pass/timing.h"
#include "iropt/support/result.h"

namespace iropt {

// A run at its end.
struct RunEnd {
  int code = 0;           // the exit code
  bool has_read = false;  // whether a module was read
  StepTimes step_times = {};
};

class RunListener {
 public:
  RunListener() = default;
  RunListener(const RunListener&) = delete;
  RunListener& operator=(const RunListener&) = delete;
  virtual ~RunListener() = default;

  // Around the work on an input until its module is written. Limits hold, and progress is shown, in between.
  virtual void BeginInput() {}
  virtual void BeginOutput() {}

  virtual void OnRead(std::string_view /*subject*/, const Module& /*module*/, const TimeSpent& /*time*/) {}
  // A step that ends now and began when the watch did.
  virtual void OnStep(RunStep /*step*/, const Stopwatch& /*watch*/, const TimeSpent& /*time*/) {}
  // Before and after the passes run on a module, also if there are none; AfterPasses not after they have failed.
  virtual void BeforePasses(std::string_view /*subject*/, const Module& /*module*/) {}
  virtual void AfterPasses(std::string_view /*subject*/, const Module& /*module*/) {}
  virtual void EndPasses(std::string_view /*subject*/) {}
  // Checks the result of the passes, after the checks of the driver.
  virtual Status CheckResult(const Module& /*module*/) { return {}; }
  // After the passes have run on all parts of an input.
  virtual void EndInput() {}
  // At the end of a run, also of one that failed: a text for stderr, and files.
  virtual std::string Text(const RunEnd& /*end*/) { return {}; }
  virtual Status Write(const RunEnd& /*end*/) { return {}; }
};

// The status of writing the file of a flag, which the error names.
Status OfFlag(std::string_view flag, Status written);

}  // namespace iropt

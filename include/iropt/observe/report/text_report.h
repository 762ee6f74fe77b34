// The text of -report: a line for each step of the run.
#pragma once

#include <string>
#include <string_view>

#include "iropt/observe/report/run_record.h"
#include "iropt/pass/timing.h"
#include "iropt/support/file.h"

namespace iropt {

// "functions: 1 changed; bindings: 3 removed, 1 changed; calls: R.add -1".
std::string DescribeEffect(const PassEffect& effect);

class TextReport {
 public:
  explicit TextReport(OutputStream& out) : out_(out) {}

  void Read(const ModuleRecord& module, TimeSpent time);
  void Step(std::string_view what, TimeSpent time);
  void Pass(const PassRecord& pass);

 private:
  void Line(std::string_view what, TimeSpent time, std::string_view text);

  OutputStream& out_;
};

}  // namespace iropt

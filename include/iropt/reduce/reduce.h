// ir-reduce without its command line: finds a small module on which a command still does what it does on the input.
#pragma once

#include <string>
#include <vector>

#include "iropt/driver/driver_options.h"

namespace iropt {

struct ReduceOptions {
  CompilerOptions compiler = {};
  std::string input = "-";
  std::string output = "-";
  std::vector<std::string> plugins = {};  // shared objects with operators of the module
  std::string test = {};                  // a command of the shell; {} stands for the file
  int jobs = 0;                           // tests at a time; 0: one per core
  int test_timeout = 60;                  // seconds
  bool stats = false;                     // print a table of the reductions to stderr
  ProgressShown progress = ProgressShown::Auto;
};

// The exit code after an interrupt, that of shells.
inline constexpr int kInterruptedExitCode = 130;

// Runs ir-reduce with the options and returns the exit code (see ErrorCode): SemanticCheck if the input is not
// interesting, or if the result is not in a second test, kInterruptedExitCode after an interrupt. The smallest module
// goes to the output when the search is over, also after an interrupt.
int RunReduce(const ReduceOptions& options);

}  // namespace iropt

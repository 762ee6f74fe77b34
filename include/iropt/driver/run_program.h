// ir-run without its command line: reads a module, runs passes, runs a function on tensors from files or random
// tensors, and writes, prints or compares the results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "iropt/driver/driver_options.h"
#include "iropt/eval/tir/loop_facts.h"

namespace iropt {

struct ProgramOptions {
  DriverOptions driver;  // the input and the pipeline

  // The function to run; else "main", or else the only function, or the only Relax function.
  std::optional<std::string> entry;
  // Files of tensors, which are matched to parameters by name or position ("0", "arr_0", "arg_0"); a tensor without a
  // name goes to the first parameter without a value.
  std::vector<std::string> inputs;
  bool random_inputs = false;    // generate inputs that are not in files
  uint64_t seed = 0;             // of random inputs and of random operators
  std::vector<std::string> sym;  // sizes of random inputs, "n=16"
  // Of symbolic variables that neither `sym` nor an input gives a value; without it, they are an error.
  std::optional<int64_t> other_sizes;

  LoopMode loops = LoopMode::Interpret;
  std::string cache_dir;     // of the object cache for compiled PrimFuncs; empty: none
  int64_t loop_threads = 0;  // of parallel loops of compiled PrimFuncs; 0: as many as the process may use
  std::string loop_cpu;      // for which PrimFuncs are compiled, as in clang -mcpu; empty: that of the host
  // A folder with a tuning database, whose schedules come before those of the rules. For compiled loops at levels that
  // schedule them.
  std::optional<std::string> database;
  // Seconds for measuring schedules of the PrimFuncs before the run; the best ones are stored in the database.
  std::optional<double> tune_seconds;
  bool emit_llvm = false;  // print the LLVM IR of PrimFuncs to stdout and stop

  // The file for the results out0, out1, ...; tuples are flattened. Tensors of rank 0 have the shape (1,) in files.
  std::optional<std::string> output;
  std::optional<std::string> check;         // a file with the expected results
  bool require_comparison = false;          // a `check` or `check_values` that compares nothing is an error
  ToleranceOptions tolerance;               // of both
  std::optional<std::string> save_inputs;   // the file for the inputs, named as the parameters
  std::optional<std::string> save_values;   // the file for the values of all bindings, by name
  std::optional<std::string> check_values;  // a file with the expected values of bindings, by name
  // PrimFuncs are interpreted, and races are errors. With `kSampled` there are no results.
  std::optional<RaceWatch> check_races;
  bool print = false;          // print the results to stdout
  bool time = false;           // print a table of times by callee to stderr
  bool times_by_node = false;  // by the places of bindings instead
  bool trace = false;          // print each binding with statistics of its value to stderr

  // Measuring: after one call, each thread calls the function `warmup` times, then `repeat` times, which are measured.
  int64_t repeat = 0;  // 0: not measured
  int64_t warmup = 1;
  int64_t threads = 1;
  // Two pipelines, in the syntax of -passes: the module is measured after each of them, by turns, and the results are
  // compared. Empty: the passes of `driver`.
  std::vector<std::string> compare_pipelines;
  ProgressShown progress = ProgressShown::Never;  // the line that says how far the run is
  ShownForm times_form = ShownForm::Text;         // of what was measured, on stderr
};

// Runs ir-run with the options and returns the exit code (see ErrorCode): SemanticCheck if the run fails or its results
// are not the expected ones. Output of the program goes to stdout.
int RunProgram(const ProgramOptions& options);

}  // namespace iropt

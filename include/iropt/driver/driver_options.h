// Options of a run of ir-opt. Tools fill this from their command lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "iropt/driver/compiler_options.h"
#include "iropt/driver/cut_module.h"
#include "iropt/observe/options.h"
#include "iropt/observe/run_limits.h"
#include "iropt/semantics/options.h"

namespace iropt {

// Failure that -bisect looks for in the result of passes.
struct BisectRequest {
  enum class Check : uint8_t { Verify, Semantics, Command };

  Check check = Check::Verify;
  std::string command = {};  // of a shell, see CommandOn: gets the result as a file and fails if it is bad
  SemanticCheckOptions semantics = {};
  RunLimits limits = {};  // what exceeds them is bad, too
};

struct DriverOptions {
  CompilerOptions compiler;

  std::string input = "-";               // "-" is the standard input
  std::vector<std::string> more_inputs;  // of ir-opt: works on each of them as on the first one
  std::string output = "-";              // "-" is the standard output; "DIR/": a file in the folder for each input

  std::string emit;  // the format of the output, see formats.h; empty: by the extension of the file

  // Write the input with FileCheck lines of this prefix for the result, instead of the result.
  std::optional<std::string> generate_checks;

  // Constants of more than so many bytes go to a .safetensors file beside the output.
  std::optional<int64_t> externalize_constants;

  std::vector<std::string> plugins;  // shared objects, whose passes and instruments can then be named

  // The pipeline. Values here take precedence over those of the file; lists are appended to those of the file. A level
  // without passes selects its default pipeline; with neither, nothing runs.
  std::vector<std::string> passes;  // pipelines, one after the other
  std::optional<std::string> pipeline_file;
  std::optional<int> opt_level;
  std::vector<std::string> disable;
  std::vector<std::string> require;
  std::vector<std::string> config;             // each an option and its value, see ParseConfig
  std::optional<std::string> mode;             // "auto", "training" or "inference", see NetworkMode
  std::optional<std::string> target;           // in a spelling that ReadTarget takes
  ShownForm print_pipeline = ShownForm::None;  // shown on stdout; nothing else is done then

  // Lines that hold only this text separate modules, each of which is processed separately. Without it, the input is
  // one module.
  std::optional<std::string> split_marker;
  std::optional<std::string> output_split_marker;  // between the modules of the output; else as split_marker
  CutRequest cut;                                  // work on these parts of the module alone
  bool verify_only = false;                        // check the input and do nothing else
  bool verify_diagnostics = false;  // compare the diagnostics with those that comments in the input expect
  bool only_expected = false;       // of these, ignore those that are not expected
  bool verify_each = false;         // check the module after every pass, and the pass's report of changes
  bool verify_roundtrip = false;    // check that the output reads back as the same module
  bool verify_determinism = false;  // check that a second run of the passes gives the same module
  bool verify_idempotent = false;   // check that a second run of the passes changes nothing
  std::optional<SemanticCheckOptions> check_semantics;

  TimesForm time_passes = TimesForm::None;
  int64_t repeat = 0;  // the number of times that the passes run again, to measure them
  ShownForm stats = ShownForm::None;
  ShownForm metrics = ShownForm::None;           // the size and the cost of the result
  ShownForm track_memory = ShownForm::None;      // the memory after each pass
  std::string remarks;                           // the file for what passes optimized and missed; empty: none
  std::string time_trace;                        // the file for a trace of the run; empty: none
  ShownForm report = ShownForm::None;            // the size of the input, the effect and the time of each pass
  std::string report_file;                       // the file for the report as JSON; empty: none
  std::string report_page;                       // the file for a page about the run; empty: none
  ShownForm explain_pipeline = ShownForm::None;  // for each pass its outcome, or why it did not run
  std::optional<std::string> start_after;        // skip the passes up to this run of a pass, see ParsePassPoint
  std::optional<std::string> stop_after;         // and those after this one
  std::optional<int64_t> opt_bisect_limit;       // the number of passes to run, see OptBisect
  std::vector<std::string> rewrite_limits;       // each PASS:N, see ParseRewriteLimit
  std::vector<std::string> debug_channels;       // of debug output that is shown, see debug_output.h
  std::optional<BisectRequest> bisect;           // find the first pass whose result is bad, and write no module
  std::vector<std::string> instruments;          // in the syntax of a pipeline, see instruments.def
  RunLimits limits;
  ProgressShown progress = ProgressShown::Never;
  PrintRequest print_before;
  PrintRequest print_after;
  ChangePrinting print_changed = ChangePrinting::Off;
  bool print_trace = false;                     // the traces of the schedules that passes apply
  std::optional<std::string> dump_dir;          // a folder for the module after each pass that changed it
  std::optional<std::string> checkpoint_dir;    // a folder for the states of the run
  std::optional<int64_t> resume_from;           // the number of the pass to begin with, from these states
  std::optional<std::string> reproducer;        // the file that a failing run leaves to be repeated
  bool run_reproducer = false;                  // the input holds its pipeline and settings in comments
  std::optional<std::string> filter_functions;  // a regular expression for names of functions to print
};

}  // namespace iropt

// Options of a run of ir-opt. Tools fill this from their command lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "iropt/driver/compiler_options.h"
#include "iropt/driver/cut_module.h"
#include "iropt/driver/instrument_flags.h"
#include "iropt/observe/options.h"
#include "iropt/observe/run_limits.h"
#include "iropt/semantics/options.h"

namespace iropt {

// Failure that -bisect looks for in the result of passes.
struct BisectRequest {
  enum class Check : uint8_t { Verify, Semantics, Races, Precision, Command };

  Check check = Check::Verify;
  std::string command = {};  // of a shell, see CommandOn: gets the result as a file and fails if it is bad
  SemanticCheckOptions semantics = {};
  RunLimits limits = {};  // what exceeds them is bad, too
};

// The pipeline and its settings. Values here take precedence over those of the file; lists are appended to those of the
// file. A level without passes selects its default pipeline; with neither, nothing runs.
struct PipelineOptions {
  std::vector<std::string> plugins;  // shared objects, whose passes and instruments can then be named
  std::vector<std::string> passes;   // pipelines, one after the other; @FILE is one in a file
  std::optional<std::string> file;
  bool is_in_input = false;  // the input holds its pipeline and settings in comments
  std::optional<int> opt_level;
  std::vector<std::string> disable;
  std::vector<std::string> require;
  std::vector<std::string> config;         // each options and their values, see ParseConfig
  std::optional<std::string> mode;         // "auto", "training" or "inference", see NetworkMode
  std::optional<std::string> target;       // in a spelling that ReadTarget takes
  std::optional<std::string> start_after;  // skip the passes up to this run of a pass, see ParsePassPoint
  std::optional<std::string> stop_after;   // and those after this one
};

// Files of the modules, and their format.
struct OutputOptions {
  std::string path = "-";                     // "-" is the standard output; "DIR/": a file in the folder for each input
  std::string emit;                           // the format, see formats.h; empty: by the extension of the file
  std::optional<std::string> split_marker;    // between the modules; else as that of the input
  std::optional<std::string> check_prefix;    // write the input with FileCheck lines of this prefix for the result
  std::optional<int64_t> external_constants;  // those of more than so many bytes go to a .safetensors file
};

// Checks of the input and of the result.
struct ResultChecks {
  bool diagnostics = false;    // compare the diagnostics with those that comments in the input expect
  bool only_expected = false;  // of these, ignore those that are not expected
  bool roundtrip = false;      // the output reads back as the same module
  bool determinism = false;    // a second run of the passes gives the same module
  bool idempotence = false;    // a second run of the passes changes nothing
};

// Files from which a run, or a part of it, can be repeated.
struct SnapshotOptions {
  std::optional<std::string> dump_dir;        // a folder for the module after each pass that changed it
  std::optional<std::string> checkpoint_dir;  // a folder for the states of the run
  std::optional<int64_t> resume_from;         // the number of the pass to begin with, from these states
  std::optional<std::string> reproducer;      // the file that a failing run leaves to be repeated
};

// The choice of number formats for operators, by runs of the module after the passes.
struct PrecisionOptions {
  std::string format;                   // "fp16": all operators that may; "auto:fp16": as many as the tolerance allows
  std::vector<std::string> keep;        // names of operators that keep their format, or regular expressions
  std::string objective = "tolerance";  // or "size", "speed"
  std::optional<std::string> report;    // the file for the table, as JSON or, by its name, as a page
  std::vector<std::string> inputs;      // files of tensors, of one run each; empty: random inputs
  std::optional<double> tolerance;      // of the relative error of an output
  bool lints = false;                   // look for overflows and lost digits instead of running passes
};

struct DriverOptions {
  CompilerOptions compiler;
  PipelineOptions pipeline;
  std::string input = "-";               // "-" is the standard input
  std::vector<std::string> more_inputs;  // of ir-opt: works on each of them as on the first one
  // Lines that hold only this text separate modules, each of which is processed separately. Without it, the input is
  // one module.
  std::optional<std::string> split_marker;
  CutRequest cut;  // work on these parts of the module alone
  OutputOptions output;
  ResultChecks checks;
  PrecisionOptions precision;
  std::vector<FlaggedInstrument> flagged_instruments;
  std::vector<std::string> instruments;  // in the syntax of a pipeline, see instruments.def
  SnapshotOptions snapshots;
  std::optional<std::string> filter_functions;  // a regular expression for names of functions to print
  ProgressShown progress = ProgressShown::Never;
  int64_t repeat = 0;                       // the number of times that the passes run again, to measure them
  std::vector<std::string> debug_channels;  // of debug output that is shown, see debug_output.h

  // Done instead of running the passes and writing the modules.
  bool verify_only = false;                    // check the input
  std::optional<BisectRequest> bisect;         // find the first pass whose result is bad
  ShownForm print_pipeline = ShownForm::None;  // show the pipeline on stdout
};

}  // namespace iropt

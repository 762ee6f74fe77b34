// Search for schedules by measuring: for the PrimFuncs of a module, candidates of the rule cpu.Tile are compiled, run
// on random inputs, compared with the function without a schedule, and timed. The best ones go to a tuning database.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "iropt/codegen/loop_compiler.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/run_program.h"
#include "iropt/ir/module.h"
#include "iropt/observe/progress.h"
#include "iropt/pass/context.h"
#include "iropt/schedule/database.h"
#include "iropt/support/lookup.h"
#include "tuning_task.h"

namespace iropt {

class Tuner {
 public:
  // The module and the compiler must outlive it. The context has the target.
  Tuner(const Module& module, const PassContext& context, CompilerInstance& compiler, const ProgramOptions& options);

  // Reads the database if there is one, and measures candidates, in an order that does not depend on the times, until
  // the time of the options is over. Each function gets a part of the time that its work is of that of all functions;
  // what one does not use is for the next ones. The files are replaced whenever something better is found. Several
  // runs may do so with one folder at a time. Writes a line for each function to stderr.
  Status Run(StepProgress& progress);

 private:
  // Result of the search for one function.
  struct Search {
    double seconds = 0;            // the least time
    std::string description = {};  // of the best candidate; empty: none is better than no schedule
    std::string kept = {};         // the trace of its record; empty if the database has a better one
    size_t tried = 0;
    LookupSet<std::string> traces = {};  // that were tried
  };

  Status TuneTask(const TuningTask& task, double seconds);
  // Measures one candidate, unless it is one that was tried.
  Status TryCandidate(const TuningTask& task, const schedule::TileChoice& choice, TaskRunner& runner, Search& search);
  // Adds a record to the files, which other runs may have written to since the last one.
  Status Keep(const TuningTask& task, schedule::Trace trace, Search& search);
  Status Tell(const TuningTask& task, const Search& search, double unscheduled);

  const Module& module_;
  PassContext context_;
  CompilerInstance& compiler_;
  const ProgramOptions& options_;
};

}  // namespace iropt

// Makes what many runs need. A host calls it once in a new instance, keeps a copy of the memory, and has each run begin with that; see
// web/npm/lib/tool.js. It must not depend on a run, such as on its environment variables. Constructors run later, as part of each run.
#include <unistd.h>

#include "iropt/pass/pipeline.h"
#include "iropt/transform/passes.h"

extern "C" [[clang::export_name("prepare")]] void Prepare() {
  using namespace iropt;
  sbrk(0);  // what is in use before the first run
  // Passes of pipelines share rules that are made with the first one.
  DiagnosticBuffer reports;
  DiagnosticEngine diagnostics(&reports);
  const auto pipeline = ParsePipeline("default<O3>", 1, diagnostics);
  if (!pipeline || !BuildPipeline(*pipeline, AllPasses(), diagnostics)) __builtin_trap();
}

// Makes what all runs need. A host calls it once in a new instance, keeps a copy of the memory, and has each run begin with that; see
// web/npm/lib/tool.js. Constructors run later, as part of each run.
#include <unistd.h>

#include "iropt/transform/passes.h"

extern "C" [[clang::export_name("prepare")]] void Prepare() {
  sbrk(0);
  iropt::AllPasses();
}

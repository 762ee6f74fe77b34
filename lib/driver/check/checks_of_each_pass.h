// What -verify-each checks, for a run and for each run of a bisection.
#pragma once

#include <memory>

#include "iropt/driver/compiler_instance.h"
#include "iropt/pass/context.h"
#include "iropt/pass/instrument.h"
#include "iropt/pass/pass.h"

namespace iropt {

struct ChecksOfEachPass {
  std::shared_ptr<PassInstrument> before;  // records modules; comes before what measures passes
  InstrumentList after;
};

// Makes the instruments, and sets in the context what they need. `pipeline` is what runs, null if nothing does.
ChecksOfEachPass MakeChecksOfEachPass(CompilerInstance& compiler, const Pass* pipeline, PassContext& context);

}  // namespace iropt

// What becomes of each pass of a pipeline, told by those who decide it. Instruments see only the passes that run; an
// observer also hears of those that do not, and why.
#pragma once

#include <cstdint>
#include <string_view>

#include "iropt/pass/instrument.h"
#include "iropt/pass/pass_info.h"

namespace iropt {

class Pass;

enum class SkipReason : uint8_t { Disabled, Level };

// Within a pass that runs others, the calls are
//   BeginRound                      once in a Sequential, once a round in a fixpoint or a repeat
//     Skip(A)
//     RunRequirement(B, C)          before the Begin of C, which is run because B requires it
//     Begin(B) SkipFunction ... End(B)
//     Begin(D) Veto(D, instrument)
// They come from the thread that runs the passes.
class PassObserver {
 public:
  PassObserver() = default;
  PassObserver(const PassObserver&) = delete;
  PassObserver& operator=(const PassObserver&) = delete;
  virtual ~PassObserver() = default;

  virtual void BeginRound() = 0;
  // A Sequential leaves the pass out. `level` is the one at which it runs passes.
  virtual void Skip(const Pass& pass, SkipReason reason, int level) = 0;
  virtual void RunRequirement(const Pass& pass, const Pass& requirement) = 0;
  // The pass that began last leaves a function alone because of an attribute that the function has.
  virtual void SkipFunction(std::string_view function, std::string_view attribute) = 0;
  virtual void Veto(const Pass& pass, const PassInstrument& by) = 0;
  virtual void Begin(const Pass& pass) = 0;
  virtual void End(const Pass& pass, PassOutcome outcome) = 0;
};

}  // namespace iropt

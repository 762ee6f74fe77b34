#include "instrument_options/Limits.h"

#include "driver/instruments/setup.h"
#include "iropt/observe/run_limits.h"
#include "iropt/observe/watchdog.h"

namespace iropt {

Status MakeLimits(const CheckedOptions& options, InstrumentSetup& setup) {
  const instrument_options::Limits given(options);
  const RunLimits limits{
      .pass_seconds = *given.pass_timeout, .rss_bytes = *given.max_rss, .ir_growth = *given.max_ir_growth};
  // Processes that -bisect starts have them.
  if (!limits.any() || setup.pipeline().TakesLimits(limits)) return {};
  const auto watchdog =
      std::make_shared<Watchdog>(limits, setup.compiler().diagnostics(), setup.pipeline().selection().NumberPasses());
  watchdog->set_dump_dir(setup.pipeline().dump_dir());
  setup.AddListener(watchdog);
  return {};
}

}  // namespace iropt

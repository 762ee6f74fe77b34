// Sends events of the pass manager to instruments. Exceptions and errors of a hook become errors that name the
// instrument and the subject, which `describe` returns ("pass 'A'").
#pragma once

#include <fmt/format.h>

#include "guard.h"
#include "iropt/pass/context.h"
#include "iropt/support/crash.h"

namespace iropt {

template <class Describe, class F>
std::invoke_result_t<F&> CallInstrument(const PassInstrument& instrument, const Describe& describe, F&& hook) {
  const CrashNote note("calling instrument", instrument.name());
  return CallHook([&] { return fmt::format("instrument '{}' around {}", instrument.name(), describe()); }, hook);
}

// An event with begin and end, for the instruments that are present at its begin.
class InstrumentScope {
 public:
  // The list must outlive it, and is not that of the context: a hook may replace the instruments of the context.
  explicit InstrumentScope(const InstrumentList& instruments) : instruments_(instruments) {}

  // Ends with the first instrument that fails.
  template <class Describe, class Hook>
  Status Begin(const Describe& describe, const Hook& hook) {
    for (const std::shared_ptr<PassInstrument>& instrument : instruments_) {
      IROPT_RETURN_IF_ERROR(CallInstrument(*instrument, describe, [&] { return hook(*instrument); }));
      ++begun_;
    }
    return {};
  }

  // Notifies all that saw the begin, even if one of them fails; the first failure counts, and those after it see a
  // failure as outcome.
  template <class Describe, class Hook>
  Status End(PassOutcome outcome, const Describe& describe, const Hook& hook) {
    Status first;
    for (size_t i = 0; i < begun_; ++i) {
      Status after = CallInstrument(*instruments_[i], describe, [&] { return hook(*instruments_[i], outcome); });
      if (after.ok()) continue;
      outcome = PassOutcome::Failed;
      if (first.ok()) first = std::move(after);
    }
    return first;
  }

 private:
  const InstrumentList& instruments_;
  size_t begun_ = 0;
};

// Notifies all instruments of a context. Ends with the first one that fails.
template <class Hook>
Status NotifyInstruments(const PassContext& context, const PassInfo& info, const Hook& hook) {
  if (context.instruments.empty()) return {};
  const InstrumentList instruments = context.instruments;
  return InstrumentScope(instruments).Begin([&] { return fmt::format("pass '{}'", info.name); }, hook);
}

}  // namespace iropt

#include "iropt/pass/context.h"

#include <fmt/format.h>

#include <algorithm>

#include "guard.h"
#include "iropt/pass/registry.h"
#include "iropt/support/check.h"
#include "iropt/support/function_ref.h"

namespace iropt {

namespace {

thread_local PassContext* current_context = nullptr;

Status GuardedHook(const PassInstrument& instrument, std::string_view hook, FunctionRef<Status()> call) {
  Status status = CallHook([&] { return fmt::format("instrument '{}'", instrument.name()); }, call);
  if (status.ok()) return status;
  Error error = status.TakeError();
  if (error.reported()) error.message = fmt::format("instrument '{}' failed in {}", instrument.name(), hook);
  return error;
}

}  // namespace

namespace pass_detail {

PassContext* ExchangeCurrentContext(PassContext* context) { return std::exchange(current_context, context); }

}  // namespace pass_detail

PassContext::PassContext() = default;
PassContext::PassContext(const PassContext&) = default;
PassContext::PassContext(PassContext&&) noexcept = default;
PassContext& PassContext::operator=(const PassContext&) = default;
PassContext& PassContext::operator=(PassContext&&) noexcept = default;
PassContext::~PassContext() = default;

PassContext& PassContext::Current() {
  if (current_context != nullptr) return *current_context;
  static thread_local PassContext default_context;
  return default_context;
}

bool PassContext::IsDisabled(std::string_view pass) const { return Names(disabled_pass, pass); }

bool PassContext::IsRequired(std::string_view pass) const { return Names(required_pass, pass); }

bool PassContext::Names(const std::vector<std::string>& names, std::string_view pass) const {
  return std::ranges::any_of(names,
                             [&](std::string_view name) { return name == pass || Registry().PassName(name) == pass; });
}

bool PassContext::PassEnabled(const PassInfo& info, int level) const {
  if (IsDisabled(info.name)) return false;
  return IsRequired(info.name) || info.opt_level <= level;
}

const PassRegistry& PassContext::Registry() const { return registry != nullptr ? *registry : PassRegistry::Global(); }

// A hook may override the instruments of the context, so both go through a copy of the list.

Status PassContext::InstrumentEnterPassContext() {
  const InstrumentList entering = instruments;
  for (size_t i = 0; i < entering.size(); ++i) {
    PassInstrument& instrument = *entering[i];
    Status entered = GuardedHook(instrument, "EnterPassContext", [&] { return instrument.EnterPassContext(); });
    if (entered.ok()) continue;
    instruments.clear();
    // Their own errors would hide the reason of the exit.
    for (size_t k = 0; k < i; ++k) {
      PassInstrument& earlier = *entering[k];
      static_cast<void>(GuardedHook(earlier, "ExitPassContext", [&] { return earlier.ExitPassContext(); }));
    }
    return entered;
  }
  return {};
}

Status PassContext::InstrumentExitPassContext() {
  const InstrumentList leaving = instruments;
  for (const std::shared_ptr<PassInstrument>& instrument : leaving) {
    Status left = GuardedHook(*instrument, "ExitPassContext", [&] { return instrument->ExitPassContext(); });
    if (left.ok()) continue;
    instruments.clear();
    return left;
  }
  return {};
}

Status PassContext::OverrideInstruments(InstrumentList replacement) {
  IROPT_RETURN_IF_ERROR(InstrumentExitPassContext());
  instruments = std::move(replacement);
  return InstrumentEnterPassContext();
}

With<PassContext>::With(PassContext& context) : context_(&context), status_(context.InstrumentEnterPassContext()) {
  active_ = status_.ok();
  if (active_) outer_ = pass_detail::ExchangeCurrentContext(context_);
}

Status With<PassContext>::Exit() {
  if (!active_) return {};
  active_ = false;
  const PassContext* left = pass_detail::ExchangeCurrentContext(outer_);
  IROPT_CHECK(left == context_, "scopes of pass contexts are left in the reverse order of entering");
  return context_->InstrumentExitPassContext();
}

With<PassContext>::~With() {
  // A failure cannot be reported here; the context has lost its instruments, as documented.
  static_cast<void>(Exit());
}

}  // namespace iropt

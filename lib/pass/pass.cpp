#include "iropt/pass/pass.h"

#include <fmt/format.h>

#include <utility>

#include "events.h"
#include "iropt/ir/structural.h"
#include "iropt/pass/registry.h"
#include "iropt/support/check.h"
#include "iropt/support/crash.h"

namespace iropt {

namespace {

std::string Describe(const PassInfo& info) { return fmt::format("pass '{}'", info.name); }

// The pass for an error: that of a plugin is named with the plugin, to show that the bug is not in ir-opt.
std::string DescribeWithPlugin(const PassInfo& info, const PassContext& context) {
  const PassEntry* row = context.Registry().Find(info.name);
  if (row == nullptr || row->plugin.empty()) return Describe(info);
  return fmt::format("{} of plugin '{}'", Describe(info), row->plugin);
}

// The instruments of a context around one run of a pass.
class PassInstrumentation {
 public:
  PassInstrumentation(const PassContext& context, const PassInfo& info)
      : context_(context), info_(info), instruments_(context.instruments), scope_(instruments_) {}

  // The first instrument that vetoes the pass; null if it may run. Every instrument is asked, also after a veto.
  Result<const PassInstrument*> FindVeto(const Module& module) {
    const PassInstrument* veto = nullptr;
    if (context_.IsRequired(info_.name)) return veto;
    for (const std::shared_ptr<PassInstrument>& instrument : instruments_) {
      const auto ask = [&]() -> Result<bool> { return instrument->ShouldRun(module, info_); };
      IROPT_ASSIGN_OR_RETURN(const bool answer, CallInstrument(
                                                    *instrument, [&] { return Describe(info_); }, ask));
      if (!answer && veto == nullptr) veto = instrument.get();
    }
    return veto;
  }

  // On failure, those that saw the pass begin are notified of its end.
  Status Begin(const Module& module) {
    Status begun = scope_.Begin([&] { return Describe(info_); },
                                [&](PassInstrument& instrument) { return instrument.RunBeforePass(module, info_); });
    if (!begun.ok()) static_cast<void>(End(module, PassOutcome::Failed));
    return begun;
  }

  Status End(const Module& module, PassOutcome outcome) {
    const auto hook = [&](PassInstrument& instrument, PassOutcome reported) {
      return instrument.RunAfterPass(module, info_, reported);
    };
    return scope_.End(
        outcome, [&] { return Describe(info_); }, hook);
  }

 private:
  const PassContext& context_;
  const PassInfo& info_;
  const InstrumentList instruments_;
  InstrumentScope scope_;
};

// Checks that a pass has not modified its input.
class ImmutabilityAudit {
 public:
  ImmutabilityAudit(const PassContext& context, const PassInfo& info, const Module& module) : info_(info) {
    if (info.is_composite() || !context.Config(config::testing::immutable_module)) return;
    before_ = module;
    hash_ = StructuralHash(*before_);
  }

  Status Check() const {
    if (!before_ || StructuralHash(*before_) == hash_) return {};
    return Error{ErrorCode::Rejected, fmt::format("{} modified its input module", Describe(info_))};
  }

 private:
  const PassInfo& info_;
  std::optional<Module> before_;
  uint64_t hash_ = 0;
};

// Transfers analysis results of functions to the result of a pass.
class AnalysisUpdate {
 public:
  AnalysisUpdate(const PassContext& context, const PassInfo& info, const Module& module)
      : context_(context), info_(info) {
    if (info.is_composite()) return;
    audits_ = context.Config(config::testing::verify_analyses);
    kept_ = context.analyses().Preserve(module, info.preserved_analyses, /*compute=*/audits_);
  }

  // Fails if the pass does not preserve an analysis that it claims to preserve.
  Status Apply(const PassResult& result) const {
    if (info_.is_composite() || !result.changed) return {};
    context_.analyses().TransferPreserved(result.module, kept_);
    return audits_ ? context_.analyses().Audit(result.module, kept_, info_) : Status();
  }

 private:
  const PassContext& context_;
  const PassInfo& info_;
  AnalysisManager::Preserved kept_;
  bool audits_ = false;
};

// The error of a pass, prefixed with its name. It keeps the exception, and includes the diagnostics of the pass if they
// are not shown otherwise.
Error PrefixError(std::string_view name, const Error& error, const DiagnosticBuffer& unreported) {
  std::string message = fmt::format("{} failed", name);
  if (!error.reported()) message += ": " + error.message;
  for (const Diagnostic& diagnostic : unreported.diagnostics()) {
    if (diagnostic.severity == Severity::Error) message += ": " + diagnostic.message;
  }
  return {error.code, std::move(message), error.exception};
}

}  // namespace

Result<PassResult> Pass::operator()(Module module, PassContext& context) const {
  if (context.instruments.empty()) return RunWithoutInstruments(std::move(module), context);
  PassInstrumentation instrumentation(context, info());
  const Module before = module;
  IROPT_ASSIGN_OR_RETURN(const PassInstrument* veto, instrumentation.FindVeto(module));
  if (veto != nullptr) {
    const PassSkip skip{.reason = PassSkip::Reason::Veto, .level = context.opt_level, .veto = veto};
    IROPT_RETURN_IF_ERROR(NotifyInstruments(
        context, info(), [&](PassInstrument& instrument) { return instrument.OnSkippedPass(info(), skip); }));
    return PassResult{std::move(module)};
  }
  IROPT_RETURN_IF_ERROR(instrumentation.Begin(module));
  Result<PassResult> result = RunWithoutInstruments(std::move(module), context);
  if (!result.ok()) {
    static_cast<void>(instrumentation.End(before, PassOutcome::Failed));
    return result;
  }
  const PassOutcome outcome = result->changed ? PassOutcome::Changed : PassOutcome::Unchanged;
  IROPT_RETURN_IF_ERROR(instrumentation.End(result->module, outcome));
  return result;
}

Result<PassResult> Pass::RunWithoutInstruments(Module module, PassContext& context) const {
  const CrashNote note(info().is_composite() ? "running" : "running pass", info().name);
  const ImmutabilityAudit audit(context, info(), module);
  const AnalysisUpdate analyses(context, info(), module);
  DiagnosticBuffer unreported;
  DiagnosticEngine own(&unreported);
  DiagnosticEngine& diagnostics = context.diagnostics != nullptr ? *context.diagnostics : own;
  const auto describe = [&] { return DescribeWithPlugin(info(), context); };
  Result<PassResult> result = CatchExceptions(describe, [&]() -> Result<PassResult> {
    const size_t errors_before = diagnostics.error_count();
    Result<PassResult> run = impl_->Run(std::move(module), context, diagnostics);
    if (info().is_composite()) return run;
    if (!run.ok()) return PrefixError(describe(), run.TakeError(), unreported);
    if (diagnostics.error_count() != errors_before) {
      return PrefixError(describe(), {ErrorCode::PassFailed, {}}, unreported);
    }
    return run;
  });
  if (!result.ok()) return result;
  IROPT_RETURN_IF_ERROR(audit.Check());
  IROPT_RETURN_IF_ERROR(analyses.Apply(*result));
  return result;
}

}  // namespace iropt

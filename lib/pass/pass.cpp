#include "iropt/pass/pass.h"

#include <fmt/format.h>

#include <utility>

#include "form_audit.h"
#include "guard.h"
#include "iropt/ir/structural.h"
#include "iropt/pass/observer.h"
#include "iropt/support/check.h"
#include "iropt/support/crash.h"

namespace iropt {

namespace {

std::string Describe(const PassInfo& info) { return fmt::format("pass '{}'", info.name); }

// The instruments of a context around one run of a pass.
class Watch {
 public:
  Watch(const PassContext& context, const PassInfo& info)
      : context_(context), instruments_(context.instruments), info_(info) {}

  // The first instrument that says no; null where the pass may run. Every instrument is asked, also after one has
  // said no.
  Result<const PassInstrument*> FindVeto(const Module& module) {
    const PassInstrument* veto = nullptr;
    if (context_.IsRequired(info_.name)) return veto;
    for (const std::shared_ptr<PassInstrument>& instrument : instruments_) {
      IROPT_ASSIGN_OR_RETURN(const bool answer,
                             Call(*instrument, [&]() -> Result<bool> { return instrument->ShouldRun(module, info_); }));
      if (!answer && veto == nullptr) veto = instrument.get();
    }
    return veto;
  }

  // On failure, those that saw the pass begin are told its end.
  Status Begin(const Module& module) {
    for (const std::shared_ptr<PassInstrument>& instrument : instruments_) {
      Status before = Call(*instrument, [&] { return instrument->RunBeforePass(module, info_); });
      if (!before.ok()) {
        static_cast<void>(End(module, PassOutcome::Failed));
        return before.TakeError();
      }
      ++begun_;
    }
    return {};
  }

  // Tells all that saw the pass begin, even if one of them fails; the first failure counts, and to those after it the
  // pass has failed.
  Status End(const Module& module, PassOutcome outcome) {
    Status first;
    for (size_t i = 0; i < begun_; ++i) {
      Status after = Call(*instruments_[i], [&] { return instruments_[i]->RunAfterPass(module, info_, outcome); });
      if (after.ok()) continue;
      outcome = PassOutcome::Failed;
      if (first.ok()) first = std::move(after);
    }
    return first;
  }

 private:
  template <class F>
  std::invoke_result_t<F&> Call(const PassInstrument& instrument, F&& f) {
    const auto describe = [&] {
      return fmt::format("instrument '{}' around pass '{}'", instrument.name(), info_.name);
    };
    const CrashNote note("calling instrument", instrument.name());
    return CallHook(describe, f);
  }

  const PassContext& context_;
  const InstrumentList instruments_;  // a hook may override those of the context
  const PassInfo& info_;
  size_t begun_ = 0;
};

// Tells an observer, where there is one, that a pass begins, and that it failed unless something else was told.
class Observation {
 public:
  Observation(PassObserver* observer, const Pass& pass) : observer_(observer), pass_(pass) {
    if (observer_ != nullptr) observer_->Begin(pass_);
  }
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;
  ~Observation() { End(PassOutcome::Failed); }

  void Veto(const PassInstrument& by) {
    if (observer_ != nullptr) std::exchange(observer_, nullptr)->Veto(pass_, by);
  }
  void End(PassOutcome outcome) {
    if (observer_ != nullptr) std::exchange(observer_, nullptr)->End(pass_, outcome);
  }

 private:
  PassObserver* observer_;
  const Pass& pass_;
};

// Checks that what was given to a pass is not what the pass worked on.
class ImmutabilityAudit {
 public:
  ImmutabilityAudit(const PassContext& context, const PassInfo& info, const Module& module) : info_(info) {
    if (info.is_composite() || !context.ConfigBool("testing.immutable_module")) return;
    before_ = module;
    hash_ = StructuralHash(*before_);
  }

  Status Check() const {
    if (!before_ || StructuralHash(*before_) == hash_) return {};
    return Error{ErrorCode::Rejected, fmt::format("{} modified the module that it was given", Describe(info_))};
  }

 private:
  const PassInfo& info_;
  std::optional<Module> before_;
  uint64_t hash_ = 0;
};

// What is known of functions, carried over to what a pass makes of them.
class AnalysisUpdate {
 public:
  AnalysisUpdate(const PassContext& context, const PassInfo& info, const Module& module)
      : context_(context), info_(info) {
    if (info.is_composite()) return;
    audits_ = context.ConfigBool("testing.verify_analyses");
    kept_ = context.analyses().Keep(module, info.preserved_analyses, /*compute=*/audits_);
  }

  // Fails where the pass does not preserve what it says.
  Status Apply(const PassResult& result) const {
    if (info_.is_composite() || !result.changed) return {};
    context_.analyses().Restore(result.module, kept_);
    return audits_ ? context_.analyses().Audit(result.module, kept_, info_) : Status();
  }

 private:
  const PassContext& context_;
  const PassInfo& info_;
  AnalysisManager::Kept kept_;
  bool audits_ = false;
};

// Checks what a pass says of the forms of modules.
class FormAudit {
 public:
  FormAudit(const PassContext& context, const PassInfo& info, const Module& module) : info_(info) {
    if (!info.is_composite() && context.ConfigBool("testing.verify_forms")) before_ = VisibleForms(module);
  }

  Status Check(const Module& after) const { return before_ ? CheckFormClaims(info_, *before_, after) : Status(); }

 private:
  const PassInfo& info_;
  std::optional<IRForms> before_;
};

Status Trace(const PassContext& context, const PassInfo& info, const Module& module, bool is_before) {
  if (!context.trace || info.is_composite()) return {};
  const auto describe = [&] { return fmt::format("the trace function around {}", Describe(info)); };
  return Guarded(describe, [&]() -> Status {
    context.trace(module, info, is_before);
    return {};
  });
}

// The error of a pass under its name. Where nobody else shows them, what the pass reported is part of it.
Error NamedError(const PassInfo& info, Error error, const DiagnosticBuffer& unshown) {
  std::string message = fmt::format("{} failed", Describe(info));
  if (!error.reported()) message += ": " + error.message;
  for (const Diagnostic& diagnostic : unshown.diagnostics()) {
    if (diagnostic.severity == Severity::Error) message += ": " + diagnostic.message;
  }
  return {error.code, std::move(message)};
}

}  // namespace

Result<PassResult> Pass::operator()(Module module, PassContext& context) const {
  if (context.instruments.empty() && context.observer == nullptr) return RunUnwatched(std::move(module), context);
  Observation observation(context.observer, *this);
  Watch watch(context, info());
  const Module before = module;
  IROPT_ASSIGN_OR_RETURN(const PassInstrument* veto, watch.FindVeto(module));
  if (veto != nullptr) {
    observation.Veto(*veto);
    return PassResult{std::move(module)};
  }
  IROPT_RETURN_IF_ERROR(watch.Begin(module));
  Result<PassResult> result = RunUnwatched(std::move(module), context);
  if (!result.ok()) {
    static_cast<void>(watch.End(before, PassOutcome::Failed));
    return result;
  }
  const PassOutcome outcome = result->changed ? PassOutcome::Changed : PassOutcome::Unchanged;
  IROPT_RETURN_IF_ERROR(watch.End(result->module, outcome));
  observation.End(outcome);
  return result;
}

Result<PassResult> Pass::RunUnwatched(Module module, PassContext& context) const {
  const CrashNote note(info().is_composite() ? "running" : "running pass", info().name);
  IROPT_RETURN_IF_ERROR(Trace(context, info(), module, /*is_before=*/true));
  const ImmutabilityAudit audit(context, info(), module);
  const AnalysisUpdate analyses(context, info(), module);
  const FormAudit forms(context, info(), module);
  DiagnosticBuffer unshown;
  DiagnosticEngine own(&unshown);
  DiagnosticEngine& diagnostics = context.diagnostics != nullptr ? *context.diagnostics : own;
  const auto describe = [&] { return Describe(info()); };
  Result<PassResult> result = Guarded(describe, [&]() -> Result<PassResult> {
    const size_t errors_before = diagnostics.error_count();
    Result<PassResult> run = impl_->Run(std::move(module), context, diagnostics);
    if (info().is_composite()) return run;
    if (!run.ok()) return NamedError(info(), run.TakeError(), unshown);
    if (diagnostics.error_count() != errors_before) {
      return NamedError(info(), {ErrorCode::PassFailed, {}}, unshown);
    }
    return run;
  });
  if (!result.ok()) return result;
  IROPT_RETURN_IF_ERROR(audit.Check());
  IROPT_RETURN_IF_ERROR(forms.Check(result->module));
  IROPT_RETURN_IF_ERROR(analyses.Apply(*result));
  IROPT_RETURN_IF_ERROR(Trace(context, info(), result->module, /*is_before=*/false));
  return result;
}

}  // namespace iropt

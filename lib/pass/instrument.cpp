#include "iropt/pass/instrument.h"

namespace iropt {

bool PassInstrument::ShouldRun(const Module&, const PassInfo&) { return true; }
Status PassInstrument::RunBeforePass(const Module&, const PassInfo&) { return {}; }
Status PassInstrument::RunAfterPass(const Module&, const PassInfo&, PassOutcome) { return {}; }
Status PassInstrument::OnSkippedPass(const PassInfo&, const PassSkip&) { return {}; }
bool PassInstrument::ShouldRunOnFunction(const GlobalVar&, const BaseFunc&, const PassInfo&) { return true; }
Status PassInstrument::OnRound(const PassInfo&) { return {}; }
Status PassInstrument::OnRequiredPass(const PassInfo&, const PassInfo&) { return {}; }
Status PassInstrument::RunBeforeFunction(const GlobalVar&, const BaseFunc&, const PassInfo&) { return {}; }
Status PassInstrument::RunAfterFunction(const GlobalVar&, const BaseFunc&, const PassInfo&, PassOutcome) { return {}; }
Status PassInstrument::OnSkippedFunction(const GlobalVar&, std::string_view, const PassInfo&) { return {}; }

Status TraceInstrument::RunBeforePass(const Module& module, const PassInfo& info) {
  if (!info.is_composite()) trace_(module, info, /*is_before=*/true);
  return {};
}

Status TraceInstrument::RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) {
  if (!info.is_composite() && outcome != PassOutcome::Failed) trace_(module, info, /*is_before=*/false);
  return {};
}

}  // namespace iropt

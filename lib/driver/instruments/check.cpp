#include "driver/instruments/check.h"

#include <fmt/format.h>

#include "driver/check/checks_of_each_pass.h"
#include "driver/check/proof_report.h"
#include "driver/check/race_check.h"
#include "driver/check/verify_each.h"
#include "driver/instruments/setup.h"
#include "instrument_options/CheckSemantics.h"
#include "instrument_options/Prove.h"
#include "instrument_options/VerifyRaces.h"
#include "iropt/semantics/semantic_check.h"

namespace iropt {

namespace {

class SemanticListener : public RunListener {
 public:
  // `report` is null, or the file for the answers of proofs, which may be a page.
  explicit SemanticListener(std::shared_ptr<SemanticCheck> check, std::unique_ptr<AtomicFile> report = nullptr,
                            bool is_page = false)
      : check_(std::move(check)), report_(std::move(report)), is_page_(is_page) {}

  void BeforePasses(std::string_view /*subject*/, const Module& module) override { check_->Begin(module); }
  Status CheckResult(const Module& module) override { return check_->Finish(module); }
  // Written also if a pass fails.
  Status Write(const RunEnd& end) override {
    if (!report_ || !end.has_read) return {};
    return OfFlag("-prove-report", WriteProofs(check_->proofs(), is_page_, *report_));
  }

 private:
  std::shared_ptr<SemanticCheck> check_;
  std::unique_ptr<AtomicFile> report_;
  bool is_page_;
};

class RaceListener : public RunListener {
 public:
  RaceListener(std::shared_ptr<const RaceCheck> check, const RaceOptions& limits)
      : check_(std::move(check)), limits_(limits) {}

  Status CheckResult(const Module& module) override { return check_->Check(module, limits_); }

 private:
  const std::shared_ptr<const RaceCheck> check_;
  const RaceOptions limits_;
};

LoopMode ModeOf(instrument_options::CheckSemantics::Loops loops) {
  using Loops = instrument_options::CheckSemantics::Loops;
  if (loops == Loops::kInterpret) return LoopMode::Interpret;
  return loops == Loops::kCompile ? LoopMode::Compile : LoopMode::Auto;
}

Result<InputKinds> ReadInputs(const TypedOption<std::vector<LocatedName>>& option, DiagnosticEngine& diagnostics) {
  if (option->empty()) return InputKinds();
  std::vector<std::string> words;
  for (const LocatedName& word : *option) words.push_back(word.name);
  Result<InputKinds> inputs = InputKinds::Of(words);
  if (inputs.ok()) return inputs;
  diagnostics.Error(option->front().span, "usage",
                    fmt::format("instrument 'check-semantics': {}", inputs.error().message));
  return Failure{ErrorCode::Usage};
}

Result<SemanticCheckOptions> ReadSemanticCheck(const CheckedOptions& options, DiagnosticEngine& diagnostics) {
  const instrument_options::CheckSemantics given(options);
  IROPT_ASSIGN_OR_RETURN(const InputKinds inputs, ReadInputs(given.inputs, diagnostics));
  SemanticCheckOptions check{.each = *given.each,
                             .budget = *given.budget,
                             .seed = *given.seed,
                             .loops = ModeOf(*given.loops),
                             .inputs = inputs,
                             .is_required = *given.required};
  if (*given.rtol >= 0) check.tolerance.relative = *given.rtol;
  if (*given.atol >= 0) check.tolerance.absolute = *given.atol;
  return check;
}

}  // namespace

Result<SemanticCheckOptions> ReadSemanticCheck(const InstrumentSpec& spec, DiagnosticEngine& diagnostics) {
  const std::string owner = fmt::format("instrument '{}'", spec.name);
  auto options = spec.options;
  if (!CheckOptions(FindOwnInstrument(spec.name)->options, owner, options, diagnostics))
    return Failure{ErrorCode::Usage};
  return ReadSemanticCheck(CheckedOptions(owner, std::move(options)), diagnostics);
}

Status MakeVerifyEach(const CheckedOptions& /*options*/, InstrumentSetup& setup) {
  ChecksOfEachPass checks = MakeChecksOfEachPass(setup.compiler(), setup.pipeline().pass(), setup.pipeline().context());
  setup.AddIn(InstrumentPhase::Before, std::move(checks.before));
  for (std::shared_ptr<PassInstrument>& check : checks.after) setup.Add(std::move(check));
  return {};
}

Status MakeCheckSemantics(const CheckedOptions& options, InstrumentSetup& setup) {
  CompilerInstance& compiler = setup.compiler();
  IROPT_ASSIGN_OR_RETURN(const SemanticCheckOptions given, ReadSemanticCheck(options, compiler.diagnostics()));
  // The runs of proofs take the options.
  if (setup.pipeline().TakesSemantics(given) || setup.pipeline().FindInstrument("prove") != nullptr) return {};
  IROPT_ASSIGN_OR_RETURN(
      std::shared_ptr<SemanticCheck> check,
      SemanticCheck::Make(compiler.diagnostics(), compiler.err(), given, setup.pipeline().settings().network_mode()));
  setup.Add(check);
  if (setup.pipeline().changes_modules()) setup.Listen(std::make_shared<SemanticListener>(std::move(check)));
  return {};
}

Status MakeProve(const CheckedOptions& options, InstrumentSetup& setup) {
  constexpr FileKind kProofFile = {"a report of proofs", R"({"proofs":)", {}};
  constexpr FileKind kProofPage = {"a page of proofs", kProofPageBegin, {}};
  const instrument_options::Prove given(options);
  CompilerInstance& compiler = setup.compiler();
  SemanticCheckOptions check_options;
  if (const InstrumentSpec* runs = setup.pipeline().FindInstrument("check-semantics")) {
    IROPT_ASSIGN_OR_RETURN(check_options, ReadSemanticCheck(*runs, compiler.diagnostics()));
  }
  check_options.each = *given.each;
  check_options.proofs = {.is_wanted = true,
                          .reals = *given.floats == instrument_options::Prove::Floats::kReal,
                          .solver_limit = static_cast<uint64_t>(*given.solver_limit)};
  std::unique_ptr<AtomicFile> report;
  const bool is_page = given.file->ends_with(".html");
  if (!given.file->empty()) {
    IROPT_ASSIGN_OR_RETURN(report, setup.Open("-prove-report", *given.file, is_page ? kProofPage : kProofFile));
  }
  IROPT_ASSIGN_OR_RETURN(std::shared_ptr<SemanticCheck> check,
                         SemanticCheck::Make(compiler.diagnostics(), compiler.err(), check_options,
                                             setup.pipeline().settings().network_mode()));
  setup.Add(check);
  setup.Listen(std::make_shared<SemanticListener>(std::move(check), std::move(report), is_page));
  return {};
}

Status MakeVerifyRaces(const CheckedOptions& options, InstrumentSetup& setup) {
  const instrument_options::VerifyRaces given(options);
  const RaceOptions limits = {.max_values = static_cast<uint64_t>(*given.max_values),
                              .solver_limit = static_cast<uint64_t>(*given.solver_limit)};
  const auto audit = std::make_shared<ChangeAudit>();
  setup.AddIn(InstrumentPhase::Before, audit);
  const auto check = std::make_shared<RaceCheck>(setup.pipeline().pass(), audit, setup.compiler().diagnostics());
  setup.Add(check);
  setup.Listen(std::make_shared<RaceListener>(check, limits));
  return {};
}

}  // namespace iropt

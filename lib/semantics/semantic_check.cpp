#include "iropt/semantics/semantic_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <utility>

#include "function_check.h"
#include "function_versions.h"
#include "iropt/analysis/relax/called_functions.h"
#include "iropt/ir/location.h"
#include "iropt/support/lookup.h"
#include "semantics/proof/prover.h"

namespace iropt {

namespace {

// Functions for an external compiler are run through their callers, which are changed with them.
bool IsRunnable(const ModuleEntry& entry) {
  return !Is<ExternFunc>(entry.func) && entry.func->StringAttr(attr::kCodegen).empty();
}

bool IsPublic(const ModuleEntry& entry) {
  return IsRunnable(entry) && !entry.func->StringAttr(attr::kGlobalSymbol).empty();
}

// The numbers of the original inputs that the parameters are; false if some are others.
bool ReadParams(const CallInterface& interface, std::vector<size_t>& numbers) {
  for (const InputSource& source : interface.sources()) {
    if (source.kind != InputSource::Kind::kInput) return false;
    numbers.push_back(source.index);
  }
  return interface.fetched().empty() && !interface.sets_outputs();
}

}  // namespace

// A function that is compared, from the module on in which it is found first.
struct SemanticCheck::Checked {
  FunctionCheck check;
  std::shared_ptr<const Module> since;  // with `interface`: what it is compared with
  CallInterface interface;
  uint64_t fingerprint;  // of the function there
  CheckMode mode = {};   // of the passes since then
  std::vector<OutputErrors> outputs = {};
  std::vector<std::string> passes = {};  // by output: that with the greatest error
  size_t num_runs = 0;
  bool is_private = false;  // passes may remove it and change what it takes
  bool is_removed = false;
  bool is_changed = false;        // by some pass
  bool is_told = false;           // that it is not compared
  std::string not_compared = {};  // around this pass first; empty for all passes together
};

Result<std::shared_ptr<SemanticCheck>> SemanticCheck::Make(DiagnosticEngine& diagnostics, OutputStream& out,
                                                           const SemanticCheckOptions& options, NetworkMode mode) {
  auto check = std::make_shared<SemanticCheck>(diagnostics, out, options, mode);
  if (options.loops == LoopMode::Compile) IROPT_RETURN_IF_ERROR(check->runner_->LoadLoopCompiler());
  return check;
}

SemanticCheck::SemanticCheck(DiagnosticEngine& diagnostics, OutputStream& out, const SemanticCheckOptions& options,
                             NetworkMode mode)
    : PassInstrument("check-semantics"),
      diagnostics_(diagnostics),
      out_(out),
      options_(options),
      runner_(std::make_unique<FunctionRunner>(options, mode)),
      versions_(std::make_unique<FunctionVersions>()),
      mode_(mode) {}

SemanticCheck::~SemanticCheck() = default;

void SemanticCheck::Begin(const Module& module) {
  functions_.clear();
  num_not_compared_ = num_not_proved_ = 0;
  first_not_compared_.clear();
  first_proof_ = proofs_.size();
  current_ = std::make_shared<const Module>(module);
  versions_->Update(module);
  AddNewFunctions();
  if (functions_.empty()) AddRoots();
}

void SemanticCheck::AddRoots() {
  LookupSet<const GlobalVar*> called;
  for (const ModuleEntry& entry : current_->functions()) {
    for (const GlobalVar* var : CalledFunctions::Compute(*entry.func, *entry.storage)) called.insert(var);
  }
  for (const ModuleEntry& entry : current_->functions()) {
    if (!IsRunnable(entry) || called.contains(entry.var)) continue;
    Add(entry);
    functions_.back().is_private = true;
  }
}

void SemanticCheck::Add(const ModuleEntry& entry) {
  FunctionCheck check(current_, entry, options_.inputs);
  const CallInterface interface = check.interface();
  functions_.push_back({std::move(check), current_, interface, versions_->Fingerprint(entry.var)});
}

void SemanticCheck::AddNewFunctions() {
  LookupSet<const GlobalVar*> known;
  for (const Checked& checked : functions_) known.insert(&checked.check.var());
  for (const ModuleEntry& entry : current_->functions()) {
    if (IsPublic(entry) && !known.contains(entry.var)) Add(entry);
  }
}

void SemanticCheck::Restart(Checked& checked, std::shared_ptr<const Module> module) {
  FunctionCheck check(module, *module->Find(&checked.check.var()), options_.inputs);
  const CallInterface interface = check.interface();
  checked.check = std::move(check);
  checked.since = std::move(module);
  checked.interface = interface;
  checked.fingerprint = versions_->Fingerprint(&checked.check.var());
  checked.mode = {};
}

void SemanticCheck::TellNotCompared(Checked& checked, const std::string& reason, const std::string& culprit) {
  if (checked.is_told) return;
  checked.is_told = true;
  checked.not_compared = culprit;
  ++num_not_compared_;
  const ModuleEntry* entry = current_->Find(&checked.check.var());
  const SourceSpan span = entry ? Location(*entry->func) : SourceSpan();
  std::string message = fmt::format("function '{}' is not compared: {}", checked.check.var().name, reason);
  if (first_not_compared_.empty()) first_not_compared_ = message;
  if (options_.is_required) {
    diagnostics_.Error(span, "not-compared", std::move(message));
  } else {
    diagnostics_.Warning(span, "not-compared", std::move(message));
  }
}

bool SemanticCheck::Follow(Checked& checked, const PassInfo& info, const std::shared_ptr<const Module>& after) {
  const std::string name(checked.check.var().name);
  const InterfaceChange change = checked.check.Follow(info, *current_, *after);
  checked.mode.Add(info);
  switch (change.kind) {
    case InterfaceChange::Kind::kKnown: return true;
    case InterfaceChange::Kind::kNotComparable:
      TellNotCompared(checked, fmt::format("{} changes its parameters: {}", info.name, change.reason), info.name);
      Restart(checked, after);
      return true;
    case InterfaceChange::Kind::kWrong:
      if (!checked.is_private) break;
      TellNotCompared(checked, fmt::format("{}, by {}", change.reason, info.name), info.name);
      checked.is_removed = !after->Find(&checked.check.var());
      if (!checked.is_removed) Restart(checked, after);
      return true;
  }
  diagnostics_
      .Error({}, "semantic-mismatch", fmt::format("pass '{}' changes the parameters of function '{}'", info.name, name))
      .Note(change.reason);
  return false;
}

bool SemanticCheck::Compare(Checked& checked, const std::shared_ptr<const Module>& after, const std::string& culprit) {
  const uint64_t fingerprint = versions_->Fingerprint(&checked.check.var());
  if (fingerprint == checked.fingerprint && checked.check.interface().sources() == checked.interface.sources())
    return true;
  if (options_.proofs.is_wanted && Prove(checked, *after, culprit)) {
    checked.is_changed = true;
    Advance(checked, after, fingerprint);
    return true;
  }
  const CheckResult result =
      checked.check.Compare(*checked.since, checked.interface, *after, checked.mode, *runner_, options_);
  checked.is_changed = true;
  checked.num_runs += result.num_runs;
  checked.outputs.resize(std::max(checked.outputs.size(), result.outputs.size()));
  checked.passes.resize(checked.outputs.size());
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    if (result.outputs[i].max_absolute > checked.outputs[i].max_absolute) checked.passes[i] = culprit;
    checked.outputs[i].Add(result.outputs[i]);
  }
  if (!result.not_compared.empty()) {
    TellNotCompared(checked, result.not_compared, culprit);
  } else if (result.num_runs == 0 && result.differences.empty()) {
    TellNotCompared(checked, "the passes may change its results on all inputs that were tried", culprit);
  }
  if (options_.proofs.is_wanted) FinishProof(checked, *after, result);
  Advance(checked, after, fingerprint);
  if (result.differences.empty()) return true;
  DiagnosticBuilder error =
      diagnostics_.Error(Location(*after->Find(&checked.check.var())->func), "semantic-mismatch",
                         fmt::format("{} the result of function '{}'",
                                     culprit.empty() ? "the passes change" : fmt::format("pass '{}' changes", culprit),
                                     checked.check.var().name));
  for (const std::string& difference : result.differences) error.Note(difference);
  return false;
}

void SemanticCheck::Advance(Checked& checked, std::shared_ptr<const Module> after, uint64_t fingerprint) {
  checked.since = std::move(after);
  checked.interface = checked.check.interface();
  checked.fingerprint = fingerprint;
  checked.mode = {};
}

bool SemanticCheck::Prove(Checked& checked, const Module& after, const std::string& culprit) {
  const CallInterface& now = checked.check.interface();
  const CallInterface& old = checked.interface;
  ProofRecord& record = proofs_.emplace_back(ProofRecord{.pass = culprit, .function = std::string(now.var().name)});
  proof::ParamNumbers params{.constants = now.bound()};
  if (!ReadParams(old, params.before) || !ReadParams(now, params.after)) {
    record.reason = "it is called with other parameters";
    return false;
  }
  const CheckMode& mode = checked.mode;
  const bool may_change = !mode.is_of_others || mode.is_narrower || mode.changes_rounding || mode.only_finite;
  const auto start = std::chrono::steady_clock::now();
  const proof::Proof proof = proof::Prove(*checked.since, after, now.var(), params,
                                          {.reals = options_.proofs.reals && may_change,
                                           .finite = options_.proofs.reals && mode.only_finite,
                                           .may_overflow = mode.is_of_others,
                                           .solver_limit = options_.proofs.solver_limit,
                                           .mode = mode_});
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  record.num_terms = proof.num_terms;
  record.num_queries = proof.num_queries;
  record.reason = proof.reason;
  if (proof.is_proved) record.answer = ProofRecord::Answer::kProved;
  return proof.is_proved;
}

void SemanticCheck::FinishProof(const Checked& checked, const Module& after, const CheckResult& result) {
  ProofRecord& record = proofs_.back();
  record.num_runs = result.num_runs;
  if (!result.differences.empty()) {
    record.answer = ProofRecord::Answer::kRefuted;
    record.reason = result.differences.back();
    return;
  }
  if (!diagnostics_.warnings_as_errors()) return;
  ++num_not_proved_;
  const ModuleEntry* entry = after.Find(&checked.check.var());
  diagnostics_.Warning(entry ? Location(*entry->func) : SourceSpan(), "not-compared",
                       fmt::format("function '{}' is not proved around {}: {}", record.function,
                                   record.pass.empty() ? "the passes" : record.pass, record.reason));
}

Status SemanticCheck::RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) {
  if (info.is_composite() || outcome != PassOutcome::Changed) return {};
  bool ok = true;
  versions_->Update(module);
  const auto after = std::make_shared<const Module>(module);
  for (Checked& checked : functions_) {
    if (checked.is_removed) continue;
    ok &= Follow(checked, info, after) && (checked.is_removed || !options_.each || Compare(checked, after, info.name));
  }
  current_ = after;
  AddNewFunctions();
  return ok ? Status() : Failure{ErrorCode::SemanticCheck};
}

Status SemanticCheck::FinishComparing(const Module& module) {
  bool ok = true;
  const auto after = std::make_shared<const Module>(module);
  for (Checked& checked : functions_) ok &= checked.is_removed || options_.each || Compare(checked, after, {});
  out_.Append(RenderTable());
  IROPT_RETURN_IF_ERROR(out_.Flush());
  out_.Append(RenderCoverage());
  if (options_.proofs.is_wanted) out_.Append(RenderProofs(std::span(proofs_).subspan(first_proof_)));
  IROPT_RETURN_IF_ERROR(out_.Flush());
  return ok ? Status() : Failure{ErrorCode::SemanticCheck};
}

Status SemanticCheck::Finish(const Module& module) {
  IROPT_RETURN_IF_ERROR(FinishComparing(module));
  const bool must_compare = options_.is_required || diagnostics_.warnings_as_errors();
  return must_compare && num_not_compared_ + num_not_proved_ != 0 ? Failure{ErrorCode::SemanticCheck} : Status();
}

std::string SemanticCheck::RenderCoverage() {
  constexpr size_t kMostRemarks = 3;
  std::string text;
  for (const Checked& checked : functions_) {
    if (!checked.is_changed) continue;
    const Coverage::Report report = checked.check.DescribeCoverage();
    if (!report.text.empty()) text += fmt::format("inputs of {}: {}\n", checked.check.var().name, report.text);
    for (size_t i = 0; i < std::min(report.untaken.size(), kMostRemarks); ++i) {
      const Coverage::Untaken& condition = report.untaken[i];
      const std::string_view ways = condition.was_true    ? "always true"
                                    : condition.was_false ? "never true"
                                                          : "not reached";
      diagnostics_.Remark(condition.place, "not-covered", fmt::format("this condition is {} in the runs", ways));
    }
  }
  return text;
}

std::string SemanticCheck::RenderTable() const {
  std::string rows;
  size_t num_unchanged = 0;
  for (const Checked& checked : functions_) {
    const std::string_view name = checked.check.var().name;
    if (!checked.is_changed && !checked.is_told) ++num_unchanged;
    for (size_t i = 0; i < checked.outputs.size(); ++i) {
      rows += ErrorTableRow(checked.outputs[i], checked.num_runs, fmt::format("{} {}", name, checked.outputs[i].name));
      if (!checked.passes[i].empty()) rows += fmt::format(" ({})", checked.passes[i]);
      if (checked.is_told) rows += "; not compared";
      if (!checked.not_compared.empty()) rows += fmt::format(" around {}", checked.not_compared);
      rows += '\n';
    }
  }
  if (!rows.empty()) rows.insert(0, ErrorTableHeading());
  return rows + fmt::format("functions: {} ({} unchanged, {} not compared)\n", functions_.size(), num_unchanged,
                            num_not_compared_);
}

}  // namespace iropt

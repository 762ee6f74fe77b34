#include "driver/bisect/bisection.h"

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>

#include "driver/bisect/local_reproducer.h"

namespace iropt {

namespace {

std::string Shown(const Verdict& verdict) {
  if (!verdict.is_good) return fmt::format("bad: {}", verdict.reason);
  return verdict.not_compared.empty() ? "good" : fmt::format("no difference found, but {}", verdict.not_compared);
}

}  // namespace

Bisection::Bisection(CompilerInstance& compiler, PipelineSetup& setup, BisectRequest request,
                     std::optional<std::string> reproducer)
    : compiler_(compiler), setup_(setup), test_(compiler, std::move(request)), reproducer_(std::move(reproducer)) {}

Result<Verdict> Bisection::Try(const Module& module, int64_t limit) {
  IROPT_ASSIGN_OR_RETURN(Verdict verdict, test_.Try(module, *setup_.pass(), setup_.context(), {.steps = limit}));
  const std::string steps = limit == kNoLimit ? "all steps" : fmt::format("steps up to {}", limit);
  compiler_.err().Append(fmt::format("bisect: {}: {}\n", steps, Shown(verdict)));
  IROPT_RETURN_IF_ERROR(compiler_.err().Flush());
  return verdict;
}

Result<std::optional<Bisection::Culprit>> Bisection::Search(const Module& module) {
  IROPT_ASSIGN_OR_RETURN(Verdict bad, Try(module, kNoLimit));
  if (bad.is_good && !bad.not_compared.empty()) {
    return Error{ErrorCode::Usage, CannotSay(bad.not_compared)};
  }
  if (bad.is_good) {
    return Error{ErrorCode::Usage, "-bisect finds nothing: the result of all passes is good"};
  }
  IROPT_ASSIGN_OR_RETURN(const Verdict none, Try(module, 0));
  if (!none.is_good && !test_.counts_mandatory()) return std::optional<Culprit>();
  if (!none.is_good) {
    return Error{ErrorCode::Usage,
                 fmt::format("-bisect finds nothing: the input is bad before any pass: {}", none.reason)};
  }
  const int64_t num_steps = bad.last.number;
  int64_t good_steps = 0;
  while (bad.last.number - good_steps > 1) {
    const int64_t middle = good_steps + (bad.last.number - good_steps) / 2;
    IROPT_ASSIGN_OR_RETURN(Verdict verdict, Try(module, middle));
    if (verdict.is_good) {
      good_steps = middle;
    } else {
      bad = std::move(verdict);
    }
  }
  return std::optional(Culprit{std::move(bad), num_steps});
}

Result<Verdict> Bisection::TryRewrites(const Module& module, int64_t steps, const RewriteLimit& limit) {
  IROPT_ASSIGN_OR_RETURN(Verdict verdict, test_.Try(module, *setup_.pass(), setup_.context(), {steps, limit}));
  if (limit.limit == RewriteCounter::kNoLimit) return verdict;
  compiler_.err().Append(fmt::format("bisect: rewrites up to {}: {}\n", limit.limit, Shown(verdict)));
  IROPT_RETURN_IF_ERROR(compiler_.err().Flush());
  return verdict;
}

Result<std::optional<Bisection::BadRewrite>> Bisection::SearchRewrite(const Module& module, const BisectStep& step) {
  const PassEntry* row = compiler_.registry().Find(step.pass);
  if (row == nullptr || !row->info.counts_rewrites) return std::optional<BadRewrite>();
  RewriteLimit limit{step.pass};
  IROPT_ASSIGN_OR_RETURN(const Verdict before, TryRewrites(module, step.number - 1, limit));
  IROPT_ASSIGN_OR_RETURN(Verdict bad, TryRewrites(module, step.number, limit));
  int64_t good_rewrites = before.last_rewrite.number;
  if (!before.is_good || bad.is_good || bad.last_rewrite.number <= good_rewrites) return std::optional<BadRewrite>();
  limit.limit = good_rewrites;
  IROPT_ASSIGN_OR_RETURN(const Verdict none, TryRewrites(module, step.number, limit));
  if (!none.is_good) return std::optional<BadRewrite>();
  while (bad.last_rewrite.number - good_rewrites > 1) {
    limit.limit = good_rewrites + (bad.last_rewrite.number - good_rewrites) / 2;
    IROPT_ASSIGN_OR_RETURN(Verdict verdict, TryRewrites(module, step.number, limit));
    if (verdict.is_good) {
      good_rewrites = limit.limit;
    } else {
      bad = std::move(verdict);
    }
  }
  return std::optional(BadRewrite{std::move(bad.last_rewrite), std::move(bad.reason)});
}

void Bisection::Report(const BadRewrite& bad, const std::string& pass) {
  const int64_t number = bad.rewrite.number;
  compiler_.diagnostics()
      .Remark(bad.rewrite.span, "bisect",
              fmt::format("the first bad rewrite of pass '{}' is number {}: {}", pass, number, bad.rewrite.kind))
      .Note(bad.reason)
      .Note(
          fmt::format("-rewrite-limit={}:{} stops the pass after it, {}:{} before it", pass, number, pass, number - 1));
}

void Bisection::Report(const Culprit& culprit) {
  const BisectStep& step = culprit.verdict.last;
  const std::string_view counted = test_.counts_mandatory() ? ", mandatory passes included" : "";
  compiler_.diagnostics()
      .Remark({}, "bisect",
              fmt::format("the first bad step is number {} of {}{}: {}", step.number, culprit.num_steps, counted,
                          ToString(step)))
      .Note(culprit.verdict.reason);
}

Result<FailurePoint> Bisection::FindPoint(const Module& module, int64_t step) {
  const std::shared_ptr<PipelineCursor> cursor = setup_.settings().MakeCursor();
  const auto input = std::make_shared<StepInput>(step, cursor);
  if (test_.counts_mandatory()) input->CountMandatory();
  PassContext context = setup_.context();
  context.instruments = {cursor, input};
  context.printer = [](const Module&, const std::string&) { return Status(); };
  context.text_printer = [](std::string_view) { return Status(); };
  const DiagnosticCapture capture(compiler_.diagnostics());
  static_cast<void>((*setup_.pass())(module, context));  // it stops at the step
  std::optional<FailurePoint> point = input->Take();
  if (!point) return Error{ErrorCode::PassFailed, fmt::format("-bisect cannot repeat the run up to step {}", step)};
  return *std::move(point);
}

std::vector<InstrumentSpec> Bisection::Instruments() const {
  const BisectRequest& request = test_.request();
  std::vector<InstrumentSpec> instruments;
  if (const InstrumentSpec* limits = setup_.FindInstrument("limits")) instruments.push_back(*limits);
  if (request.check == BisectRequest::Check::Verify) instruments.push_back({"verify-each", {}, {}});
  if (request.check == BisectRequest::Check::Races) instruments.push_back({"verify-races", {}, {}});
  if (request.check == BisectRequest::Check::Semantics) {
    const InstrumentSpec* given = setup_.FindInstrument("check-semantics");
    InstrumentSpec& check = instruments.emplace_back(InstrumentSpec{"check-semantics", {}, {}});
    if (given != nullptr) check = *given;
    std::erase_if(check.options, [](const OptionValue::Entry& entry) { return entry.key == "each"; });
    check.options.push_back({"each", true});  // which names the pass
  }
  return instruments;
}

Status Bisection::WriteReproducer(const Module& module, const Culprit& culprit) {
  const BisectStep& step = culprit.verdict.last;
  IROPT_ASSIGN_OR_RETURN(const FailurePoint point, FindPoint(module, step.number));
  IROPT_ASSIGN_OR_RETURN(std::optional<LocalReproducer> local,
                         Localizer(compiler_, setup_, test_).Find(point, culprit.verdict.code));
  std::vector<InstrumentSpec> instruments = Instruments();
  if (!local) {
    compiler_.diagnostics().Remark({}, "bisect", "the pass alone is good, so the reproducer has all passes");
    local = LocalReproducer{module, setup_.Settings()};
    const int64_t limit = test_.counts_mandatory() ? kNoLimit : step.number;
    instruments.push_back({"opt-bisect", {{"limit", limit, {}}}, {}});
  }
  IROPT_RETURN_IF_ERROR(WriteLocalReproducer(*reproducer_, ToString(step) + " is bad", *std::move(local),
                                             std::move(instruments), compiler_));
  compiler_.diagnostics().Remark({}, "reproducer",
                                 fmt::format("to repeat this step: ir-opt -run-reproducer {}", *reproducer_));
  return {};
}

Status Bisection::Run(const Module& module) {
  if (setup_.pass() == nullptr) return Error{ErrorCode::Usage, "-bisect needs passes: -passes, -pipeline or -O"};
  IROPT_ASSIGN_OR_RETURN(std::optional<Culprit> culprit, Search(module));
  if (!culprit) {
    test_.CountMandatory();
    IROPT_ASSIGN_OR_RETURN(culprit, Search(module));
  }
  if (!culprit) return {};
  Report(*culprit);
  const BisectStep& step = culprit->verdict.last;
  IROPT_ASSIGN_OR_RETURN(const std::optional<BadRewrite> rewrite, SearchRewrite(module, step));
  if (rewrite) Report(*rewrite, step.pass);
  return reproducer_ ? WriteReproducer(module, *culprit) : Status();
}

}  // namespace iropt

#include "precision_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "driver/precision/operator_names.h"
#include "driver/precision/precision_report.h"
#include "driver/precision/quantization_stage.h"
#include "iropt/eval/relax/wide_arithmetic.h"
#include "iropt/execution/call_entry.h"
#include "iropt/ir/location.h"
#include "iropt/pass/timing.h"
#include "iropt/precision/choice.h"
#include "iropt/precision/emulation.h"
#include "iropt/precision/numeric_lint.h"
#include "iropt/transform/relax/precision/lower_operators.h"

namespace iropt {

namespace {

using precision::Choice;
using precision::ModelInputs;
using precision::Operator;

constexpr double kTolerance = 1e-2;
constexpr std::string_view kAutomatic = "auto:";

// The format of -precision; null if it is not one that operators can compute in.
const NumberFormat* FormatOf(const PrecisionOptions& options) {
  std::string_view name = options.format;
  if (name.starts_with(kAutomatic)) name.remove_prefix(kAutomatic.size());
  const NumberFormat* format = FormatNamed(name.empty() ? "float16" : name);
  const bool is_computed = format && format->dtype.is_floating() && format->dtype.bits == 16;
  return is_computed ? format : nullptr;
}

precision::Objective ObjectiveOf(const std::string& word) {
  if (word == "size") return precision::Objective::kSize;
  return word == "speed" ? precision::Objective::kSpeed : precision::Objective::kOperators;
}

// The function of a module that runs, its operators and their inputs.
class Session {
 public:
  Session(CompilerInstance& compiler, const PrecisionOptions& options, NetworkMode mode, const Module& module)
      : compiler_(compiler), options_(options), mode_(mode), module_(module), format_(*FormatOf(options)) {}

  // With `runs`, the inputs are read, too.
  Status Prepare(bool runs) {
    IROPT_ASSIGN_OR_RETURN(Entry entry, Entry::Find(module_, std::nullopt, compiler_.diagnostics()));
    entry_.emplace(std::move(entry));
    if (!entry_->relax()) {
      return Error{ErrorCode::Usage,
                   fmt::format("flag '-precision' needs a Relax function: '{}' is a PrimFunc", entry_->name())};
    }
    IROPT_ASSIGN_OR_RETURN(KeptOperators kept, KeptOperators::Make(options_.keep));
    operators_ =
        precision::FindOperators(module_, *entry_->relax(), format_, MakeOperatorNamer(module_, compiler_.sources()),
                                 [&](const std::string& name) { return kept.Contains(name); });
    for (const std::string& text : kept.Unmatched()) {
      compiler_.diagnostics().Warning({}, "unmatched-filter",
                                      fmt::format("-keep-precision: no operator on float32 is called '{}'", text));
    }
    if (!runs) return {};
    limits_.max_bytes = PhysicalMemoryShare();
    IROPT_ASSIGN_OR_RETURN(
        read_, ReadPrecisionInputs(*entry_, options_, compiler_, [this](const auto& args) {
          DiagnosticBuffer ignored;
          DiagnosticEngine silent(&ignored);
          return RunFunction(module_, *entry_->relax(), args, silent, {.limits = limits_, .mode = mode_}).ok();
        }));
    return {};
  }

  ModelInputs Inputs() const {
    return {.module = module_,
            .function = *entry_->relax(),
            .samples = read_.samples,
            .diagnostics = compiler_.diagnostics(),
            .run = {.limits = limits_, .mode = mode_}};
  }

  precision::ChoiceOptions ChoiceOptionsOf() const {
    return {.format = &format_,
            .tolerance = options_.tolerance.value_or(kTolerance),
            .objective = ObjectiveOf(options_.objective),
            .sensitivity = {.max_bytes = PhysicalMemoryShare()},
            .wants_shares = options_.report.has_value()};
  }

  static size_t PhysicalMemoryShare() { return PhysicalMemory() / 4; }

  const Entry& entry() const { return *entry_; }
  const NumberFormat& format() const { return format_; }
  std::vector<Operator>& operators() { return operators_; }
  const PrecisionInputs& read() const { return read_; }

 private:
  CompilerInstance& compiler_;
  const PrecisionOptions& options_;
  const NetworkMode mode_;
  const Module& module_;
  const NumberFormat& format_;
  std::optional<Entry> entry_;
  std::vector<Operator> operators_;
  PrecisionInputs read_;
  EvalLimits limits_;
};

// The greatest error of the outputs of a module that was lowered, as it is written, against those of the function
// before.
Result<double> CheckLowered(const Session& session, const Module& lowered) {
  const ModelInputs before = session.Inputs();
  const auto& function = *To<Function>(lowered.Find(&session.entry().var())->func);
  WideArithmetic wide;
  double error = 0;
  for (const std::vector<HostValue>& args : before.samples) {
    IROPT_ASSIGN_OR_RETURN(const HostValue expected,
                           RunFunction(before.module, before.function, args, before.diagnostics, before.run));
    RunOptions run = before.run;
    run.operators = &wide;
    IROPT_ASSIGN_OR_RETURN(const HostValue got, RunFunction(lowered, function, args, before.diagnostics, run));
    error = std::max(error, precision::RelativeError(got, expected));
  }
  return error;
}

Result<Module> LowerPrecision(CompilerInstance& compiler, const PrecisionOptions& options, NetworkMode mode,
                              const Module& module) {
  const Stopwatch watch;
  const bool automatic = std::string_view(options.format).starts_with(kAutomatic);
  const bool runs = automatic || !options.inputs.empty();
  Session session(compiler, options, mode, module);
  IROPT_RETURN_IF_ERROR(session.Prepare(runs));
  precision::Recording recording;
  Choice choice;
  if (automatic) {
    const ModelInputs inputs = session.Inputs();
    IROPT_ASSIGN_OR_RETURN(choice, precision::ChooseOperators(inputs, std::move(session.operators()),
                                                              session.ChoiceOptionsOf(), recording));
  } else {
    const ModelInputs inputs = session.Inputs();
    IROPT_ASSIGN_OR_RETURN(
        choice, precision::AllOperators(inputs, std::move(session.operators()), session.format(), recording));
  }
  IROPT_ASSIGN_OR_RETURN(Module lowered, LowerOperators(module, session.entry().var(), choice.LoweredCalls(),
                                                        session.format().dtype, compiler.diagnostics()));
  IROPT_RETURN_IF_ERROR(compiler.Verify(lowered));
  PrecisionSummary summary{.choice = choice,
                           .format = session.format(),
                           .tolerance = automatic ? std::optional(session.ChoiceOptionsOf().tolerance) : std::nullopt,
                           .num_samples = session.read().samples.size(),
                           .is_random = session.read().is_random};
  if (runs) {
    IROPT_ASSIGN_OR_RETURN(summary.checked, CheckLowered(session, lowered));
  }
  summary.seconds = watch.Read().wall_seconds;
  if (!compiler.options().quiet) {
    compiler.err().Append(RenderPrecisionTable(summary));
    static_cast<void>(compiler.err().Flush());
  }
  if (options.report) IROPT_RETURN_IF_ERROR(WritePrecisionReport(summary, *options.report));
  if (automatic && choice.measures_outputs && *summary.checked > *summary.tolerance * 1.05) {
    return Error{ErrorCode::SemanticCheck,
                 fmt::format("the error of the module with {} operators is {:.2e}, more than the tolerance {:.2e}",
                             session.format().name, *summary.checked, *summary.tolerance)};
  }
  return lowered;
}

}  // namespace

Status CheckPrecisionOptions(const PrecisionOptions& options, bool bisects) {
  if (IsQuantization(options) && !bisects && !options.lints) return CheckQuantizationOptions(options);
  if (FormatOf(options) == nullptr) {
    const std::string_view formats =
        bisects || options.lints ? "fp16, bf16, auto:fp16 or auto:bf16"
                                 : "fp16, bf16, auto:fp16, auto:bf16, int8, int8-dynamic, int8-weights or int4-weights";
    return Error{ErrorCode::Usage, fmt::format("flag '-precision' must be {}, not '{}'", formats, options.format)};
  }
  const bool has_runs = bisects || options.lints || !options.format.empty();
  if (!has_runs && !options.inputs.empty())
    return Error{ErrorCode::Usage, "flag '-inputs' has no effect without '-precision', '-lint' or '-bisect=precision'"};
  const bool measures = bisects || options.format.starts_with(kAutomatic);
  if (!measures && options.tolerance)
    return Error{ErrorCode::Usage,
                 "flag '-rtol' has no effect without '-precision=auto:FORMAT' or '-bisect=precision'"};
  if (options.tolerance && *options.tolerance <= 0)
    return Error{ErrorCode::Usage, fmt::format("flag '-rtol' must be positive, not {}", *options.tolerance)};
  return {};
}

Pass MakePrecisionPass(CompilerInstance& compiler, const PrecisionOptions& options, NetworkMode mode) {
  return CreateModulePass({.name = "Precision", .changes = {PassChange::Precision}},
                          [&compiler, &options, mode](const Module& module, ModulePassContext&) {
                            return LowerPrecision(compiler, options, mode, module);
                          });
}

Status BisectPrecision(CompilerInstance& compiler, const PrecisionOptions& options, NetworkMode mode,
                       const Module& module) {
  Session session(compiler, options, mode, module);
  IROPT_RETURN_IF_ERROR(session.Prepare(true));
  const ModelInputs inputs = session.Inputs();
  const precision::ChoiceOptions choice = session.ChoiceOptionsOf();
  precision::Recording recording;
  size_t num_runs = 0;
  double error = 0;
  IROPT_ASSIGN_OR_RETURN(
      const std::vector<size_t> found,
      precision::FindBreakingOperators(inputs, session.operators(), choice, recording, num_runs, error));
  if (found.empty()) {
    return Error{ErrorCode::Usage, fmt::format("nothing to find: with all operators in {}, the error is {:.1e}, within "
                                               "the tolerance {:.1e}",
                                               session.format().name, error, choice.tolerance)};
  }
  const Operator& worst = session.operators()[found.front()];
  auto remark = compiler.diagnostics().Remark(
      Location(*worst.call), "precision",
      fmt::format("{} breaks the tolerance {:.1e} in {}: the error is {:.1e}", session.format().name, choice.tolerance,
                  found.size() == 1 ? fmt::format("operator '{}'", worst.name)
                                    : fmt::format("{} operators together", found.size()),
                  error));
  for (const size_t i : found) {
    const Operator& op = session.operators()[i];
    const precision::ValueRecord* record = recording.Find(*op.var);
    remark.Note(Location(*op.call), fmt::format("'{}' has values from {}", op.name,
                                                record ? precision::DescribeRange(*record) : "nowhere"));
  }
  remark.Note(fmt::format("found in {} runs of the function", num_runs));
  return {};
}

Status LintPrecision(CompilerInstance& compiler, const PrecisionOptions& options, NetworkMode mode,
                     const Module& module) {
  Session session(compiler, options, mode, module);
  IROPT_RETURN_IF_ERROR(session.Prepare(true));
  const precision::OperatorNamer namer = MakeOperatorNamer(module, compiler.sources());
  IROPT_ASSIGN_OR_RETURN(const std::vector<precision::NumericFinding> findings,
                         precision::LintNumbers(session.Inputs(), session.format()));
  for (const precision::NumericFinding& finding : findings) {
    compiler.diagnostics().Warning(Location(*finding.call), "numeric",
                                   fmt::format("'{}': {}", namer(*finding.var, *finding.call), finding.message));
  }
  return {};
}

}  // namespace iropt

#include "quantization_stage.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/precision/operator_names.h"
#include "driver/precision/precision_inputs.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/transform/passes.h"

namespace iropt {

namespace {

constexpr std::string_view kInt4Weights = "int4-weights";
constexpr std::string_view kInt8Weights = "int8-weights";
constexpr std::string_view kInt8Dynamic = "int8-dynamic";
constexpr std::string_view kInt8 = "int8";

// The variables of the operators that the user names.
class KeptVars : public ExprVisitor {
 public:
  KeptVars(KeptOperators& kept, const precision::OperatorNamer& namer) : kept_(kept), namer_(namer) {}

  // As regular expressions for options of passes.
  std::vector<std::string> names;

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    const auto* call = As<Call>(binding->value);
    if (call && kept_.Contains(namer_(*binding->var, *call)))
      names.push_back(fmt::format("^{}$", binding->var->name()));
    ExprVisitor::VisitVarBinding(binding);
  }

 private:
  KeptOperators& kept_;
  const precision::OperatorNamer& namer_;
};

Result<std::vector<std::string>> KeptNames(const Module& module, const PrecisionOptions& options,
                                           CompilerInstance& compiler) {
  IROPT_ASSIGN_OR_RETURN(KeptOperators kept, KeptOperators::Make(options.keep));
  const precision::OperatorNamer namer = MakeOperatorNamer(module, compiler.sources());
  KeptVars vars(kept, namer);
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) vars.VisitExpr(function);
  }
  for (const std::string& text : kept.Unmatched())
    compiler.diagnostics().Warning({}, "unmatched-filter",
                                   fmt::format("-keep-precision: no operator is called '{}'", text));
  return std::move(vars.names);
}

Pass PassOf(const PrecisionOptions& options, std::vector<std::string> keep) {
  OptionValue::List samples;
  for (std::string& file : ExpandPatterns(options.inputs)) samples.emplace_back(std::move(file));
  if (options.format == kInt8)
    return transform::QuantizeStatic(
        {.inputs = std::move(samples), .max_error = options.tolerance, .keep = std::move(keep)});
  pass_options::QuantizeWeights::Values values{.keep = std::move(keep)};
  if (options.format == kInt8Dynamic) {
    values.form = pass_options::QuantizeWeights::Form::kDynamic;
    return transform::QuantizeWeights(values);
  }
  values.bits = options.format == kInt4Weights ? 4 : 8;
  values.convolutions = options.format == kInt8Weights;
  if (!samples.empty()) {
    values.method = pass_options::QuantizeWeights::Method::kGptq;
    values.inputs = std::move(samples);
  }
  return transform::QuantizeWeights(values);
}

}  // namespace

bool IsQuantization(const PrecisionOptions& options) {
  const std::string_view format = options.format;
  return format == kInt4Weights || format == kInt8Weights || format == kInt8Dynamic || format == kInt8;
}

Status CheckQuantizationOptions(const PrecisionOptions& options) {
  const auto fail = [&](std::string_view flag, std::string_view what) {
    return Error{ErrorCode::Usage, fmt::format("flag '{}' {} '-precision={}'", flag, what, options.format)};
  };
  if (options.format == kInt8 && options.inputs.empty()) return fail("-inputs", "is missing: it is needed for");
  if (options.format == kInt8Dynamic && !options.inputs.empty()) return fail("-inputs", "has no effect with");
  if (options.format != kInt8 && options.tolerance) return fail("-rtol", "has no effect with");
  if (options.tolerance && *options.tolerance <= 0)
    return Error{ErrorCode::Usage, fmt::format("flag '-rtol' must be positive, not {}", *options.tolerance)};
  if (options.objective != PrecisionOptions().objective) return fail("-precision-objective", "has no effect with");
  if (options.report) return fail("-precision-report", "has no effect with");
  return {};
}

Result<Pass> MakeQuantizationPass(CompilerInstance& compiler, const PrecisionOptions& options, const Module& module) {
  IROPT_ASSIGN_OR_RETURN(std::vector<std::string> keep, KeptNames(module, options, compiler));
  return PassOf(options, std::move(keep));
}

}  // namespace iropt

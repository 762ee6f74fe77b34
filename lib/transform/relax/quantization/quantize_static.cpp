// QuantizeStatic: computes convolutions and matmuls on integers of 8 bits whose ranges are those of samples.
//
//   y = R.nn.relu(R.nn.conv2d(x, w))
//
//     -->
//
//   lv = R.dequantize(R.quantize(x, scale, zero), scale, zero)
//   lv1 = R.dequantize(integers of w, one scale for each output, 0)
//   lv2 = R.nn.conv2d(lv, lv1)
//   y = R.dequantize(R.quantize(lv2, other scale, 0), other scale, 0)    # without a sign, which makes R.nn.relu
//   superfluous
//
// Runtimes compute what is between R.dequantize and R.quantize on integers. Layers are matmuls and convolutions of
// float32 with constant weights; weights have signs and the zero point 0, biases are int32 with the product of the
// scales of data and weight. Sums, pools, concatenations and moves between such tensors are on integers, too. Results
// of the function are floats. The function is run on the samples of `inputs`, one file each: once or twice for the
// ranges, then as it was and on integers, to compare the results. If the relative error of a result is above
// `max_error`, each layer is tried alone, and those with the largest errors stay in float32, which is a warning for
// each. Layers that no sample runs stay, too: those of branches that are not taken. O(layers) runs at worst.
//
// Source: where R.quantize and R.dequantize are, is what onnxruntime's QDQ form has (quantize_static).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibration.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/remark.h"
#include "iropt/pass/statistic.h"
#include "iropt/transform/options/QuantizeStatic.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "kept_names.h"
#include "sample_runs.h"
#include "static_plan.h"
#include "static_rewriter.h"
#include "transform/relax/util/onnx_opset.h"

namespace iropt {

namespace {

constexpr Statistic kQuantizedLayers("QuantizeStatic", "quantized-layers", "layers that compute on integers");

struct StaticOptions {
  std::vector<SampleSource> samples;
  CalibrationMethod method = CalibrationMethod::kMinMax;
  double percent = 99.99;
  DataType dtype = DataType::UInt(8);
  bool per_channel = true;
  double max_error = 0;
  KeptNames keep;
};

// Rounds all rows with one scale.
class CommonScaleRounder final : public RowRounder {
 public:
  explicit CommonScaleRounder(const WeightMatrix& matrix) {
    for (const float number : matrix.array->As<float>()) most_ = std::max(most_, std::abs(number));
  }
  void Round(const float* rows, int64_t count, int64_t inputs, const MatrixFormat& format, uint8_t* codes,
             BlockScale* scales) const override {
    const BlockScale scale = ScaleOf({&most_, 1}, format.numbers);
    std::fill_n(scales, count, scale);
    CodesOf({rows, static_cast<size_t>(count * inputs)}, scale, format.numbers, codes);
  }

 private:
  float most_ = 0;
};

// The relative errors of the results of runs, compared with those of other runs: the greatest of all tensors of floats.
double RelativeErrorOf(const std::vector<HostValue>& now, const std::vector<HostValue>& before) {
  std::vector<std::pair<double, double>> sums;  // of each tensor: the squared error and the squared norm
  for (size_t run = 0; run < now.size(); ++run) {
    std::vector<Tensor> changed;
    std::vector<Tensor> original;
    ForEachTensor(now[run], [&](const Tensor& tensor) { changed.push_back(tensor); });
    ForEachTensor(before[run], [&](const Tensor& tensor) { original.push_back(tensor); });
    sums.resize(changed.size());
    for (size_t i = 0; i < changed.size(); ++i) {
      if (changed[i]->dtype() != DataType::Float(32)) continue;
      for (size_t k = 0; k < static_cast<size_t>(changed[i]->num_elements()); ++k) {
        const auto value = static_cast<double>(original[i]->As<float>()[k]);
        const double error = static_cast<double>(changed[i]->As<float>()[k]) - value;
        sums[i].first += error * error;
        sums[i].second += value * value;
      }
    }
  }
  double most = 0;
  for (const auto& [error, norm] : sums) {
    if (error != 0) most = std::max(most, norm == 0 ? HUGE_VAL : std::sqrt(error / norm));
  }
  return most;
}

// The parameters and variables of a function that are tensors of float32.
class FloatVars : public ExprVisitor {
 public:
  std::vector<const Var*> vars;
  void Add(const Var* var) {
    const auto* type = As<TensorType>(var->type);
    if (type != nullptr && type->dtype == DataType::Float(32)) vars.push_back(var);
  }

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    Add(binding->var);
    ExprVisitor::VisitVarBinding(binding);
  }
};

class NoObserver final : public RunObserver {
 public:
  void OnBinding(const Function&, const Var&, const HostValue&) override {}
  void OnCall(CalleeKind, std::string_view, double) override {}
};

// Quantizes one function.
class StaticQuantizer {
 public:
  StaticQuantizer(const StaticOptions& options, const Module& module, const Function& function, Workspace& workspace,
                  ModulePassContext& context)
      : options_(options), module_(module), function_(function), workspace_(workspace), context_(context) {}

  // Returns whether there are layers that might be quantized.
  bool has_layers() const { return has_layers_; }

  // The same function if nothing is quantized.
  Result<const Function*> Run() {
    const auto keeps = [&](std::string_view name) { return options_.keep.Contain(name); };
    WeightSites found = FindWeightSites(function_, workspace_.num_vars(), {true, 1, keeps});
    for (const KeptWeight& kept : found.kept)
      RemarkMissed("kept-layer", Location(*kept.call),
                   fmt::format("the layer stays: its weight '{}': {}", kept.name, kept.reason));
    std::erase_if(found.sites,
                  [](const WeightSite& site) { return site.weight.array->dtype() != DataType::Float(32); });
    layers_ = FindStaticLayers(function_, workspace_.num_vars(), found.sites);
    IROPT_RETURN_IF_ERROR(QuantizeWeightsOfLayers());
    has_layers_ = !layers_.empty();
    if (!has_layers_) return &function_;
    Result<std::vector<Sample>> samples = ReadSamples(function_, options_.samples);
    if (!samples.ok()) {
      context_.diagnostics.Error(Location(function_), "file", samples.error().message);
      return Failure{ErrorCode::PassFailed};
    }
    samples_ = *std::move(samples);
    IROPT_RETURN_IF_ERROR(FindRanges());
    return layers_.empty() ? &function_ : FindLayersWithin();
  }

 private:
  // Leaves out the layers whose weights cannot be quantized.
  Status QuantizeWeightsOfLayers() {
    const MatrixFormat format{.numbers = {.bits = 8}, .block = 0, .layout = MatrixFormat::Layout::kPlain};
    std::vector<StaticLayer> kept = std::move(layers_);
    layers_.clear();
    for (StaticLayer& layer : kept) {
      const WeightSite& site = layer.site;
      const CommonScaleRounder common(site.weight);
      const NearestRounder nearest;
      const RowRounder& rounder = options_.per_channel ? static_cast<const RowRounder&>(nearest) : common;
      IROPT_ASSIGN_OR_RETURN(
          std::optional<QuantizedMatrix> matrix,
          QuantizeMatrix(site.weight, format, rounder, site.name, store_, context_.context.threads, buffers_));
      if (!matrix) {
        RemarkMissed("kept-layer", Location(*site.call), "the layer stays: its weight has numbers that are not finite");
        continue;
      }
      scales_.weights.try_emplace(site.call, *std::move(matrix));
      layers_.push_back(std::move(layer));
    }
    return {};
  }

  // The scales of all tensors: plans with fewer layers have other ones as integers.
  Status FindRanges() {
    FloatVars floats;
    for (const Var* param : function_.params) floats.Add(param);
    floats.VisitExpr(&function_);
    const std::vector<const Var*>& vars = floats.vars;
    RangeObserver observer(vars);
    IROPT_RETURN_IF_ERROR(RunSamples(module_, function_, samples_, observer, context_.diagnostics));
    if (options_.method != CalibrationMethod::kMinMax) {
      observer.BeginHistograms();
      IROPT_RETURN_IF_ERROR(RunSamples(module_, function_, samples_, observer, context_.diagnostics));
    }
    scales_.dtype = options_.dtype;
    for (const Var* var : vars) {
      const ValueHistogram* histogram = observer.Find(var);
      const ValueRange range =
          histogram ? ChooseRange(*histogram, options_.method, options_.percent) : ValueRange{0, 0};
      scales_.tensors[var] = ScaleFor(range);
    }
    std::erase_if(layers_, [&](const StaticLayer& layer) {
      if (observer.Find(To<Var>(layer.site.data)) && observer.Find(layer.result)) return false;
      ReportKept(layer, "it has no finite values in the samples, or does not run there");
      return true;
    });
    return {};
  }

  TensorScale ScaleFor(const ValueRange& range) const {
    constexpr double kSteps = 255;
    const int shift = options_.dtype.is_int() ? 128 : 0;
    const auto scale = static_cast<float>((range.greatest - range.least) / kSteps);
    if (scale < std::numeric_limits<float>::min()) return {.scale = 1, .zero = -shift};
    const double zero = std::clamp(std::nearbyint(-range.least / static_cast<double>(scale)), 0.0, kSteps);
    return {.scale = scale, .zero = static_cast<int>(zero) - shift};
  }

  Result<const Function*> Rewrite(std::vector<StaticLayer> layers) {
    const StaticPlan plan = PlanStaticQuantization(function_, workspace_.num_vars(), std::move(layers));
    OpTypeInferrer inferrer(&module_, workspace_.arena(), &context_.diagnostics);
    const Function* rewritten = RewriteStatically(&function_, plan, scales_, workspace_, inferrer);
    if (rewritten == nullptr) return Failure{ErrorCode::PassFailed};
    return RemoveDeadBindings(rewritten, &module_, workspace_);
  }

  Result<double> ErrorWith(const Function& function) {
    NoObserver observer;
    std::vector<HostValue> results;
    IROPT_RETURN_IF_ERROR(RunSamples(module_, function, samples_, observer, context_.diagnostics, &results));
    return RelativeErrorOf(results, expected_);
  }

  // The function with as many layers on integers as the error allows.
  Result<const Function*> FindLayersWithin() {
    if (options_.max_error <= 0) {
      kQuantizedLayers.Add(layers_.size());
      return Rewrite(layers_);
    }
    NoObserver observer;
    IROPT_RETURN_IF_ERROR(RunSamples(module_, function_, samples_, observer, context_.diagnostics, &expected_));
    IROPT_ASSIGN_OR_RETURN(const Function* all, Rewrite(layers_));
    IROPT_ASSIGN_OR_RETURN(double error, ErrorWith(*all));
    if (error <= options_.max_error) return Accept(all, layers_.size(), error);
    const double error_of_all = error;
    std::vector<double> errors;
    for (const StaticLayer& layer : layers_) {
      IROPT_ASSIGN_OR_RETURN(const Function* one, Rewrite({layer}));
      IROPT_ASSIGN_OR_RETURN(errors.emplace_back(), ErrorWith(*one));
    }
    std::vector<size_t> order(layers_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return errors[a] < errors[b]; });
    // As many as have the error together if errors are independent, and then fewer.
    double sum = 0;
    size_t count = 0;
    while (count < order.size() &&
           sum + errors[order[count]] * errors[order[count]] <= options_.max_error * options_.max_error)
      sum += errors[order[count]] * errors[order[count]], ++count;
    for (; count > 0; count -= std::max<size_t>(1, count / 8)) {
      std::vector<bool> is_chosen(layers_.size(), false);
      for (size_t i = 0; i < count; ++i) is_chosen[order[i]] = true;
      std::vector<StaticLayer> chosen;
      for (size_t i = 0; i < layers_.size(); ++i) {
        if (is_chosen[i]) chosen.push_back(layers_[i]);
      }
      IROPT_ASSIGN_OR_RETURN(const Function* rewritten, Rewrite(std::move(chosen)));
      IROPT_ASSIGN_OR_RETURN(error, ErrorWith(*rewritten));
      if (error > options_.max_error) continue;
      ReportKept(is_chosen, errors, error_of_all);
      return Accept(rewritten, count, error);
    }
    ReportKept(std::vector<bool>(layers_.size(), false), errors, error_of_all);
    return &function_;
  }

  void ReportKept(const std::vector<bool>& is_chosen, const std::vector<double>& errors, double error_of_all) {
    const auto kept = std::ranges::count(is_chosen, false);
    context_.diagnostics.Warning(
        Location(function_), "not-lowered",
        fmt::format(
            "{} of {} layers stay in float32: with all of them on integers, the relative error of the results is "
            "{:.2g}, above {:.2g}",
            kept, layers_.size(), error_of_all, options_.max_error));
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (is_chosen[i]) continue;
      ReportKept(layers_[i], fmt::format("on integers, it alone makes a relative error of {:.2g}", errors[i]));
    }
  }

  void ReportKept(const StaticLayer& layer, const std::string& reason) {
    context_.diagnostics.Warning(
        Location(*layer.site.call), "not-lowered",
        fmt::format("the layer with the weight '{}' stays in float32: {}", layer.site.name, reason));
  }

  Result<const Function*> Accept(const Function* function, size_t count, double error) {
    kQuantizedLayers.Add(count);
    RemarkPassed(
        "quantized-layers", Location(function_),
        fmt::format("{} of {} layers compute on integers: the relative error of the results is {:.2g} on {} samples",
                    count, layers_.size(), error, samples_.size()));
    return function;
  }

  const StaticOptions& options_;
  const Module& module_;
  const Function& function_;
  Workspace& workspace_;
  ModulePassContext& context_;
  TensorStore store_{size_t{64} << 20};
  MatrixChunk buffers_;
  std::vector<StaticLayer> layers_;
  bool has_layers_ = false;
  std::vector<Sample> samples_;
  StaticScales scales_;
  std::vector<HostValue> expected_;
};

// `main`, or the only Relax function.
std::optional<size_t> IndexOfModel(const Module& module) {
  std::optional<size_t> index;
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry& entry = module.functions()[i];
    if (!Is<Function>(entry.func)) continue;
    if (entry.var->name == "main") return i;
    index = index ? std::nullopt : std::optional(i);
  }
  return index;
}

Result<Module> QuantizeModule(Module module, const StaticOptions& options, ModulePassContext& context) {
  const std::optional<size_t> index = IndexOfModel(module);
  const Function* changed = nullptr;
  bool has_layers = false;
  if (index) {
    const ModuleEntry entry = module.functions()[*index];
    const RemarkFunction in_function(entry.var->name);
    Workspace workspace(module, entry.storage);
    const auto& function = *To<Function>(entry.func);
    StaticQuantizer quantizer(options, module, function, workspace, context);
    IROPT_ASSIGN_OR_RETURN(changed, quantizer.Run());
    has_layers = quantizer.has_layers();
    if (changed == &function) changed = nullptr;
    if (changed) module.SetAt(*index, changed, workspace.Finish());
  }
  if (changed) RequireOpset(module, kOpsetOfAxes, false);
  if (!has_layers)
    context.diagnostics.Warning(
        {}, "not-lowered",
        "no layer is quantized: no matmul or convolution of float32 has a constant weight of its own");
  return module;
}

StaticOptions ReadStaticOptions(const PassOptions& options) {
  const pass_options::QuantizeStatic given(options);
  StaticOptions read{.samples = ReadSampleSources(options, given.inputs),
                     .method = static_cast<CalibrationMethod>(*given.calibrate_method),
                     .percent = *given.percentile,
                     .dtype = *given.activation_type,
                     .per_channel = *given.per_channel,
                     .max_error = *given.max_error,
                     .keep = KeptNames(options, given.keep)};
  if (read.samples.empty()) options.Refuse(given.inputs, "must have at least one sample");
  if (!(read.percent > 50 && read.percent <= 100)) options.Refuse(given.percentile, "must be above 50 and at most 100");
  return read;
}

}  // namespace

Pass CreateQuantizeStatic(const PassOptions& options) {
  return CreateModulePass(options.info(),
                          [read = ReadStaticOptions(options)](Module module, ModulePassContext& context) {
                            return QuantizeModule(std::move(module), read, context);
                          });
}

}  // namespace iropt

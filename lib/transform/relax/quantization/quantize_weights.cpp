// QuantizeWeights: stores the weights of matmuls and convolutions as integers of 4 or 8 bits, and computes in floats.
//
//   y = R.matmul(x, w)    -->    y = R.call_pure_packed("onnx.com.microsoft.MatMulNBits", x, codes, scales, R.str("K"),
//   ...)
//
// or, with form="dequantize",
//
//   lv = R.call_pure_packed("onnx.DequantizeLinear", codes, scales, R.str("axis"), ..., R.str("block_size"), ...)
//   y = R.matmul(x, lv)
//
// or, with form="dynamic",
//
//   lv = R.call_pure_packed("onnx.DynamicQuantizeLinear", x, ...)    # integers, a scale and a zero point
//   lv1 = R.call_pure_packed("onnx.MatMulInteger", lv[0], codes, lv[2], ...)
//   y = R.multiply(R.astype(lv1, "float32"), R.multiply(lv[1], scales))
//
// where blocks of `block_size` numbers that belong to one output have a scale, and, unless `symmetric`, a zero point.
// With block_size=0 each output has one scale, and the weight is R.dequantize(codes, scales, 0). Weights are constants
// of float32, float16 or bfloat16, possibly transposed by R.permute_dims; with `convolutions` also those of
// convolutions, which get 8 bits and one scale for each output. A weight that other operators use stays, and so does
// one with numbers that are not finite. Codes and scales beyond 64 MB are in a temporary file, and weights in files are
// read in parts, so that the memory does not depend on the size of the model. O(numbers).
//
// With method="gptq", the function is run on the samples of `inputs`, one file each, and weights are rounded so that
// the products with such data change least: the error of each one is made up for by those after it. O(inputs^2) for
// each number of a weight, and memory for a square matrix of the inputs of some weights at a time.
//
// A module that was read from ONNX gets the operator set that has the operators: 21 for blocks.
//
// Source: the form, and the ranges of blocks, are those of onnxruntime (MatMulNBits of its contributed operators) and
// of DequantizeLinear-21.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "affine_type.h"
#include "compensated_rounder.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/datatype.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/element.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/op.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/quantize.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/remark.h"
#include "iropt/pass/statistic.h"
#include "iropt/runtime/value.h"
#include "iropt/transform/options/QuantizeWeights.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "kept_names.h"
#include "onnx_calls.h"
#include "quantized_matrix.h"
#include "sample_runs.h"
#include "transform/relax/util/onnx_opset.h"
#include "transform/relax/util/tensor_axes.h"
#include "weight_sites.h"

namespace iropt {

namespace {

constexpr Statistic kQuantizedWeights("QuantizeWeights", "quantized-weights", "weights that became integers");
constexpr Statistic kSavedBytes("QuantizeWeights", "saved-bytes", "bytes of weights that this saved");

constexpr size_t kMostInMemory = size_t{64} << 20;
constexpr size_t kMostForProducts = size_t{1} << 30;
constexpr int64_t kOpsetOfHalfScales = 19;
constexpr int64_t kOpsetOfIntegers = 11;  // of ranges that are found in each run

struct WeightOptions {
  MatrixFormat format;
  bool convolutions = false;
  int64_t min_elements = 0;
  KeptNames keep;
  std::vector<SampleSource> samples;  // for rounding that makes up for errors; empty: to the nearest

  bool is_packed() const { return format.layout == MatrixFormat::Layout::kPacked; }
};

// The format of a weight, whose dtype is that of its scales.
MatrixFormat FormatFor(const WeightSite& site, const WeightOptions& options) {
  MatrixFormat format = options.format;
  if (!site.is_matmul) {
    format.layout = MatrixFormat::Layout::kPlain;
    format.block = 0;
    format.numbers = {.bits = 8, .symmetric = true};
  }
  format.numbers.negative_scales = format.layout == MatrixFormat::Layout::kPacked;
  format.numbers.scale_dtype = site.weight.array->dtype();
  return format;
}

std::string Megabytes(uint64_t bytes) { return fmt::format("{:.3g} MB", static_cast<double>(bytes) / 1e6); }

// Puts the quantized weights into calls.
class WeightRewriter : public ExprMutator {
 public:
  using Matrices = LookupMap<const Call*, std::pair<const WeightSite*, const QuantizedMatrix*>>;

  WeightRewriter(const Matrices& matrices, const WeightOptions& options, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), matrices_(matrices), options_(options) {}

  const Function* Run(const Function* function) { return To<Function>(VisitExpr(function)); }

 protected:
  const Expr* VisitCall(const Call* call) override {
    const auto* found = matrices_.Find(call);
    const auto* visited = ExprMutator::VisitCall(call);
    if (found == nullptr) return visited;
    const auto* now = To<Call>(visited);
    const auto& [site, matrix] = *found;
    const MatrixFormat format = FormatFor(*site, options_);
    if (format.layout == MatrixFormat::Layout::kPacked) return MultiplyPacked(*now, *site, *matrix, format, call->type);
    if (format.layout == MatrixFormat::Layout::kInputsFirst)
      return MultiplyIntegers(*now, *matrix, To<TensorType>(call->type));
    const Expr* real = Dequantize(*site, *matrix, format);
    if (site->weight.outputs_first && site->is_matmul)
      real = OpBuilder(builder()).Make(op::kPermuteDims, {builder().Emit(real)},
                                       MakeOpAttrs(op::kPermuteDims, PermuteDimsAttrs::Values{}));
    const Expr* args[] = {now->args[0], builder().Emit(real)};
    return NewLike<Call>(workspace(), *call, call->op, workspace().Copy(std::span<const Expr* const>(args)),
                         call->attrs, call->type_args, call->type);
  }

 private:
  const Expr* ConstantOf(const std::shared_ptr<const NDArray>& array) { return MakeConstant(array, workspace()); }
  const Expr* MultiplyPacked(const Call& call, const WeightSite& site, const QuantizedMatrix& matrix,
                             const MatrixFormat& format, const Type* type) {
    std::vector<const Expr*> inputs = {call.args[0], ConstantOf(matrix.codes), ConstantOf(matrix.scales)};
    if (matrix.zeros) inputs.push_back(ConstantOf(matrix.zeros));
    return MakeOnnxCall("com.microsoft.MatMulNBits", inputs,
                        {{"K", site.weight.inputs()},
                         {"N", site.weight.outputs()},
                         {"bits", format.numbers.bits},
                         {"block_size", format.block},
                         {"opset", 1}},
                        type, call, workspace());
  }

  // The weight as floats, in its own layout.
  const Expr* Dequantize(const WeightSite& site, const QuantizedMatrix& matrix, const MatrixFormat& format) {
    const DataType dtype = format.numbers.scale_dtype;
    const Expr* codes = ConstantOf(matrix.codes);
    const Expr* scales = ConstantOf(matrix.scales);
    const int64_t outputs_axis = site.weight.outputs_first ? 0 : 1;
    if (format.block == 0 && format.numbers.bits == 8) {
      // An int32, as the reader of ONNX has for a zero point that is left out.
      const Expr* zeros = matrix.zeros ? ConstantOf(matrix.zeros) : MakeNumber(0, DataType::Int(32), workspace());
      const Attr* attrs = MakeOpAttrs(op::kDequantize, QuantizeAttrs::Values{.out_dtype = dtype, .axis = outputs_axis});
      return NewLike<Call>(workspace(), *site.call, GetOp(op::kDequantize),
                           workspace().Copy(std::span<const Expr* const>({codes, scales, zeros})), attrs, nullptr,
                           nullptr);
    }
    std::vector<const Expr*> inputs = {codes, scales};
    if (matrix.zeros) inputs.push_back(ConstantOf(matrix.zeros));
    const Type* type = TypeOfTensor(*NDArray::View(dtype, site.weight.array->shape(), nullptr, nullptr));
    if (format.block == 0)
      return MakeOnnxCall("DequantizeLinear", inputs, {{"axis", outputs_axis}, {"opset", kOpsetOfBlocks}}, type,
                          *site.call, workspace());
    return MakeOnnxCall("DequantizeLinear", inputs,
                        {{"axis", 1 - outputs_axis}, {"block_size", format.block}, {"opset", kOpsetOfBlocks}}, type,
                        *site.call, workspace());
  }

  // The data as integers, their scale and their zero point, which is one tuple for all matmuls of them in a block.
  const Var* QuantizeData(const Expr* data, const Call& call) {
    const auto [tuple, added] = quantized_data_.try_emplace(data, nullptr);
    if (!added) return tuple;
    const TensorType* type = TensorTypeOf(data);
    constexpr std::span<const PrimExpr* const> kNoDims;
    const Type* const fields[] = {type->With(workspace().arena(), DataType::UInt(8), type->vdevice),
                                  TensorType::Get(kNoDims, DataType::Float(32)),
                                  TensorType::Get(kNoDims, DataType::UInt(8))};
    tuple = builder().Emit(MakeOnnxCall("DynamicQuantizeLinear", {data}, {{"opset", 11}, {"outputs", 3}},
                                        TupleType::Get(workspace().arena(), fields), call, workspace()));
    return tuple;
  }

  const Expr* MultiplyIntegers(const Call& call, const QuantizedMatrix& matrix, const TensorType* type) {
    OpBuilder ops(builder());
    const Var* tuple = QuantizeData(call.args[0], call);
    const Expr* numbers = builder().Emit(ops.MakeItem(tuple, 0));
    const Expr* scale = builder().Emit(ops.MakeItem(tuple, 1));
    const Expr* zero = builder().Emit(ops.MakeItem(tuple, 2));
    const Expr* product = builder().Emit(
        MakeOnnxCall("MatMulInteger", {numbers, ConstantOf(matrix.codes), zero}, {{"opset", 10}},
                     type->With(workspace().arena(), DataType::Int(32), type->vdevice), call, workspace()));
    const Expr* real = builder().Emit(op::Astype(ops, product, {.dtype = DataType::Float(32)}));
    const Expr* scales = builder().Emit(op::Multiply(ops, scale, ConstantOf(matrix.scales)));
    auto* result = workspace().New<Call>(*op::Multiply(ops, real, scales));
    result->set_span(call.span());
    return result;
  }

  const BindingBlock* VisitBlock(const BindingBlock* block) override {
    quantized_data_ = {};
    return ExprMutator::VisitBlock(block);
  }

  const Matrices& matrices_;
  const WeightOptions& options_;
  LookupMap<const Expr*, const Var*> quantized_data_;  // of the block
};

// The products of the data of matmuls, by variables, as long as there is memory for them.
class DataProducts final : public RunObserver {
 public:
  struct Group {
    InputProducts products;
    std::vector<const WeightSite*> sites;
  };

  // False if this matmul has to wait for the next run. Of what is not a matmul of a variable, no data are kept.
  bool Add(const WeightSite& site) {
    const auto* var = site.is_matmul ? As<Var>(site.data) : nullptr;
    const int64_t inputs = var ? site.weight.inputs() : 0;
    const auto [index, added] = by_var_.try_emplace(var, groups_.size());
    if (added) {
      const size_t bytes = static_cast<size_t>(inputs * inputs) * sizeof(double);
      if (!groups_.empty() && bytes > kMostForProducts - std::min(kMostForProducts, bytes_)) {
        by_var_.erase(var);
        return false;
      }
      bytes_ += bytes;
      groups_.push_back({var, {InputProducts(inputs), {}}});
    }
    groups_[index].second.sites.push_back(&site);
    return true;
  }

  const std::vector<std::pair<const Var*, Group>>& groups() const { return groups_; }

  void OnBinding(const Function&, const Var& var, const HostValue& value) override {
    const auto* index = by_var_.Find(&var);
    const auto* tensor = std::get_if<Tensor>(&value.state);
    if (index == nullptr || tensor == nullptr) return;
    std::vector<float> numbers;
    DispatchElement((*tensor)->dtype(), [&]<class T>(std::type_identity<T>) {
      for (const T element : (*tensor)->As<T>()) numbers.push_back(static_cast<float>(Element<T>::Load(element)));
    });
    groups_[*index].second.products.Add(numbers);
  }
  void OnCall(CalleeKind, std::string_view, double) override {}

 private:
  std::vector<std::pair<const Var*, Group>> groups_;  // in the order of the first matmuls; null: without data
  LookupMap<const Var*, size_t> by_var_;
  size_t bytes_ = 0;
};

// Quantizes the weights of the functions of a module.
class WeightQuantizer {
 public:
  WeightQuantizer(const WeightOptions& options, ModulePassContext& context)
      : options_(options), context_(context), store_(kMostInMemory) {}

  Result<Module> Run(Module module) {
    for (size_t i = 0; i < module.size(); ++i) {
      const ModuleEntry entry = module.functions()[i];
      const auto* function = As<Function>(entry.func);
      if (function == nullptr || IsPrimitive(*function)) continue;
      const RemarkFunction in_function(entry.var->name);
      Workspace workspace(module, entry.storage);
      IROPT_ASSIGN_OR_RETURN(const Function* changed, RunOn(function, module, workspace));
      if (changed != function) module.SetAt(i, changed, workspace.Finish());
    }
    kQuantizedWeights.Add(quantized_);
    kSavedBytes.Add(saved_);
    if (quantized_ == 0) return WarnOfNothing(std::move(module));
    RequireOpset(module, OpsetNeeded(), options_.is_packed());
    return module;
  }

 private:
  using Key = std::pair<const NDArray*, bool>;

  Result<const Function*> RunOn(const Function* function, const Module& module, Workspace& workspace) {
    const auto keeps = [&](std::string_view name) { return options_.keep.Contain(name); };
    const WeightSites sites =
        FindWeightSites(*function, workspace.num_vars(), {options_.convolutions, options_.min_elements, keeps});
    for (const KeptWeight& kept : sites.kept) Keep(*kept.call, kept.name, kept.reason);
    WeightRewriter::Matrices matrices;
    const auto quantize = [&](const WeightSite& site, const RowRounder& rounder) -> Status {
      IROPT_ASSIGN_OR_RETURN(const QuantizedMatrix* matrix, Quantize(site, rounder));
      if (matrix != nullptr) matrices[site.call] = {&site, matrix};
      return {};
    };
    if (options_.samples.empty()) {
      for (const WeightSite& site : sites.sites) IROPT_RETURN_IF_ERROR(quantize(site, NearestRounder()));
    } else {
      IROPT_RETURN_IF_ERROR(CompensateErrors(*function, module, sites.sites, quantize));
    }
    if (matrices.empty()) return function;
    OpTypeInferrer inferrer(&module, workspace.arena(), &context_.diagnostics);
    WeightRewriter rewriter(matrices, options_, workspace, inferrer);
    const Function* rewritten = rewriter.Run(function);
    if (rewriter.failed()) return Failure{ErrorCode::PassFailed};
    return RemoveDeadBindings(rewritten, &module, workspace);
  }

  // Quantizes each weight with what its data are in runs, some weights for each run of all samples.
  Status CompensateErrors(const Function& function, const Module& module, const std::vector<WeightSite>& sites,
                          FunctionRef<Status(const WeightSite&, const RowRounder&)> quantize) {
    Result<std::vector<Sample>> samples = ReadSamples(function, options_.samples);
    if (!samples.ok()) {
      context_.diagnostics.Error(Location(function), "file", samples.error().message);
      return Failure{ErrorCode::PassFailed};
    }
    std::vector<bool> is_done(sites.size(), false);
    for (size_t first = 0; first < sites.size(); ++first) {
      if (is_done[first]) continue;
      DataProducts products;
      for (size_t i = first; i < sites.size(); ++i) {
        if (!is_done[i]) is_done[i] = products.Add(sites[i]);
      }
      IROPT_RETURN_IF_ERROR(RunSamples(module, function, *samples, products, context_.diagnostics));
      for (const auto& [data, group] : products.groups()) {
        const std::optional<CompensatedRounder> rounder = CompensatedRounder::Make(group.products);
        for (const WeightSite* site : group.sites) {
          if (!rounder)
            RemarkMissed(
                "no-samples", Location(*site->call),
                fmt::format("the weight '{}' is rounded to the nearest: the samples give it no data", site->name));
          IROPT_RETURN_IF_ERROR(rounder ? quantize(*site, *rounder) : quantize(*site, NearestRounder()));
        }
      }
    }
    return {};
  }

  // Null if the weight stays.
  Result<const QuantizedMatrix*> Quantize(const WeightSite& site, const RowRounder& rounder) {
    const Key key{site.weight.array, site.weight.outputs_first};
    if (const auto* known = matrices_.Find(key)) return known->get();
    const MatrixFormat format = FormatFor(site, options_);
    if (format.layout == MatrixFormat::Layout::kInputsFirst && format.numbers.scale_dtype != DataType::Float(32)) {
      Keep(*site.call, site.name, "the form dynamic takes data of float32");
      return nullptr;
    }
    Result<std::optional<QuantizedMatrix>> made =
        QuantizeMatrix(site.weight, format, rounder, site.name, store_, context_.context.threads, buffers_);
    if (!made.ok()) {
      context_.diagnostics.Error(
          Location(*site.call), "pass-failed",
          fmt::format("the weight '{}' cannot be quantized: {}", site.name, made.error().message));
      return Failure{ErrorCode::PassFailed};
    }
    std::unique_ptr<QuantizedMatrix>& matrix = matrices_[key];
    if (!*made) {
      Keep(*site.call, site.name, "it has numbers that are not finite");
      return nullptr;
    }
    matrix = std::make_unique<QuantizedMatrix>(**std::move(made));
    Count(site, format, *matrix);
    return matrix.get();
  }

  void Count(const WeightSite& site, const MatrixFormat& format, const QuantizedMatrix& matrix) {
    ++quantized_;
    has_half_scales_ |=
        format.layout == MatrixFormat::Layout::kPlain && format.numbers.scale_dtype != DataType::Float(32);
    const uint64_t before = site.weight.array->num_bytes();
    saved_ += before - std::min(before, matrix.num_bytes());
    if (!WantsRemarks()) return;
    const double error = matrix.squared_norm == 0 ? 0 : std::sqrt(matrix.squared_error / matrix.squared_norm);
    const std::string blocks =
        format.block == 0 ? "one scale for each output" : fmt::format("blocks of {}", format.block);
    RemarkPassed("quantized-weight", Location(*site.call),
                 fmt::format("the weight '{}' of {} becomes {} of {} bits, {}: relative error {:.2g}", site.name,
                             Megabytes(before), Megabytes(matrix.num_bytes()), format.numbers.bits, blocks, error));
  }

  void Keep(const Call& call, std::string_view name, std::string_view reason) {
    const std::string message = fmt::format("the weight '{}' stays: {}", name, reason);
    RemarkMissed("kept-weight", Location(call), message);
    if (first_kept_.empty()) first_kept_ = message;
  }

  Module WarnOfNothing(Module module) {
    const std::string nothing = fmt::format(
        "no matmul has a constant of float32, float16 or bfloat16 with {} or more elements as its second operand",
        std::max<int64_t>(options_.min_elements, 1));
    context_.diagnostics.Warning(
        {}, "not-lowered", fmt::format("no weight is quantized: {}", first_kept_.empty() ? nothing : first_kept_));
    return module;
  }

  int64_t OpsetNeeded() const {
    const MatrixFormat& format = options_.format;
    int64_t needed = format.block != 0 || format.numbers.bits == 4 ? kOpsetOfBlocks : kOpsetOfAxes;
    if (options_.is_packed()) needed = 1;
    if (format.layout == MatrixFormat::Layout::kInputsFirst) needed = kOpsetOfIntegers;
    if (options_.convolutions) needed = std::max(needed, kOpsetOfAxes);
    return has_half_scales_ ? std::max(needed, kOpsetOfHalfScales) : needed;
  }

  const WeightOptions& options_;
  ModulePassContext& context_;
  TensorStore store_;
  MatrixChunk buffers_;
  LookupMap<Key, std::unique_ptr<QuantizedMatrix>> matrices_;
  uint64_t quantized_ = 0;
  bool has_half_scales_ = false;  // of R.dequantize
  uint64_t saved_ = 0;
  std::string first_kept_;
};

WeightOptions ReadOptions(const PassOptions& options) {
  const pass_options::QuantizeWeights given(options);
  WeightOptions read;
  using Form = pass_options::QuantizeWeights::Form;
  using Layout = MatrixFormat::Layout;
  const bool is_packed = *given.form == Form::kMatmulNbits;
  const bool is_dynamic = *given.form == Form::kDynamic;
  read.format = {.numbers = {.bits = static_cast<int>(*given.bits), .symmetric = *given.symmetric},
                 .block = *given.block_size,
                 .layout = is_packed ? Layout::kPacked : Layout::kPlain};
  if (is_dynamic) read.format = {.numbers = {.bits = 8}, .block = 0, .layout = Layout::kInputsFirst};
  const auto is_other = [&](const auto& option, auto value) {
    return is_dynamic && option.span().known() && *option != value;
  };
  if (is_other(given.bits, 8)) options.Refuse(given.bits, "must be 8 for the form dynamic");
  if (is_other(given.block_size, 0)) options.Refuse(given.block_size, "must be 0 for the form dynamic");
  if (is_other(given.symmetric, true)) options.Refuse(given.symmetric, "must be true for the form dynamic");
  read.convolutions = *given.convolutions;
  read.min_elements = *given.min_elements;
  if (*given.bits != 4 && *given.bits != 8) options.Refuse(given.bits, "must be 4 or 8");
  const bool is_power = *given.block_size >= 16 && (*given.block_size & (*given.block_size - 1)) == 0;
  if (is_packed && !is_power)
    options.Refuse(given.block_size, "must be a power of two from 16 on for the form matmul_nbits");
  if (!is_packed && !is_dynamic && *given.block_size != 0 && *given.block_size < 2)
    options.Refuse(given.block_size, "must be 0, for one scale for each output, or at least 2");
  const bool compensates = *given.method == pass_options::QuantizeWeights::Method::kGptq;
  if (compensates) read.samples = ReadSampleSources(options, given.inputs);
  if (compensates && read.samples.empty()) options.Refuse(given.method, "needs samples, which the option inputs names");
  read.keep = KeptNames(options, given.keep);
  return read;
}

}  // namespace

Pass CreateQuantizeWeights(const PassOptions& options) {
  return CreateModulePass(options.info(), [read = ReadOptions(options)](Module module, ModulePassContext& context) {
    return WeightQuantizer(read, context).Run(std::move(module));
  });
}

}  // namespace iropt

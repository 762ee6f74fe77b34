#include "operator_gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/reduction.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/rebuild.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/broadcast.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/gather.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/op/ops/pooling.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/repeat.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/slice.h"
#include "iropt/op/ops/sorting.h"
#include "iropt/pass/context.h"
#include "iropt/runtime/map_tensors.h"
#include "iropt/runtime/random.h"
#include "iropt/transform/pass_calls.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "precision/float_elements.h"

namespace iropt::precision {

namespace {

constexpr DataType kDouble = DataType::Float(64);

// Each element of the result is one of the operands, or none of them.
constexpr OpId kMoving[] = {op::kReshape,
                            op::kFlatten,
                            op::kPermuteDims,
                            op::kExpandDims,
                            op::kSqueeze,
                            op::kConcat,
                            op::kSplit,
                            op::kStack,
                            op::kTake,
                            op::kStridedSlice,
                            op::kGatherElements,
                            op::kGatherNd,
                            op::kTile,
                            op::kRepeat,
                            op::kFlip,
                            op::kReverseSequence,
                            op::kBroadcastTo,
                            op::kNnPad,
                            op::kNnBatchFlatten,
                            op::kNnPixelShuffle,
                            op::kWhere,
                            op::kLayoutTransform,
                            op::kDynamicStridedSlice};
// The order of the elements decides which of them it is.
constexpr OpId kSelecting[] = {op::kMax,         op::kMin,         op::kSort,       op::kTopk,
                               op::kNnMaxPool1d, op::kNnMaxPool2d, op::kNnMaxPool3d};
constexpr OpId kNormalizing[] = {op::kNnBatchNorm, op::kNnLayerNorm, op::kNnGroupNorm, op::kNnRmsNorm};
constexpr OpId kAdaptive[] = {op::kNnAdaptiveAvgPool1d, op::kNnAdaptiveAvgPool2d, op::kNnAdaptiveAvgPool3d};

bool IsAmong(const OpInfo& op, std::span<const OpId> ids) { return std::ranges::find(ids, op.id) != ids.end(); }

std::shared_ptr<NDArray> Zeros(const Tensor& like) { return NDArray::Make(kSingle, like->shape()); }

// The row-major strides of `shape` for the indices of a tensor of shape `wide`, 0 along what is broadcast; nothing if
// it does not broadcast.
std::optional<std::vector<int64_t>> BroadcastStrides(std::span<const int64_t> shape, std::span<const int64_t> wide) {
  if (shape.size() > wide.size()) return std::nullopt;
  std::vector<int64_t> strides(wide.size(), 0);
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t axis = shape.size() - 1 - i;
    const size_t wide_axis = wide.size() - 1 - i;
    if (shape[axis] != wide[wide_axis] && shape[axis] != 1) return std::nullopt;
    strides[wide_axis] = shape[axis] == 1 ? 0 : stride;
    stride *= shape[axis];
  }
  return strides;
}

// Calls f(index in the wide tensor, index in the broadcast one) for each element of the wide one.
template <class F>
void ForEachBroadcast(std::span<const int64_t> wide, const std::vector<int64_t>& strides, F f) {
  int64_t count = 1;
  for (const int64_t dim : wide) count *= dim;
  if (count == 0) return;
  const int64_t inner = wide.empty() ? 1 : wide.back();
  const int64_t inner_stride = wide.empty() ? 0 : strides.back();
  std::vector<int64_t> index(wide.size(), 0);
  int64_t at = 0;
  for (int64_t done = 0; done < count; done += inner) {
    for (int64_t i = 0; i < inner; ++i) f(done + i, at + i * inner_stride);
    for (size_t axis = wide.size() < 2 ? 0 : wide.size() - 1; axis-- > 0;) {
      at += strides[axis];
      if (++index[axis] < wide[axis]) break;
      at -= strides[axis] * wide[axis];
      index[axis] = 0;
    }
  }
}

double NormOf(const NDArray& tensor) {
  double sum = 0;
  for (const float x : tensor.As<float>()) sum += static_cast<double>(x) * static_cast<double>(x);
  return std::sqrt(sum);
}

// The operands with `f(number of the tensor, tensor)` for each tensor.
template <class F>
std::vector<HostValue> MapArgs(std::span<const HostValue> args, F f) {
  std::vector<HostValue> mapped;
  size_t number = 0;
  for (const HostValue& arg : args)
    mapped.push_back(MapTensors(arg, [&](const Tensor& tensor) { return f(number++, tensor); }));
  return mapped;
}

std::optional<HostValue> Evaluate(const CallRecord& record, std::span<const HostValue> args) {
  Result<HostValue> result = EvalOp(*record.op, record.call->attrs, args, {}, nullptr, record.is_inference);
  return result.ok() ? std::optional(*std::move(result)) : std::nullopt;
}

Tensor ToDouble(const Tensor& tensor) {
  if (tensor->dtype() != kSingle) return tensor;
  const std::shared_ptr<NDArray> wide = NDArray::Make(kDouble, tensor->shape());
  std::ranges::copy(tensor->As<float>(), wide->MutableAs<double>().begin());
  return wide;
}

OperatorGradients::Adjoints EmptyAdjoints(size_t num_probes, size_t num_leaves) {
  return OperatorGradients::Adjoints(num_probes, std::vector<Tensor>(num_leaves));
}

// Codes of elements of operands: their numbers, from an offset that no number of a padding reaches.
constexpr double kFirstCode = 0x1p40;

}  // namespace

std::vector<Tensor> LeavesOf(std::span<const HostValue> values) {
  std::vector<Tensor> leaves;
  for (const HostValue& value : values) ForEachTensor(value, [&](const Tensor& tensor) { leaves.push_back(tensor); });
  return leaves;
}

std::vector<Tensor> TensorsOf(const HostValue& value) { return LeavesOf(std::span(&value, 1)); }

// ---- Operators that move or select elements: the same call on numbers of elements tells where they go

std::optional<OperatorGradients::Adjoints> OperatorGradients::ByPositions(const CallRecord& record,
                                                                          const Adjoints& adjoints,
                                                                          const std::vector<bool>& wanted) {
  const bool selects = IsAmong(*record.op, kSelecting);
  if (!selects && !IsAmong(*record.op, kMoving)) return std::nullopt;
  const std::vector<Tensor> leaves = LeavesOf(record.args);
  if (selects && leaves.size() != 1) return std::nullopt;
  std::vector<int64_t> starts(leaves.size(), -1);
  std::vector<int64_t> order;  // the element of each rank
  int64_t count = 0;
  const std::vector<HostValue> coded = MapArgs(record.args, [&](size_t number, const Tensor& tensor) -> Tensor {
    if (tensor->dtype() != kSingle) return tensor;
    const std::shared_ptr<NDArray> codes = NDArray::Make(kDouble, tensor->shape());
    const std::span<double> out = codes->MutableAs<double>();
    if (!wanted[number]) return codes;
    starts[number] = count;
    if (selects) {
      const std::span<const float> in = tensor->As<float>();
      order.resize(in.size());
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(
          order, [&](int64_t a, int64_t b) { return in[static_cast<size_t>(a)] < in[static_cast<size_t>(b)]; });
      for (size_t rank = 0; rank < order.size(); ++rank)
        out[static_cast<size_t>(order[rank])] = kFirstCode + static_cast<double>(rank);
    } else {
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = kFirstCode + static_cast<double>(count + static_cast<int64_t>(i));
    }
    count += tensor->num_elements();
    return codes;
  });
  const std::optional<HostValue> result = Evaluate(record, coded);
  if (!result) return std::nullopt;
  const std::vector<Tensor> positions = TensorsOf(*result);
  Adjoints pulled = EmptyAdjoints(adjoints.size(), leaves.size());
  for (size_t probe = 0; probe < adjoints.size(); ++probe) {
    std::vector<std::span<float>> out(leaves.size());
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (starts[i] < 0) continue;
      const std::shared_ptr<NDArray> sum = Zeros(leaves[i]);
      out[i] = sum->MutableAs<float>();
      pulled[probe][i] = sum;
    }
    for (size_t leaf = 0; leaf < positions.size() && leaf < adjoints[probe].size(); ++leaf) {
      const Tensor& adjoint = adjoints[probe][leaf];
      if (!adjoint || positions[leaf]->dtype() != kDouble) continue;
      const std::span<const double> codes = positions[leaf]->As<double>();
      const std::span<const float> in = adjoint->As<float>();
      size_t source = 0;
      for (size_t i = 0; i < codes.size(); ++i) {
        if (!(codes[i] >= kFirstCode)) continue;
        auto element = static_cast<int64_t>(codes[i] - kFirstCode);
        if (selects) element = order[static_cast<size_t>(element)];
        const auto holds = [&](size_t j) {
          return starts[j] >= 0 && element >= starts[j] && element < starts[j] + leaves[j]->num_elements();
        };
        if (!holds(source)) {
          source = 0;
          while (source < leaves.size() && !holds(source)) ++source;
          if (source == leaves.size()) {
            source = 0;
            continue;
          }
        }
        out[source][static_cast<size_t>(element - starts[source])] += in[i];
      }
    }
  }
  return pulled;
}

// ---- Operators that compute each element by itself

namespace {

// The derivative of the result by one operand at each element of the result; nothing if the operator is not of this
// kind.
std::optional<std::vector<float>> DerivativeOf(const CallRecord& record, const std::vector<Tensor>& leaves,
                                               size_t which, const Tensor& result) {
  const auto size = static_cast<size_t>(result->num_elements());
  std::vector<float> slope(size, 1.0F);
  switch (record.op->id) {
    case op::kAdd: return slope;
    case op::kSubtract:
      if (which == 1) std::ranges::fill(slope, -1.0F);
      return slope;
    case op::kMultiply: {
      const Tensor& other = leaves[1 - which];
      const auto strides = BroadcastStrides(other->shape(), result->shape());
      if (!strides || other->dtype() != kSingle) return std::nullopt;
      const std::span<const float> in = other->As<float>();
      ForEachBroadcast(result->shape(), *strides, [&](int64_t to, int64_t from) {
        slope[static_cast<size_t>(to)] = in[static_cast<size_t>(from)];
      });
      return slope;
    }
    case op::kNnRelu: {
      const std::span<const float> out = result->As<float>();
      for (size_t i = 0; i < size; ++i) slope[i] = out[i] > 0 ? 1.0F : 0.0F;
      return slope;
    }
    default: break;
  }
  // Central differences in float64.
  const std::span<const float> at = leaves[which]->As<float>();
  const double scale = NormOf(*leaves[which]) / std::sqrt(std::max<double>(1, static_cast<double>(at.size())));
  constexpr double kStep = 1e-4;
  const auto step = [&](float x) { return kStep * (std::abs(static_cast<double>(x)) + 0.1 * scale) + 1e-30; };
  const auto moved = [&](double sign) {
    return Evaluate(record, MapArgs(record.args, [&](size_t number, const Tensor& tensor) -> Tensor {
                      if (number != which) return ToDouble(tensor);
                      const std::shared_ptr<NDArray> shifted = NDArray::Make(kDouble, tensor->shape());
                      const std::span<double> out = shifted->MutableAs<double>();
                      for (size_t i = 0; i < at.size(); ++i) out[i] = static_cast<double>(at[i]) + sign * step(at[i]);
                      return shifted;
                    }));
  };
  const std::optional<HostValue> up = moved(1);
  const std::optional<HostValue> down = up ? moved(-1) : std::nullopt;
  const NDArray* high = up ? up->tensor() : nullptr;
  const NDArray* low = down ? down->tensor() : nullptr;
  if (!high || !low || high->dtype() != kDouble || high->num_elements() != result->num_elements()) return std::nullopt;
  const auto strides = BroadcastStrides(leaves[which]->shape(), result->shape());
  if (!strides) return std::nullopt;
  ForEachBroadcast(result->shape(), *strides, [&](int64_t to, int64_t from) {
    const auto i = static_cast<size_t>(to);
    const double difference = high->As<double>()[i] - low->As<double>()[i];
    const double derivative = difference / (2 * step(at[static_cast<size_t>(from)]));
    slope[i] = std::isfinite(derivative) ? static_cast<float>(derivative) : 0.0F;
  });
  return slope;
}

}  // namespace

std::optional<OperatorGradients::Adjoints> OperatorGradients::ByElement(const CallRecord& record,
                                                                        const Adjoints& adjoints,
                                                                        const std::vector<bool>& wanted) {
  const std::vector<Tensor> results = TensorsOf(record.result);
  const std::vector<Tensor> leaves = LeavesOf(record.args);
  const bool is_mean = IsAmong(*record.op, kAdaptive);
  const bool is_single = results.size() == 1 && results[0]->dtype() == kSingle;
  const bool by_element = record.op->pattern == OpPattern::kElemWise || record.op->pattern == OpPattern::kBroadcast;
  if (!is_single || (!by_element && !is_mean)) return std::nullopt;
  const Tensor& result = results[0];
  Adjoints pulled = EmptyAdjoints(adjoints.size(), leaves.size());
  for (size_t which = 0; which < leaves.size(); ++which) {
    if (!wanted[which]) continue;
    const Tensor& operand = leaves[which];
    if (is_mean) {
      // A mean of the whole image broadcasts back to it.
      const auto strides = BroadcastStrides(result->shape(), operand->shape());
      if (!strides || result->num_elements() == 0) return std::nullopt;
      const auto share = static_cast<float>(result->num_elements()) / static_cast<float>(operand->num_elements());
      for (size_t probe = 0; probe < adjoints.size(); ++probe) {
        const std::shared_ptr<NDArray> spread = Zeros(operand);
        const std::span<float> out = spread->MutableAs<float>();
        const std::span<const float> in = adjoints[probe][0]->As<float>();
        ForEachBroadcast(operand->shape(), *strides, [&](int64_t to, int64_t from) {
          out[static_cast<size_t>(to)] = in[static_cast<size_t>(from)] * share;
        });
        pulled[probe][which] = spread;
      }
      continue;
    }
    const auto strides = BroadcastStrides(operand->shape(), result->shape());
    const auto slope = strides ? DerivativeOf(record, leaves, which, result) : std::nullopt;
    if (!slope) return std::nullopt;
    for (size_t probe = 0; probe < adjoints.size(); ++probe) {
      const std::shared_ptr<NDArray> sum = Zeros(operand);
      const std::span<float> out = sum->MutableAs<float>();
      const std::span<const float> in = adjoints[probe][0]->As<float>();
      ForEachBroadcast(result->shape(), *strides, [&](int64_t to, int64_t from) {
        out[static_cast<size_t>(from)] += in[static_cast<size_t>(to)] * (*slope)[static_cast<size_t>(to)];
      });
      pulled[probe][which] = sum;
    }
  }
  return pulled;
}

// ---- Rules of the pass Gradient

namespace {

// Makes main(tensors of the operands, adjoint) = sum(result * adjoint), whose gradients are the adjoints of operands.
class ScalarFunction {
 public:
  explicit ScalarFunction(const CallRecord& record)
      : record_(record), inferrer_(&module_, workspace_.arena(), nullptr), builder_(workspace_, &inferrer_) {}

  std::optional<Module> Make() {
    builder_.BeginDataflowBlock();
    std::vector<const Expr*> args;
    for (const HostValue& value : record_.args) {
      const Expr* arg = Operand(value);
      if (!arg) return std::nullopt;
      args.push_back(builder_.NormalizeArgument(arg));
    }
    const Expr* result =
        builder_.Emit(builder_.MakeCall(record_.call->op, args, record_.call->attrs, record_.call->type_args));
    if (Is<TupleType>(result->type)) result = builder_.Emit(workspace_.New<TupleGetItem>(result, 0, nullptr));
    const Tensor first = TensorsOf(record_.result).front();
    const Var* adjoint = workspace_.NewVar("adjoint", TypeOfTensor(*first));
    params_.push_back(adjoint);
    OpBuilder ops(builder_);
    const Expr* product = builder_.Emit(op::Multiply(ops, result, adjoint));
    const Expr* loss = builder_.EmitOutput(op::Sum(ops, product));
    const BindingBlock* block = builder_.EndBlock();
    if (builder_.failed()) return std::nullopt;
    const auto* attrs = DictAttr::Empty()->With(attr::kGlobalSymbol, StrAttr::Get("main"));
    const Function* function = builder_.MakeFunction(params_, builder_.Seq({block}, loss), attrs);
    if (builder_.failed()) return std::nullopt;
    module_.Set(GlobalVar::Get("main"), function, workspace_.Finish());
    return module_;
  }

 private:
  const Expr* Operand(const HostValue& value) {
    if (const NDArray* tensor = value.tensor()) {
      params_.push_back(workspace_.NewVar(fmt::format("p{}", params_.size()), TypeOfTensor(*tensor)));
      return params_.back();
    }
    const TupleValue* tuple = value.tuple();
    if (!tuple) return MakeLiteral(value, workspace_);
    std::vector<const Expr*> fields;
    for (const HostValue& field : tuple->fields) {
      fields.push_back(Operand(field));
      if (!fields.back()) return nullptr;
    }
    return workspace_.New<Tuple>(workspace_.Copy(fields), nullptr);
  }

  const CallRecord& record_;
  Module module_;
  Workspace workspace_;
  OpTypeInferrer inferrer_;
  BlockBuilder builder_;
  std::vector<const Var*> params_;
};

// The function that returns only the gradients of main_adjoint.
const Function* GradientsOnly(Module& module) {
  const ModuleEntry* entry = module.Find("main_adjoint");
  const auto* function = entry ? As<Function>(entry->func) : nullptr;
  const auto* seq = function ? As<SeqExpr>(function->body) : nullptr;
  const auto* both = seq ? As<Tuple>(seq->body) : nullptr;
  if (!both || both->fields.size() != 2) return nullptr;
  const GlobalVar* name = entry->var;
  Workspace workspace(module, entry->storage);
  OpTypeInferrer inferrer(&module, workspace.arena(), nullptr);
  BlockBuilder builder(workspace, &inferrer);
  const Expr* body = builder.Seq(seq->blocks.span(), both->fields[1]);
  const Function* gradients = builder.MakeFunction(function->params.span(), body, function->attrs);
  gradients = RemoveDeadBindings(gradients, &module, workspace);
  if (builder.failed()) return nullptr;
  module.Set(name, gradients, workspace.Finish());
  return To<Function>(module.Find("main_adjoint")->func);
}

}  // namespace

const std::optional<OperatorGradients::Compiled>& OperatorGradients::RuleFor(const CallRecord& record,
                                                                             const std::vector<bool>& wanted) {
  std::string key = fmt::format("{} {} {}", record.op->name, fmt::ptr(record.call->attrs), record.is_inference);
  for (const HostValue& arg : record.args) {
    if (const ShapeValue* shape = arg.shape()) key += fmt::format(" {}", fmt::join(*shape, ","));
    if (const Scalar* scalar = arg.scalar()) key += fmt::format(" {}", scalar->ToDouble());
  }
  size_t number = 0;
  for (const Tensor& leaf : LeavesOf(record.args))
    key +=
        fmt::format(" {}[{}]{}", leaf->dtype().ToString(), fmt::join(leaf->shape(), ","), wanted[number++] ? "*" : "");
  const auto [found, is_new] = rules_.try_emplace(key);
  if (!is_new) return found->second;
  const bool normalizes = IsAmong(*record.op, kNormalizing);
  if (record.op->id == op::kNnBatchNorm && !record.is_inference) return found->second;
  std::optional<Module> module = ScalarFunction(record).Make();
  if (!module) return found->second;
  OptionValue::List names;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) names.emplace_back(fmt::format("p{}", i));
  }
  DiagnosticBuffer unread;
  DiagnosticEngine diagnostics(&unread);
  PassContext context;
  context.diagnostics = &diagnostics;
  if (normalizes) {
    Result<PassResult> simple = transform::SimplifyInference()(*std::move(module), context);
    if (!simple.ok()) return found->second;
    module = std::move(simple->module);
  }
  Result<PassResult> gradient =
      transform::Gradient({.func_name = "main", .require_grads = OptionValue(std::move(names)), .target_index = {}})(
          *std::move(module), context);
  if (!gradient.ok()) return found->second;
  Module adjoint = std::move(gradient->module);
  if (const Function* function = GradientsOnly(adjoint)) found->second.emplace(Compiled{std::move(adjoint), function});
  return found->second;
}

std::optional<OperatorGradients::Adjoints> OperatorGradients::ByRule(const CallRecord& record, const Adjoints& adjoints,
                                                                     const std::vector<bool>& wanted) {
  const std::vector<Tensor> results = TensorsOf(record.result);
  if (!HasKernel(*record.op) || results.empty()) return std::nullopt;
  for (const std::vector<Tensor>& of_probe : adjoints) {
    if (!of_probe[0] ||
        std::ranges::any_of(of_probe.begin() + 1, of_probe.end(), [](const Tensor& t) { return t != nullptr; }))
      return std::nullopt;
  }
  const std::optional<Compiled>& rule = RuleFor(record, wanted);
  if (!rule) return std::nullopt;
  const std::vector<Tensor> leaves = LeavesOf(record.args);
  DiagnosticBuffer unread;
  DiagnosticEngine diagnostics(&unread);
  Adjoints pulled = EmptyAdjoints(adjoints.size(), leaves.size());
  for (size_t probe = 0; probe < adjoints.size(); ++probe) {
    std::vector<HostValue> args(leaves.begin(), leaves.end());
    args.emplace_back(adjoints[probe][0]);
    const Result<HostValue> value =
        RunFunction(rule->module, *rule->function, std::move(args), diagnostics, {.mode = NetworkMode::Inference});
    if (!value.ok()) return std::nullopt;
    const std::vector<Tensor> gradients = TensorsOf(*value);
    size_t next = 0;
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (wanted[i] && next < gradients.size()) pulled[probe][i] = gradients[next++];
    }
  }
  return pulled;
}

// ---- Other operators

OperatorGradients::Adjoints OperatorGradients::ByNorm(const CallRecord& record, const Adjoints& adjoints,
                                                      const std::vector<bool>& wanted) {
  const std::vector<Tensor> leaves = LeavesOf(record.args);
  const std::vector<Tensor> results = TensorsOf(record.result);
  Adjoints pulled = EmptyAdjoints(adjoints.size(), leaves.size());
  for (size_t which = 0; which < leaves.size(); ++which) {
    if (!wanted[which]) continue;
    RandomSource random(which + 1);
    const double norm = NormOf(*leaves[which]);
    const auto size = static_cast<double>(std::max<int64_t>(leaves[which]->num_elements(), 1));
    constexpr double kStep = 1e-3;
    const double step = kStep * norm / std::sqrt(size);
    double result_norm = 0;
    double change = 0;
    std::optional<HostValue> moved;
    if (HasKernel(*record.op)) {
      moved =
          Evaluate(record, MapArgs(record.args, [&](size_t number, const Tensor& tensor) -> Tensor {
                     if (number != which) return tensor;
                     const std::shared_ptr<NDArray> shifted = NDArray::Make(kSingle, tensor->shape());
                     std::ranges::transform(tensor->As<float>(), shifted->MutableAs<float>().begin(), [&](float x) {
                       return static_cast<float>(static_cast<double>(x) + ((random.Next() & 1) != 0 ? step : -step));
                     });
                     return shifted;
                   }));
    }
    const std::vector<Tensor> after = moved ? TensorsOf(*moved) : std::vector<Tensor>();
    for (size_t leaf = 0; leaf < results.size(); ++leaf) {
      if (results[leaf]->dtype() != kSingle) continue;
      result_norm = std::hypot(result_norm, NormOf(*results[leaf]));
      if (leaf >= after.size()) continue;
      for (size_t i = 0; i < static_cast<size_t>(results[leaf]->num_elements()); ++i) {
        const double difference =
            static_cast<double>(after[leaf]->As<float>()[i]) - static_cast<double>(results[leaf]->As<float>()[i]);
        if (std::isfinite(difference)) change += difference * difference;
      }
    }
    // Without a kernel, the relative change is taken to stay.
    const double gain = norm == 0 ? 0 : moved ? std::sqrt(change) / (kStep * norm) : result_norm / norm;
    for (size_t probe = 0; probe < adjoints.size(); ++probe) {
      double adjoint_norm = 0;
      for (const Tensor& adjoint : adjoints[probe]) {
        if (adjoint) adjoint_norm = std::hypot(adjoint_norm, NormOf(*adjoint));
      }
      const auto element = static_cast<float>(gain * adjoint_norm / std::sqrt(size));
      const std::shared_ptr<NDArray> out = Zeros(leaves[which]);
      RandomSource signs(probe + 1);
      for (float& x : out->MutableAs<float>()) x = (signs.Next() & 1) != 0 ? element : -element;
      pulled[probe][which] = out;
    }
  }
  return pulled;
}

OperatorGradients::Adjoints OperatorGradients::Pull(const CallRecord& record, const Adjoints& adjoints,
                                                    const std::vector<bool>& wanted) {
  if (std::optional<Adjoints> pulled = ByPositions(record, adjoints, wanted)) return *std::move(pulled);
  const bool has_first = std::ranges::all_of(adjoints, [](const auto& leaves) { return leaves[0] != nullptr; });
  if (has_first) {
    if (std::optional<Adjoints> pulled = ByElement(record, adjoints, wanted)) return *std::move(pulled);
    if (std::optional<Adjoints> pulled = ByRule(record, adjoints, wanted)) return *std::move(pulled);
  }
  return ByNorm(record, adjoints, wanted);
}

}  // namespace iropt::precision

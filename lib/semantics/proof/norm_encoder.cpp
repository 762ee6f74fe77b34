// Normalizations. Without the laws of real numbers, how they compute a result of an element and of the statistics of
// its row is not known.
#include <algorithm>
#include <utility>

#include "iropt/infer/axes.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/roots.h"
#include "iropt/op/ops/softmax.h"
#include "semantics/proof/op_encoder.h"

namespace iropt::proof {

// As it is computed in inference, operation by operation.
std::optional<Value> OpEncoder::BatchNorm(const OpCall& call) {
  const BatchNormAttrs attrs(call.attrs);
  const bool are_tensors = std::ranges::all_of(call.args, [](const Value& arg) { return arg.is_tensor(); });
  if (!call.is_inference || call.args.size() != 5 || !are_tensors) return std::nullopt;
  const Value& x = call.args[0];
  const DataType dtype = x.dtype();
  const auto axis = NormalizeAxis(attrs.axis(), static_cast<int64_t>(x.dims.size()));
  if (!axis.ok() || (dtype != DataType::Float(32) && dtype != DataType::Float(64))) return std::nullopt;
  const auto at = static_cast<size_t>(*axis);
  std::vector<const Term*> params;
  for (size_t i = 1; i < call.args.size(); ++i) {
    const Value& param = call.args[i];
    if (param.dtype() != dtype || param.dims.size() != 1) return std::nullopt;
    params.push_back(At(param, {indices_.Index(at, x.dims[at])}));
  }
  const auto apply = [&](OpId op, std::vector<const Term*> args) {
    return terms_.Apply(op, nullptr, std::move(args), dtype);
  };
  const Term* root = apply(op::kSqrt, {apply(op::kAdd, {params[3], terms_.Number(dtype, attrs.epsilon())})});
  const Term* out = apply(op::kDivide, {apply(op::kSubtract, {x.term, params[2]}), root});
  if (attrs.scale()) out = apply(op::kMultiply, {out, params[0]});
  if (attrs.center()) out = apply(op::kAdd, {out, params[1]});
  return Value{.kind = Value::Kind::kTuple, .fields = {Tensor(out, x.dims), call.args[3], call.args[4]}};
}

std::optional<Value> OpEncoder::Softmax(const OpCall& call) {
  const Value& x = call.args[0];
  const auto axis = NormalizeAxis(SoftmaxAttrs(call.attrs).axis(), static_cast<int64_t>(call.dims.size()));
  if (!x.is_tensor() || !axis.ok() || !call.dtype.is_floating()) return std::nullopt;
  const auto apply = [&](OpId op, std::vector<const Term*> args) {
    return terms_.Apply(op, nullptr, std::move(args), call.dtype);
  };
  const PrimExpr* extent = x.dims[static_cast<size_t>(*axis)];
  Dims places = Places(x.dims);
  places[static_cast<size_t>(*axis)] = indices_.Reduction(0, extent);
  const Term* element = At(x, places);
  const Term* greatest = terms_.Reduce(op::kMax, {extent}, element);
  const Term* sum = terms_.Reduce(op::kSum, {extent}, apply(op::kExp, {apply(op::kSubtract, {element, greatest})}));
  if (!terms_.laws().reals) return Tensor(apply(call.op, {x.term, greatest, sum}), call.dims);
  const Term* distance = apply(op::kSubtract, {x.term, greatest});
  const Term* result = call.op == op::kNnSoftmax ? apply(op::kDivide, {apply(op::kExp, {distance}), sum})
                                                 : apply(op::kSubtract, {distance, apply(op::kLog, {sum})});
  return Tensor(result, call.dims);
}

// R.nn.rms_norm, and R.nn.layer_norm, which moves the mean to 0.
std::optional<Value> OpEncoder::RowNorm(const OpCall& call) {
  const bool has_mean = call.op == op::kNnLayerNorm;
  const LayerNormAttrs layer(call.attrs);
  const RMSNormAttrs rms(call.attrs);
  const Value& x = call.args[0];
  const bool are_tensors = std::ranges::all_of(call.args, [](const Value& arg) { return arg.is_tensor(); });
  if (!are_tensors || !call.dtype.is_floating() || (has_mean && !(layer.center() && layer.scale())))
    return std::nullopt;
  const IntList given = has_mean ? layer.axes() : rms.axes();
  auto axes = NormalizeAxes(given.vector(), static_cast<int64_t>(x.dims.size()));
  if (!axes.ok()) return std::nullopt;
  std::ranges::sort(*axes);
  const auto apply = [&](OpId op, std::vector<const Term*> args) {
    return terms_.Apply(op, nullptr, std::move(args), call.dtype);
  };
  Dims places = Places(x.dims);
  Dims own;
  Dims reduced;
  for (const int64_t axis : *axes) {
    const auto at = static_cast<size_t>(axis);
    own.push_back(places[at]);
    places[at] = indices_.Reduction(reduced.size(), x.dims[at]);
    reduced.push_back(x.dims[at]);
  }
  std::vector<const Term*> params;
  for (size_t i = 1; i < call.args.size(); ++i) {
    if (call.args[i].dims.size() != own.size() || call.args[i].dtype() != call.dtype) return std::nullopt;
    params.push_back(At(call.args[i], own));
  }
  const Term* element = At(x, places);
  const Term* mean = has_mean ? terms_.Reduce(op::kMean, reduced, element) : nullptr;
  const Term* distance = has_mean ? apply(op::kSubtract, {element, mean}) : element;
  const Term* square = terms_.Reduce(op::kMean, reduced, apply(op::kMultiply, {distance, distance}));
  const Term* epsilon = terms_.Number(call.dtype, has_mean ? layer.epsilon() : rms.epsilon());
  if (!terms_.laws().reals) {
    std::vector<const Term*> all{x.term, square,
                                 terms_.Number(DataType::Float(64), has_mean ? layer.epsilon() : rms.epsilon())};
    if (has_mean) all.push_back(mean);
    all.insert(all.end(), params.begin(), params.end());
    return Tensor(apply(call.op, std::move(all)), call.dims);
  }
  const Term* root = apply(op::kSqrt, {apply(op::kAdd, {square, epsilon})});
  const Term* out = apply(op::kDivide, {has_mean ? apply(op::kSubtract, {x.term, mean}) : x.term, root});
  out = apply(op::kMultiply, {out, params[0]});
  return Tensor(has_mean ? apply(op::kAdd, {out, params[1]}) : out, call.dims);
}

}  // namespace iropt::proof

#include "constant_evaluator.h"

#include <algorithm>

#include "iropt/eval/evaluator.h"
#include "iropt/eval/tir/prim_func.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

size_t BytesOf(const HostValue& value) {
  if (const NDArray* tensor = value.tensor()) return tensor->num_bytes();
  size_t bytes = 0;
  if (const TupleValue* tuple = value.tuple()) {
    for (const HostValue& field : tuple->fields) bytes += WithStack([&] { return BytesOf(field); });
  }
  return bytes;
}

bool SameDims(List<const PrimExpr*> dims, std::span<const int64_t> shape) {
  return std::ranges::equal(dims.span(), shape, [](const PrimExpr* dim, int64_t value) {
    const auto* imm = As<tir::IntImm>(dim);
    return imm && imm->value == value;
  });
}

bool RankFits(int32_t ndim, size_t rank) { return ndim == kUnknownDim || static_cast<size_t>(ndim) == rank; }

// Returns whether the value fits the type. The type may be more general, but must not have symbolic dimensions, which
// the program checks at run time.
bool Fits(const HostValue& value, const Type* type) {
  if (!type || Is<ObjectType>(type)) return true;
  if (const TupleValue* tuple = value.tuple()) {
    const auto* expected = As<TupleType>(type);
    return expected &&
           std::ranges::equal(tuple->fields, expected->fields.span(), [](const HostValue& field, const Type* t) {
             return WithStack([&] { return Fits(field, t); });
           });
  }
  if (const ShapeValue* shape = value.shape()) {
    const auto* expected = As<ShapeType>(type);
    return expected && RankFits(expected->ndim, shape->size()) &&
           (!expected->known || SameDims(expected->values, *shape));
  }
  const NDArray* tensor = value.tensor();
  const auto* expected = As<TensorType>(type);
  return tensor && expected && (expected->dtype.is_void() || expected->dtype == tensor->dtype()) &&
         RankFits(expected->ndim, tensor->shape().size()) &&
         (!expected->known || SameDims(expected->dims, tensor->shape()));
}

std::optional<TensorSpec> StaticSpec(const Type* type) {
  const auto* tensor = As<TensorType>(type);
  if (!tensor || !tensor->known) return std::nullopt;
  TensorSpec spec{tensor->dtype, {}};
  for (const PrimExpr* dim : tensor->dims) {
    const auto* imm = As<tir::IntImm>(dim);
    if (!imm) return std::nullopt;
    spec.shape.push_back(imm->value);
  }
  return spec;
}

// The outputs of a call_tir: its type argument is that of one tensor, or a tuple of such.
std::optional<std::vector<TensorSpec>> StaticSpecs(const TupleType* type_args) {
  if (!type_args || type_args->fields.size() != 1) return std::nullopt;
  std::vector<TensorSpec> specs;
  const auto add = [&](const Type* type) {
    std::optional<TensorSpec> spec = StaticSpec(type);
    if (spec) specs.push_back(*std::move(spec));
    return spec.has_value();
  };
  const auto* tuple = As<TupleType>(type_args->fields[0]);
  const bool known = tuple ? std::all_of(tuple->fields.begin(), tuple->fields.end(), add) : add(type_args->fields[0]);
  return known ? std::optional(std::move(specs)) : std::nullopt;
}

}  // namespace

bool ConstantEvaluator::IsFoldable(const OpInfo& op) { return op.pure && HasKernel(op); }

// Folding must not make big constants out of small ones: a result may be as big as what it is computed from, or as the
// limit for one result. All together must stay under the limits for all, so that many small ones do not keep the pass
// busy for ever or fill the module.
EvalLimits ConstantEvaluator::Limits(std::span<const HostValue> args) {
  size_t input_bytes = 0;
  for (const HostValue& arg : args) input_bytes += BytesOf(arg);
  const size_t bytes_left = options_.max_total_bytes - std::min(total_bytes_, options_.max_total_bytes);
  const uint64_t work_left = options_.max_total_work - std::min(total_work_, options_.max_total_work);
  return {.max_bytes = std::min(std::max(options_.max_bytes, input_bytes), bytes_left),
          .max_work = std::min(options_.max_work, work_left),
          .work = &total_work_};
}

std::nullopt_t ConstantEvaluator::Decline(const Call& call, const Error& error) {
  if (error.code == ErrorCode::Budget && declined_.count++ == 0) {
    declined_.first = &call;
    declined_.reason = error.message;
  }
  return std::nullopt;
}

std::optional<HostValue> ConstantEvaluator::EvalOperator(const Call& call, const OpInfo& op,
                                                         std::span<const HostValue> args) {
  Result<HostValue> result = EvalOp(op, call.attrs, args, Limits(args));
  return result ? Accept(*std::move(result), call.type) : Decline(call, result.error());
}

std::optional<HostValue> ConstantEvaluator::EvalCallTir(const Call& call, const Expr* callee,
                                                        std::span<const HostValue> args,
                                                        std::span<const int64_t> tir_vars) {
  const auto* var = As<GlobalVar>(callee);
  const ModuleEntry* entry = var ? module_.Find(var) : nullptr;
  const auto* func = entry ? As<PrimFunc>(entry->func) : nullptr;
  const std::optional<std::vector<TensorSpec>> outs = StaticSpecs(call.type_args);
  if (!func || !outs) return std::nullopt;
  uint64_t steps = 0;
  EvalLimits limits = Limits(args);
  limits.max_work = std::min(options_.max_work, Limits(args).max_work);
  limits.work = &steps;
  Result<std::vector<Tensor>> result = EvalPrimFunc(*func, args, *outs, tir_vars, limits, &module_);
  total_work_ += steps * FoldOptions::kWorkOfStep;
  if (!result) return Decline(call, result.error());
  std::vector<Tensor>& tensors = *result;
  if (!Is<TupleType>(call.type_args->fields[0])) return Accept(HostValue(std::move(tensors[0])), call.type);
  TupleValue tuple;
  for (Tensor& tensor : tensors) tuple.fields.emplace_back(std::move(tensor));
  return Accept(HostValue(std::move(tuple)), call.type);
}

std::optional<HostValue> ConstantEvaluator::Accept(HostValue value, const Type* type) {
  if (!Fits(value, type)) return std::nullopt;
  total_bytes_ += BytesOf(value);
  return value;
}

const Type* ConstantType(const NDArray& tensor, const Type* type) {
  const auto* known = As<TensorType>(type);
  if (known && known->known && !known->dtype.is_void() && !known->has_sym_var()) return known;
  return TypeOfTensor(tensor, known ? known->vdevice : nullptr);
}

}  // namespace iropt

#include "exchange/onnx/import/operand_folder.h"

#include <utility>
#include <vector>

#include "iropt/eval/evaluator.h"
#include "iropt/eval/relax/wide_arithmetic.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

namespace iropt::onnx {

namespace {

// Attributes are small.
constexpr EvalLimits kLimits{.max_bytes = size_t{1} << 16, .max_work = uint64_t{1} << 20};

bool IsSmall(const HostValue& value) {
  size_t bytes = 0;
  ForEachTensor(value, [&](const Tensor& tensor) { bytes += tensor->num_bytes(); });
  return bytes <= kLimits.max_bytes;
}

}  // namespace

const Constant* OperandFolder::Find(const Expr* expr) {
  if (const auto* constant = As<Constant>(expr)) return constant;
  const auto* var = As<Var>(expr);
  if (var == nullptr) return nullptr;
  const auto [known, is_new] = constants_.try_emplace(var, nullptr);
  if (!is_new) return known;
  const std::optional<HostValue> value = EvaluateVar(var);
  const auto* tensor = value ? std::get_if<Tensor>(&value->state) : nullptr;
  const Constant* constant = tensor ? MakeConstant(*tensor, builder_.workspace()) : nullptr;
  return constants_[var] = constant;
}

std::optional<HostValue> OperandFolder::EvaluateVar(const Var* var) {
  const auto [known, is_new] = values_.try_emplace(var, std::nullopt);
  if (!is_new) return known;
  const Expr* value = builder_.LookupBinding(var);
  if (value == nullptr) return std::nullopt;
  std::optional<HostValue> result = WithStack([&] { return Evaluate(value); });
  return values_[var] = std::move(result);
}

std::optional<HostValue> OperandFolder::Evaluate(const Expr* expr) {
  if (const auto* var = As<Var>(expr)) return EvaluateVar(var);
  if (const auto* call = As<Call>(expr)) return EvaluateCall(*call);
  if (const auto* tuple = As<Tuple>(expr)) {
    TupleValue fields;
    for (const Expr* field : tuple->fields) {
      std::optional<HostValue> value = Evaluate(field);
      if (!value) return std::nullopt;
      fields.fields.push_back(*std::move(value));
    }
    return HostValue(std::move(fields));
  }
  if (const auto* item = As<TupleGetItem>(expr)) {
    const std::optional<HostValue> tuple = Evaluate(item->tuple);
    const TupleValue* fields = tuple ? tuple->tuple() : nullptr;
    const auto index = static_cast<size_t>(item->index);
    return fields != nullptr && index < fields->fields.size() ? std::optional(fields->fields[index]) : std::nullopt;
  }
  std::optional<HostValue> literal = LiteralValue(expr);
  return literal && IsSmall(*literal) ? literal : std::nullopt;
}

std::optional<HostValue> OperandFolder::EvaluateCall(const Call& call) {
  const auto* op = As<Op>(call.op);
  if (op == nullptr || !op->info->pure || !HasKernel(*op->info)) return std::nullopt;
  std::vector<HostValue> args;
  for (const Expr* arg : call.args) {
    std::optional<HostValue> value = Evaluate(arg);
    if (!value) return std::nullopt;
    args.push_back(*std::move(value));
  }
  const auto compute = [&](const Attr* attrs, std::span<const HostValue> operands) {
    return EvalOp(*op->info, attrs, operands, kLimits, nullptr, /*is_inference=*/true);
  };
  Result<HostValue> result = ComputeWide(call, *op->info, args, compute);
  return result.ok() ? std::optional(*std::move(result)) : std::nullopt;
}

}  // namespace iropt::onnx

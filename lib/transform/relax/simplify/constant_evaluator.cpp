#include "constant_evaluator.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/eval/evaluator.h"
#include "iropt/eval/relax/interpreter.h"
#include "iropt/eval/relax/value_type.h"
#include "iropt/eval/relax/wide_arithmetic.h"
#include "iropt/eval/tir/prim_func.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/dropout.h"
#include "iropt/runtime/packed_func.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

size_t BytesOf(const HostValue& value) {
  size_t bytes = 0;
  ForEachTensor(value, [&](const Tensor& tensor) { bytes += tensor->num_bytes(); });
  return bytes;
}

// An operand that lies in a file and is bigger than the limit, or null. Files may be bigger than the memory.
const NDArray* FindBigFileTensor(std::span<const HostValue> args, size_t max_bytes) {
  const NDArray* found = nullptr;
  for (const HostValue& arg : args) {
    ForEachTensor(arg, [&](const Tensor& tensor) {
      if (!found && tensor->source() && tensor->num_bytes() > max_bytes) found = tensor.get();
    });
  }
  return found;
}

// Adds up the bytes of the constants.
struct ConstantBytes : WalkHandler {
  void OnConstant(const Constant& constant) {
    if (seen.insert(constant.data)) bytes += constant.data->num_bytes();
  }

  LookupSet<const NDArray*> seen;
  size_t bytes = 0;
};

}  // namespace

bool ConstantEvaluator::IsFoldable(const OpInfo& op) { return op.pure && HasKernel(op); }

bool ConstantEvaluator::MayFold(const OpInfo& op) const {
  return IsFoldable(op) && std::ranges::find(options_.skip_ops, op.id) == options_.skip_ops.end();
}

// Folding must not make big constants out of small ones: a result may be as big as what it is computed from, or as the
// limit for one result. All together must stay under the limits for all, so that many small ones do not keep the pass
// busy forever or fill the module.
EvalLimits ConstantEvaluator::Limits(std::span<const HostValue> args, uint64_t work_of_step) {
  size_t input_bytes = 0;
  for (const HostValue& arg : args) input_bytes += BytesOf(arg);
  size_t max_bytes = std::max(options_.max_bytes, input_bytes);
  // The constants of the function are only looked at if the limit without them is too low.
  if (total_bytes_ > options_.max_total_bytes || max_bytes > options_.max_total_bytes - total_bytes_)
    max_bytes = std::min(max_bytes, MaxTotalBytes() - std::min(total_bytes_, MaxTotalBytes()));
  const uint64_t work_left = options_.max_total_work - std::min(total_work_, options_.max_total_work);
  return {
      .max_bytes = max_bytes, .max_work = std::min(options_.max_work, work_left / work_of_step), .work = &total_work_};
}

size_t ConstantEvaluator::MaxTotalBytes() {
  if (!max_total_bytes_) {
    // A result that is allowed by itself is allowed once, and a constant may take some steps to its last form.
    constexpr size_t kStepsOfConstant = 4;
    ConstantBytes constants;
    Walk(function_, constants);
    max_total_bytes_ = options_.max_total_bytes + std::max(options_.max_bytes, kStepsOfConstant * constants.bytes);
  }
  return *max_total_bytes_;
}

bool ConstantEvaluator::DeclineBigFile(const Call& call, std::span<const HostValue> args) {
  const NDArray* array = FindBigFileTensor(args, options_.max_file_bytes);
  if (!array) return false;
  const std::string why = fmt::format("its operand '{}' of {} bytes is in a file, and the limit is {} bytes",
                                      array->source()->name, array->num_bytes(), options_.max_file_bytes);
  Decline(call, {ErrorCode::Budget, why});
  return true;
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
  if (DeclineBigFile(call, args)) return std::nullopt;
  // All operands are constants, so a batch norm is that of inference unless all are those of training.
  const bool is_inference =
      op.id == op::kNnDropout ? options_.mode == NetworkMode::Inference : options_.mode != NetworkMode::Training;
  const auto compute = [&](const Attr* attrs, std::span<const HostValue> operands) {
    return EvalOp(op, attrs, operands, Limits(operands, 1), nullptr, is_inference);
  };
  Result<HostValue> result = RoundsOnce(module_) ? ComputeWide(call, op, args, compute) : compute(call.attrs, args);
  return result ? Accept(*std::move(result), call.type) : Decline(call, result.error());
}

std::optional<HostValue> ConstantEvaluator::EvalCallTir(const Call& call, const Expr* callee,
                                                        std::span<const HostValue> args,
                                                        std::span<const int64_t> tir_vars) {
  const auto* var = As<GlobalVar>(callee);
  const ModuleEntry* entry = var ? module_.Find(var) : nullptr;
  const auto* func = entry ? As<PrimFunc>(entry->func) : nullptr;
  if (!func || DeclineBigFile(call, args)) return std::nullopt;
  uint64_t steps = 0;
  EvalLimits limits = Limits(args, kWorkOfStep);
  limits.work = &steps;
  Result<HostValue> result = iropt::EvalCallTir(call, *func, args, tir_vars, limits, &module_);
  total_work_ += steps * kWorkOfStep;
  return result ? Accept(*std::move(result), call.type) : Decline(call, result.error());
}

namespace {

// For functions that are called alone.
class LonePackedContext final : public PackedContext {
 public:
  explicit LonePackedContext(size_t max_bytes) : max_bytes_(max_bytes) {}
  Result<HostValue> Invoke(const HostValue& /*callee*/, std::span<const HostValue> /*args*/) override {
    return Error{ErrorCode::SemanticCheck, "calls of functions are not folded"};
  }
  void Print(std::string_view /*line*/) override {}
  Result<std::shared_ptr<Storage>> Allocate(uint64_t bytes) override {
    if (bytes > max_bytes_) return Error{ErrorCode::Budget, "its value is too big"};
    return Storage::Make(bytes, Storage::Tracking::kOff);
  }
  size_t max_bytes() const override { return max_bytes_; }

 private:
  size_t max_bytes_;
};

bool IsTensorOfNumbers(const Type* type) {
  const auto* tensor = As<TensorType>(type);
  return tensor && !tensor->dtype.is_void();
}

// Returns whether a call stays because runtimes look for it, or compute another value than the standard says: steps
// back to the greatest integer, and casts to integers of few bits.
bool IsKeptForRuntimes(std::string_view name, const Type* result) {
  const TensorType* tensor = As<TensorType>(result);
  const bool is_cast = name == "onnx.Cast" || name == "onnx.CastLike";
  // Floats of 32 bits and more hold all numbers of few bits.
  if (is_cast && tensor != nullptr && tensor->dtype.is_floating() && tensor->dtype.bits >= 32) return false;
  return is_cast || name == "onnx.Slice" || name.ends_with("Linear");
}

bool IsInFunction(const Expr* arg) { return Is<GlobalVar>(arg) || Is<Function>(arg) || Is<ExternFunc>(arg); }

}  // namespace

bool ConstantEvaluator::MayFoldPacked(const Call& call) {
  const auto* callee = IsOp(call.op, op::kCallPurePacked) ? As<ExternFunc>(call.args[0]) : nullptr;
  if (callee == nullptr || !callee->global_symbol.starts_with("onnx.") ||
      IsKeptForRuntimes(callee->global_symbol, call.type))
    return false;
  const auto* tuple = As<TupleType>(call.type);
  const bool has_tensors = tuple ? std::ranges::all_of(tuple->fields, IsTensorOfNumbers) : IsTensorOfNumbers(call.type);
  return has_tensors && std::ranges::none_of(call.args.span().subspan(1), IsInFunction);
}

std::optional<HostValue> ConstantEvaluator::EvalPacked(const Call& call, std::span<const HostValue> args) {
  const std::string_view name = To<ExternFunc>(call.args[0])->global_symbol;
  const PackedFunc* function = DeclineBigFile(call, args) ? nullptr : BuiltinPackedFuncs().Find(name);
  if (function == nullptr) return std::nullopt;
  // What a function takes is known afterwards, so it may not have much to do.
  constexpr size_t kMostBytes = size_t{1} << 20;
  const EvalLimits limits = Limits(args, 1);
  size_t bytes = 0;
  for (const HostValue& arg : args) bytes += BytesOf(arg);
  if (bytes > kMostBytes || limits.max_work == 0) return std::nullopt;
  LonePackedContext context(limits.max_bytes);
  PackedCall packed(name, args, context);
  Result<HostValue> result = (*function)(packed);
  if (!result) return Decline(call, result.error());
  total_work_ += bytes + BytesOf(*result);
  return BytesOf(*result) <= limits.max_bytes ? Accept(*std::move(result), call.type) : std::nullopt;
}

// The type may say less than the value, but symbolic dimensions mean that the program checks them at run time.
std::optional<HostValue> ConstantEvaluator::Accept(HostValue value, const Type* type) {
  SymbolValues none;
  if (type && !ValueMatcher(none, ValueMatcher::Unknown::kDiffers).Matches(value, type)) return std::nullopt;
  total_bytes_ += BytesOf(value);
  return value;
}

const Type* ConstantType(const NDArray& tensor, const Type* type) {
  const auto* known = As<TensorType>(type);
  if (known && known->known && !known->dtype.is_void() && !known->has_sym_var()) return known;
  return TypeOfTensor(tensor, known ? known->vdevice : nullptr);
}

}  // namespace iropt

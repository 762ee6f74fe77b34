#include "iropt/eval/tir/prim_func.h"

#include <fmt/format.h>

#include "interpreter.h"
#include "iropt/ir/element.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

namespace {

Result<std::shared_ptr<NDArray>> AllocateOutput(const TensorSpec& spec, const EvalLimits& limits) {
  uint64_t bytes = IsElementType(spec.dtype) ? static_cast<uint64_t>(spec.dtype.bytes()) : 0;
  if (bytes == 0)
    return Error{ErrorCode::SemanticCheck, fmt::format("a result of dtype {} is not supported", spec.dtype.ToString())};
  for (const int64_t dim : spec.shape) {
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes) || bytes > limits.max_bytes) {
      return Error{ErrorCode::Budget, fmt::format("a result is over the limit of {} bytes", limits.max_bytes)};
    }
  }
  return NDArray::Make(spec.dtype, spec.shape);
}

bool BindInput(eval::Interpreter& interpreter, const tir::Var* param, const tir::Buffer* buffer,
               const HostValue& value) {
  if (const NDArray* tensor = value.tensor()) return buffer && interpreter.BindParam(*buffer, *tensor, nullptr);
  const Scalar* scalar = value.scalar();
  return !buffer && scalar && interpreter.BindParam(param, nullptr, *scalar);
}

Error ErrorOf(const PrimFunc& func, const eval::Interpreter& interpreter, std::string_view otherwise) {
  const std::string_view name = func.StringAttr(attr::kGlobalSymbol);
  const bool known = interpreter.failed();
  return {known ? interpreter.error().code : ErrorCode::SemanticCheck,
          fmt::format("{}: {}", name.empty() ? "function" : name, known ? interpreter.error().message : otherwise)};
}

}  // namespace

Result<std::vector<Tensor>> EvalPrimFunc(const PrimFunc& func, std::span<const HostValue> inputs,
                                         std::span<const TensorSpec> outputs, std::span<const int64_t> tir_vars,
                                         const EvalLimits& limits, const Module* module) {
  eval::ExecutionState execution{.limits = limits, .module = module};
  eval::Interpreter interpreter(execution);
  const size_t num_args = inputs.size() + outputs.size() + tir_vars.size();
  if (func.params.size() != num_args) {
    return ErrorOf(func, interpreter, fmt::format("has {} parameters for {} arguments", func.params.size(), num_args));
  }
  const auto bind_input = [&](size_t i, const HostValue& value) {
    return BindInput(interpreter, func.params[i], func.param_buffers[i], value);
  };
  // Integers first: dimensions of the buffers may be computed from them.
  for (size_t i = 0; i < tir_vars.size(); ++i) {
    if (!bind_input(inputs.size() + outputs.size() + i, HostValue(Scalar::Int(tir_vars[i]))))
      return ErrorOf(func, interpreter, "an integer does not fit");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!bind_input(i, inputs[i])) return ErrorOf(func, interpreter, fmt::format("argument {} does not fit", i));
  }
  std::vector<Tensor> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> result, AllocateOutput(outputs[i], limits));
    const tir::Buffer* buffer = func.param_buffers[inputs.size() + i];
    if (!buffer || !interpreter.BindParam(*buffer, *result, result->mutable_data())) {
      return ErrorOf(func, interpreter, fmt::format("result {} does not fit", i));
    }
    results.push_back(result);
  }
  const bool done = interpreter.Run(func);
  if (limits.work) *limits.work += limits.max_work - execution.work_left;
  if (!done) return ErrorOf(func, interpreter, "fails");
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!interpreter.IsFilled(*func.param_buffers[inputs.size() + i]))
      return ErrorOf(func, interpreter, fmt::format("leaves elements of result {} without a value", i));
  }
  return results;
}

}  // namespace iropt

#include "iropt/eval/tir/prim_func.h"

#include <fmt/format.h>

#include <algorithm>

#include "interpreter.h"
#include "iropt/ir/narrow_element.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/runtime/tensor_size.h"

namespace iropt {

namespace {

bool BindArg(eval::Interpreter& interpreter, const tir::Var* param, const tir::Buffer* buffer, const PrimFuncArg& arg) {
  if (const NDArray* tensor = arg.value.tensor()) {
    return buffer ? interpreter.BindParam(*buffer, *tensor, arg.writable)
                  : interpreter.BindParam(param, *tensor, arg.writable);
  }
  const Scalar* scalar = arg.value.scalar();
  return !buffer && scalar && interpreter.BindParam(param, nullptr, *scalar);
}

// Binds the variables among the dimensions of buffer parameters to the shapes of the tensors, unless they have a value.
// Dimensions of other parameters may be computed from them.
void BindSizes(ScalarEnv& env, const PrimFunc& func, std::span<const PrimFuncArg> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const NDArray* tensor = args[i].value.tensor();
    const tir::Buffer* buffer = func.param_buffers[i];
    if (!tensor || !buffer) continue;
    const size_t rank = std::min<size_t>(buffer->shape.size(), tensor->shape().size());
    for (size_t dim = 0; dim < rank; ++dim) {
      const auto* var = As<tir::Var>(buffer->shape[dim]);
      if (var && !env.Find(var)) env.Bind(var, Scalar::Int(tensor->shape()[dim], var->dtype));
    }
  }
}

// Null if the tensor has another dtype than single elements of the buffer, or its rows are not vectors.
Tensor AsVectors(const Tensor& tensor, const tir::Buffer& buffer) {
  const int lanes = buffer.dtype.lanes;
  const size_t rank = buffer.shape.size();
  std::vector<int64_t> shape(tensor->shape().begin(), tensor->shape().end());
  if (tensor->dtype() != buffer.dtype.with_lanes(1) || shape.empty() || shape.back() % lanes != 0) return nullptr;
  shape.back() /= lanes;
  if (rank == 0 && shape.size() == 1 && shape[0] == 1) shape.clear();
  if (shape.size() != rank) return nullptr;
  if (const std::shared_ptr<Storage>& storage = tensor->storage())
    return NDArray::View(buffer.dtype, shape, storage, tensor->storage_offset());
  return NDArray::View(buffer.dtype, shape, tensor->data(), tensor);
}

bool HasVectors(const tir::Buffer* buffer) {
  return buffer && !buffer->dtype.is_scalar() && !buffer->dtype.is_scalable();
}

std::string_view NameOf(const PrimFunc& func) {
  const std::string_view name = func.StringAttr(attr::kGlobalSymbol);
  return name.empty() ? "function" : name;
}

Error ErrorOf(const PrimFunc& func, const eval::Interpreter& interpreter, std::string_view otherwise) {
  const bool known = interpreter.failed();
  return {known ? interpreter.error().code : ErrorCode::SemanticCheck,
          fmt::format("{}: {}", NameOf(func), known ? interpreter.error().message : otherwise)};
}

}  // namespace

std::span<const PrimFuncArg> WithVectorElements(const PrimFunc& func, std::span<const PrimFuncArg> args,
                                                std::vector<PrimFuncArg>& changed) {
  for (size_t i = 0; i < std::min<size_t>(args.size(), func.param_buffers.size()); ++i) {
    const auto* tensor = std::get_if<Tensor>(&args[i].value.state);
    if (!tensor || !HasVectors(func.param_buffers[i])) continue;
    Tensor vectors = AsVectors(*tensor, *func.param_buffers[i]);
    if (!vectors) continue;
    if (changed.empty()) changed.assign(args.begin(), args.end());
    changed[i].value = std::move(vectors);
  }
  return changed.empty() ? args : std::span<const PrimFuncArg>(changed);
}

Result<HostValue> CallPrimFunc(const PrimFunc& func, std::span<const PrimFuncArg> given,
                               const PrimFuncOptions& options) {
  std::vector<PrimFuncArg> changed;
  const std::span<const PrimFuncArg> args = WithVectorElements(func, given, changed);
  eval::RaceDetector races;
  eval::ExecutionState execution{.limits = options.limits,
                                 .module = options.module,
                                 .packed = options.packed,
                                 .facts = options.facts,
                                 .races = options.facts ? &races : nullptr};
  eval::Interpreter interpreter(execution);
  if (func.params.size() != args.size()) {
    return ErrorOf(func, interpreter,
                   fmt::format("has {} parameters for {} arguments", func.params.size(), args.size()));
  }
  // Dimensions of a buffer may be computed from scalars and from dimensions of any other buffer, so these come first.
  for (const bool scalars : {true, false}) {
    for (size_t i = 0; i < args.size(); ++i) {
      if ((args[i].value.scalar() != nullptr) != scalars) continue;
      if (!BindArg(interpreter, func.params[i], func.param_buffers[i], args[i]))
        return ErrorOf(func, interpreter, fmt::format("argument {} does not fit", i));
    }
    if (scalars) BindSizes(interpreter.env(), func, args);
  }
  const bool done = interpreter.Run(func);
  if (options.limits.work) *options.limits.work += execution.available_work - execution.work_left;
  if (options.facts) {
    if (options.facts->race.empty()) options.facts->race = races.race();
    if (options.facts->unsynchronized.empty()) options.facts->unsynchronized = races.unsynchronized();
    options.facts->has_barriers |= races.has_barriers();
  }
  if (!done) return ErrorOf(func, interpreter, "fails");
  return HostValue(interpreter.returned());
}

Result<HostValue> CallWatchingRaces(const PrimFunc& func, std::span<const PrimFuncArg> args, PrimFuncOptions options,
                                    RaceWatch watch, ObservedRace& race) {
  const bool is_sampled = watch == RaceWatch::kSampled;
  LoopFacts facts{.samples_loops = is_sampled, .ends_at_race = is_sampled};
  if (race.empty() && HasConcurrentLoops(func)) options.facts = &facts;
  Result<HostValue> result = CallPrimFunc(func, args, options);
  if (race.empty()) race = facts.FirstRace(watch != RaceWatch::kUsual);
  return result;
}

HostValue ReturnedValue(const PrimFunc& func, const HostValue& value) {
  const auto* returned = func.ret_type ? As<PrimType>(func.ret_type) : nullptr;
  const Scalar* scalar = value.scalar();
  if (!returned || !scalar) return HostValue(TupleValue{});
  const bool is_float = returned->dtype.is_floating();
  return HostValue(is_float ? Scalar::Float(scalar->ToDouble(), returned->dtype)
                            : Scalar::Int(scalar->integer, returned->dtype));
}

Result<Tensor> AllocateTensor(const TensorSpec& spec, Storage::Tracking tracking, const EvalLimits& limits) {
  if (!IsStoredType(spec.dtype))
    return Error{ErrorCode::SemanticCheck, fmt::format("a result of dtype {} is not supported", spec.dtype.ToString())};
  IROPT_ASSIGN_OR_RETURN(const uint64_t bytes, TensorBytes(spec.dtype, spec.shape, limits.max_bytes));
  return Tensor(NDArray::View(spec.dtype, spec.shape, Storage::Make(bytes, tracking), 0));
}

Result<std::vector<Tensor>> EvalPrimFunc(const PrimFunc& func, std::span<const HostValue> inputs,
                                         std::span<const TensorSpec> outputs, std::span<const int64_t> tir_vars,
                                         const EvalLimits& limits, const Module* module) {
  std::vector<PrimFuncArg> args;
  for (const HostValue& input : inputs) args.push_back({input});
  for (const TensorSpec& output : outputs) {
    IROPT_ASSIGN_OR_RETURN(Tensor tensor, AllocateTensor(output, Storage::Tracking::kOn, limits));
    args.push_back({std::move(tensor), /*writable=*/true});
  }
  for (const int64_t value : tir_vars) args.push_back({Scalar::Int(value)});
  IROPT_RETURN_IF_ERROR(CallPrimFunc(func, args, {.limits = limits, .module = module}));
  std::vector<Tensor> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& tensor = std::get<Tensor>(args[inputs.size() + i].value.state);
    if (!tensor->storage()->IsWritten(0, tensor->num_bytes())) {
      return Error{ErrorCode::SemanticCheck,
                   fmt::format("{}: leaves elements of result {} without a value", NameOf(func), i)};
    }
    // A tensor that nobody can write to any more is a constant.
    results.push_back(NDArray::View(tensor->dtype(), outputs[i].shape, tensor->data(), tensor));
  }
  return results;
}

}  // namespace iropt

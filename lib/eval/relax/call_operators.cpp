// Execution of operators: by kernels, or directly for those that call functions, allocate memory or have effects.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>

#include "interpreter.h"
#include "iropt/ir/narrow_element.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/call.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/device.h"
#include "iropt/op/ops/memory.h"
#include "iropt/op/ops/vm.h"

namespace iropt {

namespace eval {

namespace {

Error OpError(const OpInfo& op, std::string_view message) {
  return {ErrorCode::SemanticCheck, fmt::format("{}: {}", op.script, message)};
}

// Returns whether the operator makes a view of memory that functions may write to later.
bool IsStorageView(const OpInfo& op, std::span<const HostValue> args) {
  const bool is_view = op.id == op::kMemoryView || op.id == op::kMemoryEnsureZeroOffset;
  const NDArray* tensor = is_view && !args.empty() ? args[0].tensor() : nullptr;
  return tensor && tensor->storage();
}

struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};

// Memory that is not cleared, at the beginning of a cache line.
struct PlainMemory {
  std::unique_ptr<std::byte[], FreeMemory> bytes;
  std::shared_ptr<Storage> storage;
};

// The memory of a result that a PrimFunc writes. Where nobody asks what has been written, big results are not cleared.
Result<Tensor> AllocateOutput(const TensorSpec& spec, Storage::Tracking tracking, const EvalLimits& limits) {
  constexpr size_t kBig = 4096, kMost = SIZE_MAX / 2, kLine = 64;
  const std::optional<uint64_t> bytes =
      IsStoredType(spec.dtype) ? ArrayBytes(spec.dtype, spec.shape) : std::optional<uint64_t>();
  if (tracking == Storage::Tracking::kOn || !bytes || *bytes < kBig || *bytes > std::min(kMost, limits.max_bytes))
    return AllocateTensor(spec, tracking, limits);
  const size_t rounded = (static_cast<size_t>(*bytes) + kLine - 1) / kLine * kLine;
  auto memory = std::make_shared<PlainMemory>();
  memory->bytes.reset(static_cast<std::byte*>(std::aligned_alloc(kLine, rounded)));
  if (!memory->bytes) throw std::bad_alloc();
  memory->storage = Storage::Wrap(memory->bytes.get(), *bytes);
  std::shared_ptr<Storage> storage(memory, memory->storage.get());
  return Tensor(NDArray::View(spec.dtype, spec.shape, std::move(storage), 0));
}

}  // namespace

Result<HostValue> RelaxInterpreter::CallKernel(const Call& call, const OpInfo& op, const Attr* attrs,
                                               std::span<const HostValue> args) {
  if (!std::ranges::all_of(args, [](const HostValue& arg) { return IsWritten(arg); }))
    return OpError(op, "an operand is read before it is initialized");
  const RandomSource before = random_;
  const bool is_inference = inference_calls_.contains(&call);
  Result<HostValue> result = Timed(CalleeKind::kOperator, op.script,
                                   [&] { return EvalOp(op, attrs, args, options_.limits, &random_, is_inference); });
  if (options_.observer && random_ != before) options_.observer->OnRandom();
  return result;
}

Result<HostValue> RelaxInterpreter::ViewStorage(const OpInfo& op, std::vector<HostValue> args) {
  if (op.id == op::kMemoryEnsureZeroOffset) return CallPacked("vm.builtin.ensure_zero_offset", args);
  const NDArray& tensor = *args[0].tensor();
  args.resize(4, HostValue(TupleValue{}));
  if (args[1].tuple()) args[1] = HostValue(ShapeValue(tensor.shape().begin(), tensor.shape().end()));
  if (args[2].tuple()) args[2] = HostValue(tensor.dtype());
  if (args[3].tuple()) args[3] = HostValue(Scalar::Int(0));
  return CallPacked("runtime.TVMArrayCreateView", args);
}

Result<HostValue> RelaxInterpreter::CallOperator(const Call& call, const OpInfo& op, Frame& frame) {
  IROPT_ASSIGN_OR_RETURN(std::vector<HostValue> args, EvalAll(call.args, frame));
  if (!options_.operators) return CallOnValues(call, op, call.attrs, std::move(args), frame);
  return options_.operators->Run(call, op, args, [&](const Attr* attrs, std::span<const HostValue> operands) {
    return CallOnValues(call, op, attrs, std::vector<HostValue>(operands.begin(), operands.end()), frame);
  });
}

Result<HostValue> RelaxInterpreter::CallOnValues(const Call& call, const OpInfo& op, const Attr* attrs,
                                                 std::vector<HostValue> args, Frame& frame) {
  if (IsStorageView(op, args)) return ViewStorage(op, std::move(args));
  if (HasKernel(op)) return CallKernel(call, op, attrs, args);
  const Expr* outer = std::exchange(site_, &call);
  const auto run = [&]() -> Result<HostValue> {
    switch (op.id) {
      case op::kCallTir:
      case op::kCallTirInplace:
      case op::kCallTirWithGrad:
      case op::kCallDpsPacked: return CallDestinationPassing(call, op, std::move(args), frame);
      case op::kCallPurePacked:
      case op::kCallInplacePacked: return InvokeOperand(args);
      case op::kCallBuiltinWithCtx:
      case op::kInvokeClosure:
      case op::kInvokePureClosure: return InvokeWithTuple(args);
      case op::kVmCallTirDyn:
      case op::kMakeClosure: {
        const bool is_closure = op.id == op::kMakeClosure;
        if (args.size() != 2 || !args[1].tuple()) return OpError(op, "expects a function and a tuple");
        std::vector<HostValue> flat{args[0]};
        flat.insert(flat.end(), args[1].tuple()->fields.begin(), args[1].tuple()->fields.end());
        return CallPacked(is_closure ? "vm.builtin.make_closure" : "vm.builtin.call_tir_dyn", flat);
      }
      // Operands: size, device, scope, dtype. The packed function has another order.
      case op::kMemoryAllocStorage:
        if (args.size() != 4) return OpError(op, "expects four operands");
        std::swap(args[2], args[3]);
        return CallPacked("vm.builtin.alloc_storage", args);
      case op::kVmAllocStorage: return CallPacked("vm.builtin.alloc_storage", args);
      case op::kMemoryAllocTensor:
      case op::kVmAllocTensor: return CallPacked("vm.builtin.alloc_tensor", args);
      case op::kBuiltinAllocTensor: return AllocTensor(args);
      // Memory is freed once nothing refers to it.
      case op::kMemoryKillStorage:
      case op::kMemoryKillTensor:
      case op::kVmKillObject:
        if (const auto* var = call.args.empty() ? nullptr : As<Var>(call.args[0])) frame.At(var) = HostValue();
        return HostValue(TupleValue{});
      case op::kNullValue: return HostValue();
      // All devices are the host.
      case op::kBuiltinStopLiftParams:
      case op::kHintOnDevice:
      case op::kToVdevice:
        if (args.empty()) return OpError(op, "expects an operand");
        return std::move(args[0]);
      default: break;
    }
    if (!op.packed.empty()) return CallPacked(op.packed, args);
    return OpError(op, "this operator cannot be executed");
  };
  Result<HostValue> result = run();
  site_ = outer;
  if (result.ok()) IROPT_RETURN_IF_ERROR(CheckResult(call, *result, frame));
  return result;
}

// Operands: a function, its arguments.
Result<HostValue> RelaxInterpreter::InvokeOperand(std::span<const HostValue> args) {
  return args.empty() ? Error{ErrorCode::SemanticCheck, "expected a function to call"}
                      : Invoke(args[0], args.subspan(1));
}

// Operands: a function, a tuple of its arguments.
Result<HostValue> RelaxInterpreter::InvokeWithTuple(std::span<const HostValue> args) {
  if (args.size() != 2 || !args[1].tuple())
    return Error{ErrorCode::SemanticCheck, "expected a function and a tuple of its arguments"};
  return Invoke(args[0], args[1].tuple()->fields);
}

// Operands: a shape, a dtype.
Result<HostValue> RelaxInterpreter::AllocTensor(std::span<const HostValue> args) {
  const OperandReader reader("R.builtin.alloc_tensor", args);
  IROPT_ASSIGN_OR_RETURN(const ShapeValue shape, reader.ShapeArg(0));
  IROPT_ASSIGN_OR_RETURN(const DataType dtype, reader.DTypeArg(1));
  IROPT_ASSIGN_OR_RETURN(Tensor tensor, AllocateTensor({dtype, shape}, executor_.tracking(), options_.limits));
  return HostValue(std::move(tensor));
}

// ---- Destination-passing style: call_tir and its variants

namespace {

// The operand that a result is written to in place, or -1 for a new tensor.
int64_t InPlaceIndex(const Call& call, const OpInfo& op, size_t output) {
  if (op.id != op::kCallTirInplace) return -1;
  const auto indices = InplaceAttrs(call).inplace_indices();
  return output < indices.size() ? indices[output] : -1;
}

}  // namespace

// Allocates the outputs. In-place results use the memory of the operand, which is copied first if it is read-only: what
// reads its variable later sees what was written.
Result<std::vector<HostValue>> RelaxInterpreter::MakeOutputs(const Call& call, const OpInfo& op,
                                                             const TupleValue& inputs, Frame& frame,
                                                             std::vector<bool>& in_place) {
  const std::optional<std::vector<TensorSpec>> specs = OutputSpecs(call.type_args, frame.symbols);
  if (!specs) return OpError(op, "a dimension of a result has no value");
  std::vector<HostValue> outputs;
  outputs.reserve(specs->size());
  for (const TensorSpec& spec : *specs) {
    const int64_t index = InPlaceIndex(call, op, outputs.size());
    const HostValue* operand =
        index >= 0 && index < std::ssize(inputs.fields) ? &inputs.fields[static_cast<size_t>(index)] : nullptr;
    const NDArray* given = operand ? operand->tensor() : nullptr;
    if (index >= 0 && !given) return OpError(op, fmt::format("operand {} is not a tensor", index));
    in_place.push_back(given != nullptr);
    if (given && given->storage()) {
      outputs.push_back(*operand);
      continue;
    }
    if (given) {
      IROPT_ASSIGN_OR_RETURN(HostValue copy, CopyToStorage(*given, frame));
      outputs.push_back(std::move(copy));
      continue;
    }
    IROPT_ASSIGN_OR_RETURN(Tensor tensor, op.id == op::kCallTir
                                              ? AllocateOutput(spec, executor_.tracking(), options_.limits)
                                              : AllocateTensor(spec, executor_.tracking(), options_.limits));
    outputs.emplace_back(std::move(tensor));
  }
  return outputs;
}

// Operands: a function, a tuple of inputs, a shape of integers. The arguments of the function are the inputs, the
// outputs that are not in place, the integers.
Result<HostValue> RelaxInterpreter::CallDestinationPassing(const Call& call, const OpInfo& op,
                                                           std::vector<HostValue> args, Frame& frame) {
  const FunctionValue* callee = args.empty() ? nullptr : args[0].function();
  const TupleValue* inputs = args.size() < 2 ? nullptr : args[1].tuple();
  if (!callee || !inputs) return OpError(op, "expects a function and a tuple");
  std::vector<bool> in_place;
  IROPT_ASSIGN_OR_RETURN(std::vector<HostValue> outputs, MakeOutputs(call, op, *inputs, frame, in_place));
  std::vector<PrimFuncArg> flat;
  flat.reserve(inputs->fields.size() + outputs.size());
  for (const HostValue& input : inputs->fields) flat.push_back({input});
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (in_place[i]) {
      flat[static_cast<size_t>(InPlaceIndex(call, op, i))] = {outputs[i], /*writable=*/true};
    } else {
      flat.push_back({outputs[i], /*writable=*/true});
    }
  }
  if (args.size() > 2 && args[2].shape()) {
    for (const int64_t value : *args[2].shape()) flat.push_back({Scalar::Int(value)});
  }
  if (const auto* func = As<PrimFunc>(callee->function)) {
    IROPT_RETURN_IF_ERROR(CallPrimFunc(*GlobalVar::Get(callee->name), *func, flat));
  } else {
    std::vector<HostValue> values;
    for (PrimFuncArg& arg : flat) values.push_back(std::move(arg.value));
    IROPT_RETURN_IF_ERROR(Invoke(args[0], values));
    for (const HostValue& output : outputs) {
      const Tensor& tensor = std::get<Tensor>(output.state);
      tensor->storage()->SetWritten(tensor->storage_offset(), tensor->num_bytes(), true);
    }
  }
  if (!Is<TupleType>(call.type_args->fields[0])) return std::move(outputs[0]);
  return HostValue(TupleValue{std::move(outputs)});
}

}  // namespace eval

Result<HostValue> EvalCallTir(const Call& call, const PrimFunc& func, std::span<const HostValue> args,
                              std::span<const int64_t> tir_vars, const EvalLimits& limits, const Module* module) {
  SymbolValues none;
  const std::optional<std::vector<TensorSpec>> specs = OutputSpecs(call.type_args, none);
  if (!specs) return Error{ErrorCode::SemanticCheck, "a dimension of a result has no value"};
  IROPT_ASSIGN_OR_RETURN(std::vector<Tensor> tensors, EvalPrimFunc(func, args, *specs, tir_vars, limits, module));
  if (!Is<TupleType>(call.type_args->fields[0])) return HostValue(std::move(tensors[0]));
  TupleValue tuple;
  for (Tensor& tensor : tensors) tuple.fields.emplace_back(std::move(tensor));
  return HostValue(std::move(tuple));
}

}  // namespace iropt

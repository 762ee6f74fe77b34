#include "iropt/execution/compiled_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "iropt/analysis/relax/called_functions.h"
#include "iropt/ir/dlpack.h"
#include "iropt/ir/narrow_element.h"
#include "iropt/pass/timing.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

using codegen::LoopArg;
using codegen::LoopTensor;

std::optional<DataType> ElementTypeOf(const LoopTensor& tensor) {
  for (const TypeCode code : {TypeCode::kInt, TypeCode::kUInt, TypeCode::kFloat, TypeCode::kBFloat,
                              TypeCode::kFloat8E4M3, TypeCode::kFloat8E5M2}) {
    const DataType dtype = DataType::Make(code, tensor.bits, tensor.lanes);
    if (DLPackCode(code) == tensor.code && IsStoredType(dtype)) return dtype;
  }
  return std::nullopt;
}

// Wraps a tensor of the caller. The result must not outlive it.
Result<HostValue> FromLoopTensor(const LoopTensor& tensor) {
  const std::optional<DataType> dtype = ElementTypeOf(tensor);
  if (!dtype || tensor.strides)
    return Error{ErrorCode::SemanticCheck,
                 "a tensor argument of a packed function is not compact, or has an unsupported dtype"};
  const std::span<const int64_t> shape(tensor.shape, static_cast<size_t>(tensor.ndim));
  const std::optional<uint64_t> bytes = ArrayBytes(*dtype, shape);
  if (!bytes) return Error{ErrorCode::SemanticCheck, "a tensor argument of a packed function has an invalid shape"};
  auto* data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  return HostValue(Tensor(NDArray::View(*dtype, shape, Storage::Wrap(data, *bytes), 0)));
}

Result<HostValue> FromLoopArg(const LoopArg& arg) {
  switch (arg.kind) {
    case LoopArg::Kind::kNone: return HostValue();
    case LoopArg::Kind::kInt: return HostValue(Scalar::Int(arg.integer));
    case LoopArg::Kind::kFloat: return HostValue(Scalar::Float(arg.real));
    case LoopArg::Kind::kTensor: return FromLoopTensor(*arg.tensor);
    case LoopArg::Kind::kString: return HostValue(std::string_view(arg.string));
    case LoopArg::Kind::kPointer: break;
  }
  return Error{ErrorCode::SemanticCheck, "a pointer argument of a packed function is not a tensor"};
}

LoopArg ToLoopArg(const Scalar& scalar) {
  return scalar.dtype.is_floating() ? LoopArg::Float(scalar.real) : LoopArg::Int(scalar.integer);
}

codegen::PackedFunction ForLoops(const PackedCaller& packed) {
  return [&packed](std::string_view name, std::span<const LoopArg> args, LoopArg* result) -> Status {
    if (!packed) return Error{ErrorCode::SemanticCheck, fmt::format("cannot call the packed function '{}' here", name)};
    std::vector<HostValue> values;
    for (const LoopArg& arg : args) {
      Result<HostValue> value = FromLoopArg(arg);
      if (!value.ok()) return value.TakeError();
      values.push_back(*std::move(value));
    }
    IROPT_ASSIGN_OR_RETURN(const HostValue returned, packed(name, values));
    if (const Scalar* scalar = returned.scalar()) *result = ToLoopArg(*scalar);
    return {};
  };
}

// Gives the elements that have no value these bytes, as far as that is known.
void FillUnwritten(const NDArray& tensor, std::byte value) {
  Storage* storage = tensor.storage().get();
  if (!storage || !storage->marks()) return;
  const std::byte* marks = storage->marks() + tensor.storage_offset();
  std::byte* data = storage->data() + tensor.storage_offset();
  for (size_t i = 0; i < tensor.num_bytes(); ++i) {
    if (marks[i] == std::byte{0}) data[i] = value;
  }
}

// Of the interpretation of some iterations.
constexpr uint64_t kMostSampledSteps = uint64_t{1} << 16;

}  // namespace

LoopFacts SampleFacts(const PrimFunc& func, std::span<const PrimFuncArg> args, PrimFuncOptions options) {
  std::vector<PrimFuncArg> copies(args.begin(), args.end());
  for (PrimFuncArg& arg : copies) {
    const NDArray* tensor = arg.value.tensor();
    if (!tensor || !arg.writable) continue;
    const std::shared_ptr<Storage> storage = Storage::Make(tensor->num_bytes(), Storage::Tracking::kOff);
    if (tensor->num_bytes() != 0) std::memcpy(storage->data(), tensor->data(), tensor->num_bytes());
    arg.value = Tensor(NDArray::View(tensor->dtype(), tensor->shape(), storage, 0));
  }
  LoopFacts sampled{.samples_loops = true};
  options.limits.max_work = kMostSampledSteps;
  options.limits.work = nullptr;
  options.facts = &sampled;
  // It may fail where the full run does not.
  (void)CallPrimFunc(func, copies, options);
  return sampled;
}

std::vector<const GlobalVar*> CalledPrimFuncs(const Module& module, const GlobalVar& entry) {
  std::vector<const GlobalVar*> called;
  LookupSet<const GlobalVar*> seen = {&entry};
  std::vector<const GlobalVar*> open = {&entry};
  while (!open.empty()) {
    const GlobalVar* var = open.back();
    open.pop_back();
    const ModuleEntry* function = module.Find(var);
    if (!function) continue;
    if (Is<PrimFunc>(function->func)) {
      called.push_back(var);
      continue;  // its callees are compiled with it
    }
    const std::shared_ptr<const CalledFunctions::Result> callees = ComputeCalledFunctions(*function);
    for (const GlobalVar* callee : *callees) {
      if (seen.insert(callee)) open.push_back(callee);
    }
  }
  return called;
}

Status CompilingExecutor::Prepare(const GlobalVar& var) {
  if (const auto* known = functions_.Find(&var)) return known->ok() ? Status() : Status(known->error());
  std::vector<const GlobalVar*> vars = std::exchange(expected_, {});
  if (std::ranges::find(vars, &var) == vars.end()) vars.insert(vars.begin(), &var);
  const Stopwatch watch;
  std::vector<Result<codegen::CompiledFunctionRef>> compiled = compiler_->CompileAll(module_, vars);
  const double seconds = watch.Read().wall_seconds;
  compile_seconds_ += seconds;
  for (size_t i = 0; i < vars.size(); ++i) functions_.insert_or_assign(vars[i], std::move(compiled[i]));
  if (on_compile_) on_compile_(var.name, vars.size(), seconds);
  const Result<codegen::CompiledFunctionRef>& wanted = functions_.at(&var);
  return wanted.ok() ? Status() : Status(wanted.error());
}

Result<HostValue> CompilingExecutor::Call(const GlobalVar& var, const PrimFunc& func,
                                          std::span<const PrimFuncArg> given, const PackedCaller& packed) {
  IROPT_RETURN_IF_ERROR(Prepare(var));
  std::vector<PrimFuncArg> changed;
  const std::span<const PrimFuncArg> args = WithVectorElements(func, given, changed);
  const codegen::CompiledFunctionRef& function = *functions_.at(&var);
  // Without packed functions, which would be called twice.
  if (looks_for_races_ && race_.empty() && called_.insert(&var) && HasThreads(func))
    race_ = SampleFacts(func, args, {.limits = limits_, .module = &module_}).FirstRace(/*complete=*/false);
  std::vector<LoopTensor> tensors;
  tensors.reserve(args.size());  // for stable addresses
  std::vector<std::vector<std::byte>> copies;
  std::vector<LoopArg> loop_args;
  loop_args.reserve(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    const NDArray* tensor = args[i].value.tensor();
    const Scalar* scalar = args[i].value.scalar();
    if (!tensor && !scalar) {
      return Error{ErrorCode::SemanticCheck, fmt::format("{}: argument {} is {}, expected a tensor or a scalar",
                                                         var.name, i, KindOf(args[i].value))};
    }
    if (scalar) {
      loop_args.push_back(ToLoopArg(*scalar));
      continue;
    }
    if (fresh_ && args[i].writable) FillUnwritten(*tensor, *fresh_);
    auto* data = const_cast<std::byte*>(tensor->data());  // written only if it is writable or copied
    if (function->MayWrite(i) && !(args[i].writable && tensor->storage())) {
      // A read-only input that the function may write to, for example because its address is taken. Writes to the copy
      // are dropped.
      data = copies.emplace_back(tensor->data(), tensor->data() + tensor->num_bytes()).data();
    }
    tensors.push_back(codegen::DescribeTensor(*tensor, data));
    loop_args.push_back(LoopArg::Tensor(&tensors.back()));
  }
  const codegen::PackedFunction callback = ForLoops(packed);
  LoopArg result;
  const codegen::LoopCallOptions options{
      .packed = &callback, .max_bytes = limits_.max_bytes, .max_iterations = limits_.AvailableWork(), .fresh = fresh_};
  IROPT_RETURN_IF_ERROR(function->Call(loop_args, options, &result));
  for (const PrimFuncArg& arg : args) {
    const NDArray* tensor = arg.value.tensor();
    if (arg.writable && tensor && tensor->storage())
      tensor->storage()->SetWritten(tensor->storage_offset(), tensor->num_bytes(), true);
  }
  if (result.kind == LoopArg::Kind::kNone) return HostValue(Scalar::Int(0));
  return FromLoopArg(result);
}

}  // namespace iropt

#include "iropt/execution/call_entry.h"

#include <unistd.h>

#include <cstring>

#include "iropt/eval/tir/scalar_eval.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "iropt/pass/timing.h"

namespace iropt {

namespace {

// Copies a read-only tensor to new storage.
Status MakeWritable(HostValue& value, Storage::Tracking tracking) {
  const NDArray* tensor = value.tensor();
  if (!tensor || tensor->storage()) return {};
  const TensorSpec spec{tensor->dtype(), {tensor->shape().begin(), tensor->shape().end()}};
  IROPT_ASSIGN_OR_RETURN(const Tensor copy, AllocateTensor(spec, tracking, {}));
  std::memcpy(copy->storage()->data(), tensor->data(), tensor->num_bytes());
  copy->storage()->SetWritten(0, tensor->num_bytes(), true);
  value = copy;
  return {};
}

// Services for packed functions that a PrimFunc calls.
class PrimContext final : public PackedContext {
 public:
  explicit PrimContext(const RunOptions& run) : run_(run) {}
  Result<HostValue> Invoke(const HostValue&, std::span<const HostValue>) override {
    return Error{ErrorCode::SemanticCheck, "a PrimFunc has no closures to call"};
  }
  void Print(std::string_view line) override {
    if (run_.print) run_.print(line);
  }
  Result<std::shared_ptr<Storage>> Allocate(uint64_t bytes) override {
    if (bytes > PhysicalMemory()) return Error{ErrorCode::Budget, "not enough memory"};
    return Storage::Make(bytes, run_.prim_funcs->tracking());
  }
  size_t max_bytes() const override { return PhysicalMemory(); }

 private:
  const RunOptions& run_;
};

// The returned number in the dtype of what the function returns, for one that declares none: compiled code returns 64
// bits.
HostValue InDTypeOfReturn(const PrimFunc& func, const HostValue& value) {
  const Scalar* scalar = value.scalar();
  if (!scalar) return value;
  std::optional<DataType> dtype;
  const tir::Stmt* other = tir::FindStmt(func.body, [&](const tir::Stmt* stmt) {
    const auto* evaluate = As<tir::Evaluate>(stmt);
    const auto* call = evaluate ? As<tir::Call>(evaluate->value) : nullptr;
    if (!call || !IsOp(call->op, op::kTirRet) || call->args.size() != 1) return false;
    if (!dtype) dtype = call->args[0]->dtype;
    return *dtype != call->args[0]->dtype;
  });
  if (!dtype || other) return value;
  Scalar result = *scalar;
  return CastScalar(result, *dtype, &result) ? HostValue(result) : value;
}

Result<HostValue> CallPrimEntry(const Entry& entry, std::vector<HostValue> values, DiagnosticEngine& diagnostics,
                                const RunOptions& run) {
  std::vector<PrimFuncArg> args;
  TupleValue outputs;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_written = entry.inputs()[i].is_written;
    if (is_written) IROPT_RETURN_IF_ERROR(MakeWritable(values[i], run.prim_funcs->tracking()));
    if (is_written) outputs.fields.push_back(values[i]);
    args.push_back({std::move(values[i]), is_written});
  }
  const Stopwatch watch;
  PrimContext context(run);
  const PackedRegistry& registry = run.packed ? *run.packed : BuiltinPackedFuncs();
  const PackedCaller packed = [&](std::string_view name, std::span<const HostValue> operands) {
    return registry.Call(name, operands, context);
  };
  Result<HostValue> returned = run.prim_funcs->Call(entry.var(), *entry.prim(), args, packed);
  if (run.observer) run.observer->OnCall(CalleeKind::kPrimFunc, entry.name(), watch.Read().wall_seconds);
  const auto fail = [&](Error error) {
    if (run.check_races == RaceWatch::kSampled && !run.prim_funcs->race().empty()) return Failure{ErrorCode::Rejected};
    diagnostics.Error(Location(entry.function()), "no-value", std::move(error.message));
    return Failure{error.code};
  };
  if (!returned.ok()) return fail(returned.TakeError());
  if (outputs.fields.empty()) {
    const Type* declared = entry.prim()->ret_type;
    if (declared && Is<PrimType>(declared)) return ReturnedValue(*entry.prim(), *returned);
    return InDTypeOfReturn(*entry.prim(), *returned);
  }
  HostValue result(std::move(outputs));
  if (run.check_races != RaceWatch::kSampled && !IsWritten(result))
    return fail({ErrorCode::SemanticCheck, "a result has uninitialized elements"});
  return result;
}

}  // namespace

size_t PhysicalMemory() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  const int64_t page = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : SIZE_MAX;
}

Result<HostValue> CallEntry(const Module& module, const Entry& entry, std::vector<HostValue> values,
                            DiagnosticEngine& diagnostics, const RunOptions& run) {
  Result<HostValue> result =
      entry.relax() ? RunFunction(module, *entry.relax(), entry.MakeArguments(std::move(values)), diagnostics, run)
                    : CallPrimEntry(entry, std::move(values), diagnostics, run);
  if (!run.prim_funcs || run.prim_funcs->race().empty() || (!result.ok() && !run.check_races)) return result;
  const ObservedRace& race = run.prim_funcs->race();
  {
    DiagnosticBuilder diagnostic = run.check_races
                                       ? diagnostics.Error(Location(*race.at), "race", race.message)
                                       : diagnostics.Warning(Location(*race.at), "undefined-result", race.message);
    if (race.other != race.at) diagnostic.Note(Location(*race.other), race.other_message);
  }
  if (run.check_races) return Failure{ErrorCode::Rejected};
  return result;
}

}  // namespace iropt

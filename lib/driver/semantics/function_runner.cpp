#include "function_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "driver/run/call_entry.h"
#include "driver/run/compiled_loops.h"
#include "driver/run/outputs.h"
#include "iropt/ir/element.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

int64_t NumElements(const HostValue& value) {
  int64_t elements = 1;
  ForEachTensor(value, [&](const Tensor& tensor) { elements = std::max(elements, tensor->num_elements()); });
  return elements;
}

// The value as an input of that dtype.
HostValue ConvertFor(const EntryInput& input, HostValue value) {
  const NDArray* tensor = value.tensor();
  const bool differs = tensor && !input.dtype.is_void() && tensor->dtype() != input.dtype;
  if (!differs || !tensor->dtype().is_floating() || !input.dtype.is_floating()) return value;
  return ConvertFloats(std::get<Tensor>(value.state), input.dtype);
}

// The tensors, shapes and numbers that a value consists of, in the order of the inputs and outputs of functions.
void AddLeaves(const HostValue& value, std::vector<HostValue>& leaves) {
  const TupleValue* tuple = value.tuple();
  if (!tuple) {
    leaves.push_back(value);
    return;
  }
  for (const HostValue& field : tuple->fields) WithStack([&] { AddLeaves(field, leaves); });
}

}  // namespace

Tensor ConvertFloats(const Tensor& tensor, DataType dtype) {
  if (tensor->dtype() == dtype) return tensor;
  const std::shared_ptr<NDArray> converted = NDArray::Make(dtype, tensor->shape());
  DispatchElement(tensor->dtype(), [&]<class From>(std::type_identity<From>) {
    DispatchElement(dtype, [&]<class To>(std::type_identity<To>) {
      std::ranges::transform(tensor->As<From>(), converted->MutableAs<To>().begin(), [](From element) {
        return Element<To>::Store(static_cast<MathOf<To>>(Element<From>::Load(element)));
      });
    });
  });
  return converted;
}

// Adds up how many operations the elements of each binding take.
class FunctionRunner::Meter : public RunObserver {
 public:
  // `work` is the work of all runs.
  explicit Meter(uint64_t& work) : work_(work), counted_(work) {}

  void OnBinding(const Function&, const Var&, const HostValue& value) override {
    Add(value);
    ForEachTensor(value, [&](const Tensor& tensor) {
      has_narrow_floats_ |= tensor->dtype().is_floating() && tensor->dtype().bits < 32;
    });
  }
  void OnCall(CalleeKind, std::string_view, double) override {}
  void OnRandom() override { is_random_ = true; }

  // Counts the steps of a PrimFunc, which are single operations but take longer.
  void AddSteps(uint64_t steps) {
    work_ += steps * kWorkOfStep;
    counted_ += steps * (kWorkOfStep - 1);
  }
  void Add(const HostValue& value) {
    accumulation_ += static_cast<double>(work_ - counted_) / static_cast<double>(NumElements(value));
    counted_ = work_;
  }
  double accumulation() const { return accumulation_; }
  bool is_random() const { return is_random_; }
  bool has_narrow_floats() const { return has_narrow_floats_; }
  size_t num_lines = 0;

 private:
  uint64_t& work_;
  uint64_t counted_;
  double accumulation_ = 1;
  bool is_random_ = false;
  bool has_narrow_floats_ = false;
};

// Interprets PrimFuncs, and takes their time into account.
class FunctionRunner::Executor : public PrimFuncExecutor {
 public:
  Executor(const Module& module, const EvalLimits& limits, Meter& meter)
      : module_(module), limits_(limits), meter_(meter) {}

  Storage::Tracking tracking() const override { return Storage::Tracking::kOn; }
  Result<HostValue> Call(const GlobalVar& var, const PrimFunc& func, std::span<const PrimFuncArg> args,
                         const PackedCaller& packed) override {
    uint64_t steps = 0;
    const EvalLimits limits{
        .max_bytes = limits_.max_bytes, .max_work = limits_.AvailableWork() / kWorkOfStep, .work = &steps};
    Result<HostValue> result = InterpretingExecutor(module_, limits).Call(var, func, args, packed);
    meter_.AddSteps(steps);
    return result;
  }

 private:
  const Module& module_;
  EvalLimits limits_;
  Meter& meter_;
};

// What the functions that are passed to a program do.
struct FunctionRunner::Callbacks {
  std::vector<HostValue> inputs;
  std::map<int64_t, HostValue> outputs;

  void AddTo(PackedRegistry& registry, std::string_view get_input, std::string_view set_output) {
    registry.Set(std::string(get_input), [this](PackedCall& call) -> Result<HostValue> {
      IROPT_ASSIGN_OR_RETURN(const int64_t index, call.IntArg(0));
      if (index < 0 || static_cast<size_t>(index) >= inputs.size())
        return call.Fail(fmt::format("there is no parameter {}", index));
      return inputs[static_cast<size_t>(index)];
    });
    registry.Set(std::string(set_output), [this](PackedCall& call) -> Result<HostValue> {
      IROPT_ASSIGN_OR_RETURN(const int64_t index, call.IntArg(0));
      if (call.num_args() < 2) return call.Fail("there is no result");
      outputs[index] = call.arg(1);
      return HostValue(TupleValue{});
    });
  }
};

FunctionRunner::FunctionRunner(uint64_t max_work, uint64_t seed, std::shared_ptr<codegen::LoopCompiler> loops)
    : max_work_(max_work),
      seed_(seed),
      loops_(std::move(loops)),
      get_input_(workspace_.New<ExternFunc>("ir_opt.get_input", DictAttr::Empty(), nullptr)),
      set_output_(workspace_.New<ExternFunc>("ir_opt.set_output", DictAttr::Empty(), nullptr)) {}

HostValue FunctionRunner::Callback(const ExternFunc& function) const {
  return HostValue::CalleeRef(new FunctionValue{&function, function.global_symbol, {}, {}, nullptr, {}});
}

Result<std::vector<HostValue>> FunctionRunner::Transformed(const Module& module, const CallInterface& interface,
                                                           const std::vector<HostValue>& inputs,
                                                           DiagnosticEngine& diagnostics, Meter& meter) {
  std::vector<HostValue> leaves;
  const CallInterface::Transform* transform = interface.transform();
  if (!transform) return leaves;
  std::vector<HostValue> weights;
  for (const InputSource& source : transform->sources) weights.push_back(inputs[source.index]);
  IROPT_ASSIGN_OR_RETURN(const HostValue result,
                         WithStack([&] { return Call(module, transform->interface, weights, diagnostics, meter); }));
  AddLeaves(result, leaves);
  return leaves;
}

Result<HostValue> FunctionRunner::Call(const Module& module, const CallInterface& interface,
                                       const std::vector<HostValue>& inputs, DiagnosticEngine& diagnostics,
                                       Meter& meter) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<HostValue> transformed,
                         Transformed(module, interface, inputs, diagnostics, meter));
  const auto value_of = [&](const InputSource& source) -> HostValue {
    switch (source.kind) {
      case InputSource::Kind::kInput: return inputs[source.index];
      case InputSource::Kind::kTransformed:
        return source.index < transformed.size() ? transformed[source.index] : HostValue();
      case InputSource::Kind::kGetInput: return Callback(*get_input_);
      case InputSource::Kind::kSetOutput: return Callback(*set_output_);
    }
    return {};
  };
  const Entry entry = interface.EntryIn(module);
  std::vector<HostValue> values;
  for (size_t i = 0; i < entry.inputs().size(); ++i)
    values.push_back(ConvertFor(entry.inputs()[i], value_of(interface.sources()[i])));
  const EvalLimits limits{.max_bytes = PhysicalMemory(), .work = &work_, .max_total_work = max_work_};
  Executor interpreting(module, limits, meter);
  CompilingExecutor compiling(module, loops_, limits);
  RunOptions run{.limits = limits, .seed = seed_, .prim_funcs = &interpreting, .observer = &meter};
  if (loops_) run.prim_funcs = &compiling;
  run.print = [&meter](std::string_view) { ++meter.num_lines; };
  Callbacks callbacks;
  for (const CallInterface::Fetched& fetched : interface.fetched()) {
    std::vector<HostValue> leaves;
    for (const InputSource& source : fetched.sources) leaves.push_back(value_of(source));
    size_t next = 0;
    callbacks.inputs.push_back(TakeValue(fetched.type, leaves, next));
  }
  PackedRegistry registry;
  if (!interface.fetched().empty() || interface.sets_outputs()) {
    registry = BuiltinPackedFuncs();
    callbacks.AddTo(registry, get_input_->global_symbol, set_output_->global_symbol);
    run.packed = &registry;
  }
  IROPT_ASSIGN_OR_RETURN(HostValue result, CallEntry(module, entry, std::move(values), diagnostics, run));
  meter.Add(result);
  if (!interface.sets_outputs()) return result;
  TupleValue outputs;
  for (auto& [index, output] : callbacks.outputs) outputs.fields.push_back(std::move(output));
  return HostValue(std::move(outputs));
}

RunOutcome FunctionRunner::Run(const Module& module, const CallInterface& interface,
                               const std::vector<HostValue>& inputs) {
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  Meter meter(work_);
  Result<HostValue> result = Call(module, interface, inputs, diagnostics, meter);
  RunOutcome outcome;
  if (!result.ok()) {
    Error error = result.TakeError();
    if (error.reported() && !buffer.diagnostics().empty()) error.message = buffer.diagnostics().front().message;
    outcome.failure = std::move(error);
    return outcome;
  }
  outcome.outputs = FlattenOutputs(*result);
  outcome.is_written = IsWritten(*result);
  outcome.is_random = meter.is_random();
  outcome.has_narrow_floats = meter.has_narrow_floats();
  outcome.num_lines = meter.num_lines;
  outcome.accumulation = meter.accumulation();
  return outcome;
}

}  // namespace iropt

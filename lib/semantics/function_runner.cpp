#include "function_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <new>

#include "iropt/analysis/relax/use_count.h"
#include "iropt/execution/call_entry.h"
#include "iropt/execution/outputs.h"
#include "iropt/ir/element.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

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

// Returns how many of the variables are used. Those of local functions count as used.
size_t CountUsedDraws(const Module& module, std::span<const RunMeter::Draw> draws) {
  return static_cast<size_t>(std::ranges::count_if(draws, [&](const RunMeter::Draw& draw) {
    const auto entry =
        std::ranges::find(module.functions(), static_cast<const BaseFunc*>(draw.function), &ModuleEntry::func);
    return entry == module.functions().end() || UseCounts(*draw.function, *entry->storage)[draw.var->id] != 0;
  }));
}

// The kinds of values that a result consists of: callers see whether a tensor is in a tuple, and strings.
std::string StructureOf(const HostValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.state)) return fmt::format("\"{}\"", *text);
  if (const auto* dtype = std::get_if<DataType>(&value.state)) return dtype->ToString();
  const TupleValue* tuple = value.tuple();
  if (!tuple) return std::string(KindOf(value));
  std::string fields;
  for (const HostValue& field : tuple->fields) {
    fields += fields.empty() ? "" : ", ";
    fields += WithStack([&] { return StructureOf(field); });
  }
  return fmt::format("({})", fields);
}

// Saturates.
uint64_t SumOf(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

// What a tensor may take: sizes that are inputs can make any size of small inputs, and take the time of many runs.
size_t MostBytesFor(const std::vector<HostValue>& inputs) {
  constexpr size_t kLeast = size_t{1} << 30;
  constexpr size_t kMostTimes = 256;
  size_t bytes = 0;
  for (const HostValue& input : inputs) {
    ForEachTensor(input, [&](const Tensor& tensor) { bytes += tensor->num_bytes(); });
  }
  return std::max(kLeast, bytes > SIZE_MAX / kMostTimes ? SIZE_MAX : bytes * kMostTimes);
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

// The functions that are passed to a program, which give it inputs and take its outputs.
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

FunctionRunner::FunctionRunner(const SemanticCheckOptions& options, NetworkMode mode)
    : max_work_(static_cast<uint64_t>(std::max<int64_t>(options.budget, 0))),
      seed_(static_cast<uint64_t>(options.seed)),
      loops_(options.loops),
      on_work_(options.on_work),
      mode_(mode),
      library_({.fills_stack = true}),
      get_input_(workspace_.New<ExternFunc>("ir_opt.get_input", DictAttr::Empty(), nullptr)),
      set_output_(workspace_.New<ExternFunc>("ir_opt.set_output", DictAttr::Empty(), nullptr)) {}

Status FunctionRunner::LoadLoopCompiler() {
  Result<std::shared_ptr<codegen::LoopCompiler>> compiler = library_.Get();
  return compiler.ok() ? Status() : Status(compiler.TakeError());
}

HostValue FunctionRunner::Callback(const ExternFunc& function) const {
  return HostValue::CalleeRef(new FunctionValue{&function, function.global_symbol, {}, {}, nullptr, {}});
}

Result<std::vector<HostValue>> FunctionRunner::Transformed(const Module& module, const CallInterface& interface,
                                                           const std::vector<HostValue>& inputs,
                                                           DiagnosticEngine& diagnostics, RunMeter& meter,
                                                           RunOutcome& outcome) {
  std::vector<HostValue> leaves;
  const CallInterface::Transform* transform = interface.transform();
  if (!transform) return leaves;
  std::vector<HostValue> weights;
  for (const InputSource& source : transform->sources) weights.push_back(inputs[source.index]);
  IROPT_ASSIGN_OR_RETURN(const HostValue result, WithStack([&] {
                           return Call(module, transform->interface, weights, diagnostics, meter, outcome);
                         }));
  AddLeaves(result, leaves);
  return leaves;
}

std::vector<const Var*> FunctionRunner::ConstantParams(const Entry& entry, const CallInterface& interface) const {
  std::vector<const Var*> params;
  for (size_t i = 0; i < entry.inputs().size(); ++i) {
    const InputSource& source = interface.sources()[i];
    if (source.kind != InputSource::Kind::kInput || std::ranges::find(constants_, source.index) == constants_.end())
      continue;
    const auto* param = As<Var>(entry.inputs()[i].at);
    if (param && !Is<TupleType>(param->type)) params.push_back(param);
  }
  return params;
}

Result<HostValue> FunctionRunner::Call(const Module& module, const CallInterface& interface,
                                       const std::vector<HostValue>& inputs, DiagnosticEngine& diagnostics,
                                       RunMeter& meter, RunOutcome& outcome) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<HostValue> transformed,
                         Transformed(module, interface, inputs, diagnostics, meter, outcome));
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
  const EvalLimits limits{.max_bytes = std::min(PhysicalMemory() / kShareOfMemory, MostBytesFor(inputs)),
                          .work = &work_,
                          .max_total_work = std::min(max_work_, SumOf(work_, settings_.max_work)),
                          .on_work = on_work_ ? &on_work_ : nullptr};
  LoopExecutor executor(module, settings_.interprets ? LoopMode::Interpret : loops_, library_, limits, meter);
  executor.Watch(outcome.facts, settings_.fresh);
  RunOptions run{.limits = limits,
                 .seed = seed_,
                 .prim_funcs = &executor,
                 .observer = &meter,
                 .mode = mode_,
                 .constant_params = ConstantParams(entry, interface)};
  run.print = [&outcome](std::string_view line) { outcome.lines.emplace_back(line); };
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

// A run that needs more memory than there is fails as one that is over the budget.
template <class F>
static Result<HostValue> CallInMemory(F&& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::Budget, "there is not enough memory"};
  }
}

RunOutcome FunctionRunner::Run(const Module& module, const CallInterface& interface,
                               const std::vector<HostValue>& inputs, const RunSettings& settings) {
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  RunMeter meter(work_);
  RunOutcome outcome;
  settings_ = settings;
  outcome.facts.branches = settings.branches;
  meter.WatchBranches(settings.branches);
  meter.WatchInputs(inputs);
  const uint64_t before = work_;
  Result<HostValue> result = CallInMemory([&] { return Call(module, interface, inputs, diagnostics, meter, outcome); });
  outcome.work = work_ - before;
  outcome.runs_loops = meter.runs_loops();
  total_work_ += outcome.work;
  if (!result.ok()) {
    Error error = result.TakeError();
    if (error.reported() && !buffer.diagnostics().empty()) error.message = buffer.diagnostics().front().message;
    if (error.code == ErrorCode::Budget) error.message = OverBudget(error.message);
    outcome.failure = std::move(error);
    return outcome;
  }
  outcome.outputs = FlattenOutputs(*result);
  if (!interface.sets_outputs()) outcome.structure = StructureOf(*result);
  outcome.overwritten_input = meter.overwritten_input();
  outcome.is_written = IsWritten(*result);
  outcome.is_random = meter.is_random();
  outcome.num_draws = CountUsedDraws(module, meter.draws());
  outcome.precision = meter.precision();
  return outcome;
}

}  // namespace iropt

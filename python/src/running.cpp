#include "running.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "errors.h"
#include "host_values.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/eval/relax/interpreter.h"
#include "iropt/eval/relax/wide_arithmetic.h"
#include "iropt/execution/call_entry.h"
#include "iropt/execution/entry.h"
#include "iropt/execution/loop_executor.h"
#include "iropt/runtime/value.h"
#include "iropt/semantics/semantic_check.h"
#include "module.h"
#include "signals.h"
#include "tensor.h"
#include "values.h"

namespace iropt::python {

namespace {

LoopMode ModeOf(const std::string& word) {
  if (word == "interpret") return LoopMode::Interpret;
  if (word == "compile") return LoopMode::Compile;
  if (word == "auto") return LoopMode::Auto;
  throw py::value_error(fmt::format("invalid way to run loops '{}': expected interpret, compile or auto", word));
}

// An argument for an input: a tuple of integers is a shape where the function expects one.
HostValue ToInput(py::handle value, const EntryInput& input) {
  const bool is_list = PyTuple_Check(value.ptr()) != 0 || PyList_Check(value.ptr()) != 0;
  if (input.kind == EntryInput::Kind::kShape && is_list) return value.cast<ShapeValue>();
  if (input.kind == EntryInput::Kind::kScalar && py::isinstance<py::int_>(value)) {
    if (input.dtype.is_floating()) return Scalar::Float(value.cast<double>(), input.dtype);
    return Scalar::Int(value.cast<int64_t>(), input.dtype.is_void() ? DataType::Int(64) : input.dtype);
  }
  if (input.kind == EntryInput::Kind::kScalar && py::isinstance<py::float_>(value))
    return Scalar::Float(value.cast<double>(), input.dtype.is_void() ? DataType::Float(64) : input.dtype);
  HostValue made = ToHost(value);
  const bool is_shape = made.shape() != nullptr && input.kind != EntryInput::Kind::kShape;
  if (input.kind != EntryInput::Kind::kOther && (made.function() != nullptr || is_shape))
    throw py::type_error(fmt::format("expected a tensor, not {}", DescribeObject(value)));
  return made;
}

// ---- Packed functions of Python

using PackedFuncs = std::map<std::string, py::function>;

// Tensors of the caller of a run that it may write to, and the objects that they are of.
// They stay as long as the run, so that no other tensor gets the address of one.
struct GivenTensor {
  Tensor tensor;
  py::object object;
};
using WritableTensors = std::unordered_map<const NDArray*, GivenTensor>;

struct PythonCalls {
  WritableTensors writable;
  std::exception_ptr thrown;
};

// The memory of a tensor that is a view of storage may go when the call ends, so Python gets a copy, which is copied
// back.
struct LentTensor {
  Tensor original;
  std::shared_ptr<NDArray> copy;
};

py::object Lend(const HostValue& value, const WritableTensors& writable, std::vector<LentTensor>& lent) {
  const auto* tensor = std::get_if<Tensor>(&value.state);
  if (tensor == nullptr || *tensor == nullptr) return FromHost(value);
  const auto given = writable.find(tensor->get());
  if (given != writable.end()) return given->second.object;
  if ((*tensor)->storage() == nullptr) return FromHost(value);
  const NDArray& array = **tensor;
  auto copy = NDArray::Make(array.dtype(), array.shape());
  if (array.num_bytes() > 0) std::memcpy(copy->mutable_data(), array.data(), array.num_bytes());
  lent.push_back({*tensor, copy});
  return TensorToPython(std::move(copy), /*writable=*/true);
}

void TakeBack(const LentTensor& lent) {
  const NDArray& array = *lent.original;
  const size_t bytes = array.num_bytes();
  if (bytes == 0 || std::memcmp(array.data(), lent.copy->data(), bytes) == 0) return;
  std::memcpy(array.storage()->data() + array.storage_offset(), lent.copy->data(), bytes);
  array.storage()->SetWritten(array.storage_offset(), bytes, true);
}

// Calls a function of Python from a run, without the interpreter lock. Compiled loops can't be left by an exception, so
// what it throws is kept until the run has ended.
Result<HostValue> CallPython(const py::function& function, const PackedCall& call, PythonCalls& calls) {
  const py::gil_scoped_acquire lock;
  try {
    std::vector<LentTensor> lent;
    py::tuple args(call.num_args());
    for (size_t i = 0; i < args.size(); ++i) args[i] = Lend(call.arg(i), calls.writable, lent);
    HostValue result = ToHost(function(*args));
    for (const LentTensor& tensor : lent) TakeBack(tensor);
    return result;
  } catch (const std::exception& error) {
    calls.thrown = std::current_exception();
    return call.Fail(error.what());
  }
}

PackedRegistry RegistryWith(const PackedFuncs& functions, PythonCalls& calls) {
  PackedRegistry registry = BuiltinPackedFuncs();
  for (const auto& [name, function] : functions)
    registry.Set(name, [&calls, &function = function](PackedCall& call) { return CallPython(function, call, calls); });
  for (const auto& [name, object] : PythonCallables()) {
    auto function = py::reinterpret_borrow<py::function>(object);
    registry.Set(name, [&calls, function](PackedCall& call) { return CallPython(function, call, calls); });
  }
  return registry;
}

// Services for packed functions that are called outside of a run.
class PythonPackedContext final : public PackedContext {
 public:
  Result<HostValue> Invoke(const HostValue&, std::span<const HostValue>) override {
    return Error{ErrorCode::SemanticCheck, "a closure can be called in the run of a module only"};
  }
  void Print(std::string_view line) override { py::print(py::str(line.data(), line.size())); }
  Result<std::shared_ptr<Storage>> Allocate(uint64_t bytes) override {
    if (bytes > max_bytes()) return Error{ErrorCode::Budget, "not enough memory"};
    return Storage::Make(bytes);
  }
  size_t max_bytes() const override { return PhysicalMemory(); }
};

// A tensor that packed functions may write to, with the elements of another one.
Tensor WritableCopy(const NDArray& array) {
  const std::shared_ptr<Storage> storage = Storage::Make(array.num_bytes());
  if (array.num_bytes() > 0) std::memcpy(storage->data(), array.data(), array.num_bytes());
  storage->SetWritten(0, array.num_bytes(), true);
  return NDArray::View(array.dtype(), array.shape(), storage, 0);
}

py::object CallPacked(const std::string& name, const py::args& args) {
  const auto session = Session::Current();
  std::vector<HostValue> values;
  for (const py::handle arg : args) {
    values.push_back(ToHost(arg));
    if (IsWritableTensor(arg)) values.back() = WritableCopy(*values.back().tensor());
  }
  PythonPackedContext context;
  const HostValue result = Log(session->sources()).Check(BuiltinPackedFuncs().Call(name, values, context));
  for (size_t i = 0; i < values.size(); ++i) {
    if (IsWritableTensor(args[i])) WriteTo(args[i], std::get<Tensor>(values[i].state));
  }
  return FromHost(result);
}

// The inputs of a function in a list of arguments, and the objects that they come from.
struct Inputs {
  std::vector<HostValue> values;
  std::vector<py::object> given;
};

// A tensor whose memory is not that of the object: it is written to.
HostValue CopyOnWrite(HostValue value, const EntryInput& input, py::handle given) {
  if (!CanWriteTo(given))
    throw py::type_error(fmt::format("the argument '{}' is written to, but it cannot be changed", input.name));
  const auto* tensor = std::get_if<Tensor>(&value.state);
  if (tensor == nullptr || *tensor == nullptr) return value;
  const NDArray& array = **tensor;
  return Tensor(NDArray::View(array.dtype(), array.shape(), array.data(), *tensor));
}

// Fields of tuples are inputs of their own, as far as their types are known.
void AddInputs(py::handle value, const Entry& entry, Inputs& inputs) {
  if (inputs.values.size() >= entry.inputs().size()) throw py::type_error("too many arguments");
  const EntryInput& input = entry.inputs()[inputs.values.size()];
  // A shape is not a list of fields.
  const bool is_list =
      (PyTuple_Check(value.ptr()) != 0 || PyList_Check(value.ptr()) != 0) && !py::hasattr(value, "_is_shape_");
  // A parameter that may be any object takes a whole tuple.
  const bool has_fields = input.kind == EntryInput::Kind::kTensor || input.kind == EntryInput::Kind::kScalar;
  if (is_list && has_fields) {
    for (py::handle field : py::reinterpret_borrow<py::sequence>(value)) AddInputs(field, entry, inputs);
    return;
  }
  HostValue made = ToInput(value, input);
  inputs.values.push_back(input.is_written ? CopyOnWrite(std::move(made), input, value) : std::move(made));
  inputs.given.push_back(py::reinterpret_borrow<py::object>(value));
}

// Gives the objects that a PrimFunc writes to their new elements.
void WriteOutputs(const Entry& entry, const Inputs& inputs, const TupleValue& outputs) {
  size_t output = 0;
  for (size_t i = 0; i < inputs.given.size(); ++i) {
    if (!entry.inputs()[i].is_written) continue;
    const auto* tensor = std::get_if<Tensor>(&outputs.fields[output++].state);
    if (tensor != nullptr) WriteTo(inputs.given[i], *tensor);
  }
}

// Lets a run write to the tensors among its arguments that programs may change: functions of Python and operators that
// work in place do.
void LendInputs(Inputs& inputs, WritableTensors& writable) {
  for (size_t i = 0; i < inputs.given.size(); ++i) {
    auto* tensor = std::get_if<Tensor>(&inputs.values[i].state);
    if (tensor == nullptr || !IsWritableTensor(inputs.given[i])) continue;
    const Tensor original = *tensor;
    const auto wrapped = Storage::Wrap(const_cast<std::byte*>(original->data()), original->num_bytes());
    // What stays of the run keeps the memory.
    const std::shared_ptr<Storage> storage(wrapped.get(), [wrapped, original](Storage*) {});
    *tensor = NDArray::View(original->dtype(), original->shape(), storage, 0);
    writable[tensor->get()] = {*tensor, inputs.given[i]};
  }
}

// A result: an argument that the run has passed on is the object that was given.
py::object FromRun(const HostValue& value, const WritableTensors& writable) {
  if (const auto* tensor = std::get_if<Tensor>(&value.state)) {
    const auto given = writable.find(tensor->get());
    if (given != writable.end()) return given->second.object;
  }
  const TupleValue* tuple = value.tuple();
  if (tuple == nullptr) return FromHost(value);
  py::tuple fields(tuple->fields.size());
  for (size_t i = 0; i < tuple->fields.size(); ++i) fields[i] = FromRun(tuple->fields[i], writable);
  return fields;
}

// The tensor that a PrimFunc writes its result to, unless its caller gives one.
HostValue NewOutput(const EntryInput& input, Storage::Tracking tracking) {
  std::vector<int64_t> shape;
  for (const PrimExpr* dim : input.dims) {
    const auto* extent = As<tir::IntImm>(dim);
    if (extent == nullptr)
      throw py::type_error(fmt::format("the argument '{}', whose shape varies, is missing", input.name));
    shape.push_back(extent->value);
  }
  const std::optional<uint64_t> bytes = ArrayBytes(input.dtype, shape);
  if (!bytes || *bytes > PhysicalMemory()) throw py::value_error(fmt::format("'{}' is too big", input.name));
  return Tensor(NDArray::View(input.dtype, shape, Storage::Make(*bytes, tracking), 0));
}

class Execution {
 public:
  Execution(const Module& module, LoopMode mode) : mode_(mode), meter_(work_) {
    options_.limits.work = &work_;
    options_.limits.on_work = &on_work_;
    executor_ = std::make_unique<LoopExecutor>(module, mode, library_, options_.limits, meter_);
    options_.prim_funcs = executor_.get();
    if (RoundsOnce(module)) options_.operators = &wide_;
  }

  RunOptions& options() { return options_; }
  Status Prepare() {
    if (mode_ != LoopMode::Compile) return {};
    Result<std::shared_ptr<codegen::LoopCompiler>> loaded = library_.Get();
    if (!loaded.ok()) return loaded.TakeError();
    return {};
  }

 private:
  LoopMode mode_;
  uint64_t work_ = 0;
  Signals signals_;  // so that Ctrl-C ends a run
  const std::function<void()> on_work_ = [this] { signals_.Check(); };
  RunMeter meter_;
  LoopLibrary library_;
  WideArithmetic wide_;
  RunOptions options_;
  std::unique_ptr<LoopExecutor> executor_;
};

py::object Run(const PyModule& module, const std::string& name, const py::list& args, const std::string& loops,
               uint64_t seed, const PackedFuncs& packed) {
  const Build build;
  // A copy, since programs of Python may change the module meanwhile.
  const Module functions = module.module();  // NOLINT(performance-unnecessary-copy-initialization)
  const ModuleEntry* found = functions.Find(std::string_view(name));
  if (found == nullptr || Is<ExternFunc>(found->func))
    throw py::key_error(fmt::format("the module has no function '{}' to run", name));
  const Entry entry = Entry::Of(*found);
  Execution execution(functions, ModeOf(loops));
  Inputs inputs;
  for (py::handle arg : args) AddInputs(arg, entry, inputs);
  std::vector<HostValue>& values = inputs.values;
  // Outputs of a PrimFunc may be left out.
  while (values.size() < entry.inputs().size() && entry.inputs()[values.size()].is_written)
    values.push_back(NewOutput(entry.inputs()[values.size()], execution.options().prim_funcs->tracking()));
  if (values.size() < entry.inputs().size())
    throw py::type_error(fmt::format("the argument '{}' is missing", entry.inputs()[values.size()].name));
  Log log(module.session()->sources());
  execution.options().seed = seed;
  PythonCalls calls;
  if (entry.relax() != nullptr) LendInputs(inputs, calls.writable);
  const bool has_functions = !packed.empty() || !PythonCallables().empty();
  const std::optional<PackedRegistry> registry =
      has_functions ? std::optional(RegistryWith(packed, calls)) : std::nullopt;
  const RunningModule running(module);
  if (registry) execution.options().packed = &*registry;
  execution.options().print = [](std::string_view line) {
    const py::gil_scoped_acquire lock;
    py::print(py::str(line.data(), line.size()));
  };
  std::optional<Result<HostValue>> result;
  {
    const py::gil_scoped_release unlocked;
    Status prepared = execution.Prepare();
    if (prepared.ok()) {
      result = CallEntry(functions, entry, std::move(values), log.engine(), execution.options());
    } else {
      result = prepared.TakeError();
    }
  }
  if (calls.thrown) std::rethrow_exception(calls.thrown);
  const HostValue value = log.Check(*std::move(result));
  const TupleValue* outputs = value.tuple();
  if (entry.prim() != nullptr && outputs != nullptr) WriteOutputs(entry, inputs, *outputs);
  if (entry.prim() != nullptr && outputs != nullptr && outputs->fields.size() == 1) return FromHost(outputs->fields[0]);
  return FromRun(value, calls.writable);
}

// Compares what the public functions of two modules compute; what was found, and the reason if something was not
// compared.
py::str CheckSemantics(const PyModule& before, const PyModule& after, uint64_t seed, const std::string& loops,
                       std::optional<double> rtol, std::optional<double> atol, const std::vector<std::string>& inputs) {
  const Build build;
  DiagnosticBuffer buffer;
  CompilerInstance compiler(CompilerOptions{}, buffer);
  Log log(before.session()->sources());
  Signals signals;
  const SemanticCheckOptions options{.each = false,
                                     .seed = static_cast<int64_t>(seed),
                                     .loops = ModeOf(loops),
                                     .inputs = log.Check(InputKinds::Of(inputs)),
                                     .tolerance = {.relative = rtol, .absolute = atol},
                                     .on_work = [&signals] { signals.Check(); }};
  std::shared_ptr<SemanticCheck> check =
      log.Check(SemanticCheck::Make(compiler.diagnostics(), compiler.err(), options, NetworkMode::Auto));
  Status status;
  {
    const py::gil_scoped_release unlocked;
    check->Begin(before.module());
    status = check->RunAfterPass(after.module(), {.name = "all passes"}, PassOutcome::Changed);
    if (status.ok()) status = check->FinishComparing(after.module());
  }
  buffer.ReplayInto(log.engine());
  if (!status.ok()) log.Throw(status.error());
  log.CheckErrors();
  return check->first_not_compared();
}

}  // namespace

void AddRunning(py::module_& m) {
  m.def("run", &Run, py::arg("module"), py::arg("name"), py::arg("args"), py::arg("loops") = "interpret",
        py::arg("seed") = 0, py::arg("packed") = PackedFuncs());
  m.def("call_packed", &CallPacked, py::arg("name"));
  m.def("has_packed", [](const std::string& name) { return BuiltinPackedFuncs().Find(name) != nullptr; });
  m.def("check_semantics", &CheckSemantics, py::arg("before"), py::arg("after"), py::arg("seed") = 0,
        py::arg("loops") = "auto", py::arg("rtol") = py::none(), py::arg("atol") = py::none(),
        py::arg("inputs") = InputKinds().Words());
}

}  // namespace iropt::python

#include "host_values.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "session.h"
#include "tensor.h"
#include "values.h"

namespace iropt::python {

namespace {

constexpr std::string_view kObjectName = "an object of Python";

std::map<std::string, PyObject*>& Callables() {
  static std::map<std::string, PyObject*> callables;
  return callables;
}

// An object of Python in a run: a function value, since these are what runs pass on without looking at them. One that
// can be called is so under the name of its function.
struct ObjectValue : FunctionValue {
  py::object object;
  NodeRef node;
  std::string symbol;
};

HostValue MakeObject(py::handle object) {
  static uint64_t count = 0;
  Build build;
  auto* made = new ObjectValue;
  made->symbol = fmt::format("{} #{}", kObjectName, ++count);
  auto* function = build.workspace().New<ExternFunc>(build.arena().CopyString(made->symbol), DictAttr::Empty(), nullptr);
  made->node = build.Made(function);
  made->function = function;
  made->name = kObjectName;
  made->object = py::reinterpret_borrow<py::object>(object);
  if (PyCallable_Check(object.ptr()) != 0) Callables()[made->symbol] = object.ptr();
  // The last reference may go in any thread.
  return HostValue::CalleeRef(made, [](const FunctionValue* value) {
    if (Py_IsInitialized() == 0) return;
    const py::gil_scoped_acquire lock;
    const std::unique_ptr<const ObjectValue> owned(static_cast<const ObjectValue*>(value));
    Callables().erase(owned->symbol);
  });
}

// The object that a value of a run is; null if it is another value.
const ObjectValue* ObjectOf(const FunctionValue& value) {
  return value.name.data() == kObjectName.data() ? static_cast<const ObjectValue*>(&value) : nullptr;
}

thread_local const PyModule* running_module = nullptr;

// A value that Python can only pass on: storage, and functions, which it can call if they are those of a module.
struct RunValue {
  HostValue value;
  std::optional<PyModule> module;  // of a function

  std::optional<std::string> name() const {
    const FunctionValue* function = value.function();
    if (function == nullptr) return std::nullopt;
    return std::string(function->name);
  }
  // Closures have values that only their run knows.
  bool is_global() const {
    const FunctionValue* function = value.function();
    return module && function != nullptr && function->captured.empty() && function->bound.empty() &&
           module->module().Find(function->name) != nullptr;
  }
};

py::object FunctionToPython(const HostValue& value) {
  if (const ObjectValue* object = ObjectOf(*value.function())) return object->object;
  RunValue made{value, std::nullopt};
  if (running_module != nullptr) made.module.emplace(running_module->module(), running_module->session());
  return py::cast(std::move(made));
}

}  // namespace

const std::map<std::string, PyObject*>& PythonCallables() { return Callables(); }

RunningModule::RunningModule(const PyModule& module) : outer_(std::exchange(running_module, &module)) {}
RunningModule::~RunningModule() { running_module = outer_; }

HostValue ToHost(py::handle value) {
  if (value.is_none()) return {};
  if (py::isinstance<RunValue>(value)) return value.cast<const RunValue&>().value;
  if (PyTuple_Check(value.ptr()) != 0 && py::hasattr(value, "_is_shape_")) return value.cast<ShapeValue>();
  if (PyTuple_Check(value.ptr()) != 0 || PyList_Check(value.ptr()) != 0) {
    TupleValue tuple;
    for (py::handle field : py::reinterpret_borrow<py::sequence>(value)) tuple.fields.push_back(ToHost(field));
    return tuple;
  }
  if (PyUnicode_Check(value.ptr()) != 0) return HostValue(std::string_view(value.cast<std::string>()));
  if (py::isinstance<py::bool_>(value)) return Scalar::Int(value.cast<bool>() ? 1 : 0, DataType::Bool());
  if (py::isinstance<py::int_>(value)) return Scalar::Int(value.cast<int64_t>());
  if (py::isinstance<py::float_>(value)) return Scalar::Float(value.cast<double>());
  if (Tensor tensor = ArgumentFromPython(value)) return tensor;
  return MakeObject(value);
}

py::object FromHost(const HostValue& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value.state)) return TensorToPython(*tensor);
  if (const ShapeValue* shape = value.shape()) return py::tuple(py::cast(*shape));
  if (const Scalar* scalar = value.scalar()) {
    if (scalar->dtype.is_floating()) return py::float_(scalar->real);
    return py::int_(scalar->integer);
  }
  if (const TupleValue* tuple = value.tuple()) {
    py::tuple fields(tuple->fields.size());
    for (size_t i = 0; i < tuple->fields.size(); ++i) fields[i] = FromHost(tuple->fields[i]);
    return fields;
  }
  if (const auto* text = std::get_if<std::string>(&value.state)) return py::str(*text);
  if (const auto* dtype = std::get_if<DataType>(&value.state)) return py::str(dtype->ToString());
  if (value.function() != nullptr) return FunctionToPython(value);
  if (std::holds_alternative<std::shared_ptr<Storage>>(value.state)) return py::cast(RunValue{value, std::nullopt});
  return py::none();
}

void AddHostValues(py::module_& m) {
  py::class_<RunValue>(m, "RunValue", "A value of a run that Python can only pass on, or a function of its module.")
      .def_property_readonly("name", &RunValue::name)
      .def_property_readonly("is_global", &RunValue::is_global)
      .def_property_readonly("module", [](const RunValue& value) { return value.module; });
}

}  // namespace iropt::python

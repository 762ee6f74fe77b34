#include "script_host.h"

#include <fmt/format.h>

#include <string_view>

#include "iropt/ir/clone.h"
#include "iropt/ir/location.h"
#include "name_walk.h"
#include "values.h"

namespace iropt::python {

namespace {

using Kind = PyValue::Kind;

std::string TypeNameOf(py::handle value) { return Py_TYPE(value.ptr())->tp_name; }

}  // namespace

// The nodes that one function and the program exchange.
class PythonScriptHost::Exchange {
 public:
  Exchange(Build& build, const HostScope& scope)
      : build_(build),
        workspace_(scope.workspace),
        to_program_(build.workspace(), {.copy_free_vars = true}),
        to_script_(workspace_, {.own_sym_vars = scope.is_prim_func, .copy_free_vars = true}) {}

  // A variable of the program that the script declares.
  void Identify(const tir::Var* in_script, const NodeRef& in_program) {
    const auto* var = To<tir::Var>(in_program.node);
    build_.Use(in_program.keep);
    to_program_.Map(in_script, var);
    to_script_.Map(var, in_script);
    known_.insert(in_script);
  }

  py::object ToProgram(const PyValue& value) {
    switch (value.kind) {
      case Kind::kNone: return py::none();
      case Kind::kBool: return py::bool_(value.boolean);
      case Kind::kInt: return py::int_(value.integer);
      case Kind::kFloat: return py::float_(value.real);
      case Kind::kString: return py::str(value.text.data, value.text.size);
      case Kind::kDType: return py::str(value.dtype.ToString());
      case Kind::kAttr: return AttrToPython(value.attr, build_.Made(nullptr).keep);
      case Kind::kExpr: return Give(value.expr);
      case Kind::kPrim: return Give(value.prim);
      case Kind::kType: return Give(value.type);
      case Kind::kBuffer: return Give(value.buffer);
      case Kind::kRegion: return Give(value.region);
      case Kind::kIterVar: return Give(value.iter_var);
      case Kind::kRange: return Give(value.range);
      case Kind::kReducer: return Give(value.reducer);
      case Kind::kPointerType: break;
      case Kind::kList:
      case Kind::kTuple:
      case Kind::kTvmArray: return ListToProgram(value);
    }
    throw py::type_error("this value of a script can't be given to a function of Python");
  }

  PyValue ToScript(py::handle value, Span span) {
    if (value.is_none()) return PyValue::None(span);
    if (py::isinstance<py::bool_>(value)) return PyValue::Bool(value.cast<bool>(), span);
    if (PyLong_Check(value.ptr()) != 0) return PyValue::Int(value.cast<int64_t>(), span);
    if (PyFloat_Check(value.ptr()) != 0) return PyValue::Float(value.cast<double>(), span);
    if (PyUnicode_Check(value.ptr()) != 0)
      return PyValue::String(workspace_.arena().CopyString(value.cast<std::string>()), span);
    if (IsNode(value) || py::hasattr(value, "_node_")) return TakeNode(value, span);
    if (PyTuple_Check(value.ptr()) != 0 || PyList_Check(value.ptr()) != 0) return ListToScript(value, span);
    if (PyDict_Check(value.ptr()) != 0) return {ToAttr(value, build_), span};
    throw py::type_error(fmt::format("a script has no value of type {}", TypeNameOf(value)));
  }

 private:
  template <class X>
  py::object Give(const X* node) {
    const X* copy = to_program_.Clone(node);
    const auto found = [this](const Node* name) { IdentifyCopy(name); };
    NameWalk<decltype(found)>(known_, found).Visit(node);
    return ToPython(copy, build_.Made(copy).keep);
  }

  // The copy of a variable or a buffer stands for it when it comes back.
  void IdentifyCopy(const Node* name) {
    if (const auto* var = As<tir::Var>(name)) {
      if (!var->context_owned()) to_script_.Map(To<tir::Var>(to_program_.Clone(static_cast<const Node*>(var))), var);
    } else if (const auto* buffer = As<tir::Buffer>(name)) {
      to_script_.Map(to_program_.Clone(buffer), buffer);
    } else if (Var::ClassOf(name->kind)) {
      to_script_.Map(To<Var>(to_program_.Clone(name)), static_cast<const Var*>(name));
    }
  }

  py::object ListToProgram(const PyValue& value) {
    std::vector<py::object> items;
    for (const PyValue& item : value.items()) items.push_back(ToProgram(item));
    if (value.is(Kind::kTvmArray)) return MakeArray(std::move(items));
    py::list list;
    for (const py::object& item : items) list.append(item);
    return value.is(Kind::kList) ? py::object(list) : py::object(py::tuple(list));
  }

  PyValue ListToScript(py::handle value, Span span) {
    std::vector<PyValue> items;
    for (const py::handle item : py::reinterpret_borrow<py::sequence>(value)) items.push_back(ToScript(item, span));
    const Kind kind = PyList_Check(value.ptr()) != 0 ? Kind::kList : Kind::kTuple;
    return {kind, workspace_.arena().Copy(std::span<const PyValue>(items)), span};
  }

  PyValue TakeNode(py::handle value, Span span) {
    const Node* node = ToNode(value, build_);
    PyValue out = PyValue::None(span);
    const auto take = [&](Kind kind, auto& field, const auto* exact) {
      out.kind = kind;
      field = to_script_.Clone(exact);
    };
    if (const auto* type = As<Type>(node)) return {to_script_.Clone(type), span};
    if (const auto* attr = As<Attr>(node)) return {to_script_.Clone(attr), span};
    if (const auto* prim = As<PrimExpr>(node)) {
      out = PyValue(to_script_.Clone(prim));
    } else if (const auto* buffer = As<tir::Buffer>(node)) {
      out = {to_script_.Clone(buffer), span};
    } else if (const auto* region = As<tir::BufferRegion>(node)) {
      take(Kind::kRegion, out.region, region);
    } else if (const auto* iter_var = As<tir::IterVar>(node)) {
      take(Kind::kIterVar, out.iter_var, iter_var);
    } else if (const auto* range = As<tir::Range>(node)) {
      take(Kind::kRange, out.range, range);
    } else if (const auto* reducer = As<tir::CommReducer>(node)) {
      take(Kind::kReducer, out.reducer, reducer);
    } else if (const auto* expr = As<Expr>(node)) {
      out = PyValue(to_script_.Clone(expr));
    } else {
      throw py::type_error(fmt::format("a script has no place for a value of type {}", TypeNameOf(value)));
    }
    out.span = span;
    return out;
  }

  Build& build_;
  Workspace& workspace_;
  Cloner to_program_;
  Cloner to_script_;
  LookupSet<const Node*> known_;
};

PythonScriptHost::PythonScriptHost(Build& build, py::object call, CapturedVars captured)
    : build_(build), call_(std::move(call)), captured_(std::move(captured)) {}

PythonScriptHost::~PythonScriptHost() = default;

PythonScriptHost::Exchange& PythonScriptHost::ExchangeOf(const HostScope& scope, FindName find) {
  std::unique_ptr<Exchange>& exchange = exchanges_[&scope.workspace];
  if (exchange == nullptr) {
    exchange = std::make_unique<Exchange>(build_, scope);
    for (const auto& [name, var] : captured_) {
      const Node* node = find(name);
      if (node != nullptr && Is<tir::Var>(node)) exchange->Identify(To<tir::Var>(node), var);
    }
  }
  return *exchange;
}

bool PythonScriptHost::Call(int64_t index, const PyArgs& args, const HostScope& scope, FindName find, PyValue& out) {
  const py::gil_scoped_acquire lock;
  try {
    Exchange& exchange = ExchangeOf(scope, find);
    py::list values;
    for (const PyValue& value : args.positional) values.append(exchange.ToProgram(value));
    out = exchange.ToScript(call_(index, values), args.span);
    return true;
  } catch (py::error_already_set& error) {
    const std::string type = py::str(error.type().attr("__name__"));
    scope.diagnostics.Error(Location(args.span), "bad-expression", fmt::format("{}: {}", type, std::string(py::str(error.value()))));
    if (!raised_) raised_.emplace(error);
  } catch (const std::exception& error) {
    scope.diagnostics.Error(Location(args.span), "bad-expression", error.what());
  }
  return false;
}

}  // namespace iropt::python

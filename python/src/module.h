// Modules in Python.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <string_view>

#include "iropt/ir/module.h"
#include "node.h"
#include "session.h"

namespace iropt::python {

// The class Module of Python: a module that can be changed, with its session.
class PyModule {
 public:
  PyModule(Module module, std::shared_ptr<Session> session)
      : session_(std::move(session)), module_(std::move(module)) {}
  // A module that the caller of Python has, which is copied only if it is needed longer; see CallWithModule.
  PyModule(const Module* borrowed, std::shared_ptr<Session> session)
      : session_(std::move(session)), borrowed_(borrowed) {}

  const Module& module() const { return borrowed_ != nullptr ? *borrowed_ : *module_; }
  Module& mutable_module() {
    Own();
    return *module_;
  }
  // Copies a borrowed module.
  void Own() {
    if (borrowed_ == nullptr) return;
    module_ = *borrowed_;
    borrowed_ = nullptr;
  }
  const std::shared_ptr<Session>& session() const { return session_; }
  // The bytes of nodes in the file that the module was read from which it does not need, or 0.
  uint64_t left_out() const { return left_out_; }
  void set_left_out(uint64_t bytes) { left_out_ = bytes; }
  // The function with what keeps it alive.
  NodeRef Get(const ModuleEntry& entry) const { return {entry.func, session_->KeepOf(entry.storage)}; }

 private:
  std::shared_ptr<Session> session_;
  const Module* borrowed_ = nullptr;
  std::optional<Module> module_;  // unless it is borrowed
  uint64_t left_out_ = 0;
};

// Calls f with a module of Python that refers to `module` without a copy, as long as nobody keeps it.
template <class F>
py::object CallWithModule(const Module& module, F&& f) {
  const py::object object = py::cast(PyModule(&module, Session::Current()));
  py::object result;
  try {
    result = f(object);
  } catch (...) {
    object.cast<PyModule&>().Own();
    throw;
  }
  if (Py_REFCNT(object.ptr()) > 1) object.cast<PyModule&>().Own();
  return result;
}

// A function for a module: the node itself where it is a function of a module, else a copy with storage and numbers of
// variables of its own. In the context of the session.
struct StoredFunction {
  const BaseFunc* func;
  FuncStorageRef storage;
};
StoredFunction StoreFunction(const NodeRef& ref);
// A copy of the function, whose symbolic variables, which code that Python makes has, are variables of its own.
const PrimFunc* CopyPrimFunc(const PrimFunc* func, Workspace& workspace);

void AddModuleType(py::module_& m);

}  // namespace iropt::python

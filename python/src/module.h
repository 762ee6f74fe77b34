// Modules in Python.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string_view>

#include "iropt/ir/module.h"
#include "node.h"
#include "session.h"

namespace iropt::python {

// What Python calls _Module: a module that can be changed, with its session.
class PyModule {
 public:
  PyModule(Module module, std::shared_ptr<Session> session)
      : session_(std::move(session)), module_(std::move(module)) {}

  const Module& module() const { return module_; }
  Module& mutable_module() { return module_; }
  const std::shared_ptr<Session>& session() const { return session_; }
  // The function with what keeps it alive.
  NodeRef Get(const ModuleEntry& entry) const { return {entry.func, session_->KeepOf(entry.storage)}; }

 private:
  std::shared_ptr<Session> session_;
  Module module_;
};

// A function for a module: the node itself where it is a function of a module, else a copy with storage and numbers of
// variables of its own. In the context of the session.
struct StoredFunction {
  const BaseFunc* func;
  FuncStorageRef storage;
};
StoredFunction StoreFunction(const NodeRef& ref);

void AddModuleType(py::module_& m);

}  // namespace iropt::python

// Passes whose work a function of Python does.
#include <string>

#include "iropt/ir/clone.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/ir/tir/stmt.h"
#include "module.h"
#include "node.h"
#include "pass_handle.h"

namespace iropt::python {

namespace {

using CallbackRef = std::shared_ptr<const Callback>;

// The result of the function for one part of a module. The interpreter lock is held.
NodeRef CallOnPart(const Callback& callback, const Node* part, const FunctionPassContext& context) {
  const py::object node = ToPython(part, Session::Current()->KeepOf(context.storage()));
  const py::object result =
      CallWithModule(context.module(), [&](const py::object& module) { return (*callback)(node, module); });
  if (!IsNode(result)) throw py::type_error("a pass must return what it was given, or a new one");
  return GetNode(result);
}

template <class F>
Result<const F*> RunOnFunction(const Callback& callback, const F* func, FunctionPassContext& context) {
  const py::gil_scoped_acquire lock;
  const NodeRef result = CallOnPart(callback, func, context);
  if (result.node == func) return func;
  const auto* changed = As<F>(result.node);
  if (changed == nullptr) throw py::type_error("the pass returned another kind of node than it was given");
  return To<F>(CloneFunction(changed, context.workspace()));
}

Result<const DataflowBlock*> RunOnBlock(const Callback& callback, const DataflowBlock* block,
                                        FunctionPassContext& context) {
  const py::gil_scoped_acquire lock;
  const NodeRef result = CallOnPart(callback, block, context);
  if (result.node == block) return block;
  const auto* changed = As<DataflowBlock>(result.node);
  if (changed == nullptr) throw py::type_error("the pass returned another kind of node than a DataflowBlock");
  // The bindings after the block refer to its variables.
  Cloner cloner(context.workspace());
  for (const Binding* binding : block->bindings) cloner.Map(binding->var, binding->var);
  return cloner.Clone(changed);
}

Result<Module> RunOnModule(const Callback& callback, Module module) {
  const py::gil_scoped_acquire lock;
  const py::object result = (*callback)(PyModule(std::move(module), Session::Current()));
  return result.cast<const PyModule&>().module();
}

}  // namespace

std::shared_ptr<PassHandle> MakePythonPass(PassKind kind, py::object function, PassInfo info) {
  const auto callback = std::make_shared<const Callback>(std::move(function));
  info.kind = kind;
  // The interpreter runs one of them at a time anyway.
  info.is_serial = true;
  const auto make = [callback, info](Log&) {
    switch (info.kind) {
      case PassKind::Function:
        return CreateFunctionPass(info, FunctionPassFn([callback](const Function* func, FunctionPassContext& context) {
                                    return RunOnFunction(*callback, func, context);
                                  }));
      case PassKind::PrimFunc:
        return CreatePrimFuncPass(info, [callback](const PrimFunc* func, FunctionPassContext& context) {
          return RunOnFunction(*callback, func, context);
        });
      case PassKind::DataflowBlock:
        return CreateDataflowBlockPass(info, [callback](const DataflowBlock* block, FunctionPassContext& context) {
          return RunOnBlock(*callback, block, context);
        });
      default:
        return CreateModulePass(
            info, [callback](Module module, ModulePassContext&) { return RunOnModule(*callback, std::move(module)); });
    }
  };
  return std::make_shared<PassHandle>(info, make);
}

}  // namespace iropt::python

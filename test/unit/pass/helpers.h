// Small modules, passes that leave a trace, and collected diagnostics for the tests of the pass manager.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/context.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/registry.h"

namespace iropt {

using Log = std::vector<std::string>;

// Collects diagnostics as "kind: message", notes as "  message".
class Reports {
 public:
  Reports() : engine_(&buffer_) {}
  DiagnosticEngine& engine() { return engine_; }
  DiagnosticConsumer& consumer() { return buffer_; }
  const std::vector<Diagnostic>& all() const { return buffer_.diagnostics(); }
  Log texts() const {
    Log texts;
    for (const Diagnostic& d : all()) texts.push_back(std::string(d.kind) + ": " + d.message);
    return texts;
  }

 private:
  DiagnosticBuffer buffer_;
  DiagnosticEngine engine_;
};

// def NAME(x: R.Tensor((2,), "float32")): with dataflow block { lv = x; gv = lv }, return gv
inline void AddFunction(Module& module, std::string_view name, const DictAttr* attrs = DictAttr::Empty()) {
  Workspace workspace;
  const PrimExpr* dims[] = {IRContext::Current().Int(2)};
  const Type* type = TensorType::Get(dims, DataType::Float(32));
  const Var* x = workspace.NewVar("x", type);
  const Var* local = workspace.NewDataflowVar("lv", type);
  const Var* output = workspace.NewVar("gv", type);
  const Binding* bindings[] = {workspace.New<VarBinding>(local, x), workspace.New<VarBinding>(output, local)};
  const BindingBlock* blocks[] = {
      workspace.New<DataflowBlock>(workspace.Copy(std::span<const Binding* const>(bindings)))};
  const auto* body = workspace.New<SeqExpr>(workspace.Copy(std::span<const BindingBlock* const>(blocks)), output, type);
  const Var* params[] = {x};
  const Type* types[] = {type};
  const auto* function = workspace.New<Function>(workspace.Copy(std::span<const Var* const>(params)), body, type, true,
                                                 attrs, FuncType::Get(types, type));
  module.Set(GlobalVar::Get(name), function, workspace.Finish());
}

inline void AddPrimFunc(Module& module, std::string_view name) {
  Workspace workspace;
  const auto* body = workspace.New<tir::Evaluate>(IRContext::Current().Int(0, DataType::Int(32)));
  const Type* nothing = TupleType::Get({});
  const auto* function = workspace.New<PrimFunc>(List<const tir::Var*>(), List<const tir::Buffer*>(), body, nothing,
                                                 DictAttr::Empty(), FuncType::Get({}, nothing, false));
  module.Set(GlobalVar::Get(name), function, workspace.Finish());
}

inline Module MakeModule(const std::vector<std::string>& names) {
  Module module;
  for (const std::string& name : names) AddFunction(module, name);
  return module;
}

// The same function with one more attribute.
inline const Function* WithAttribute(const Function* f, std::string_view key, Workspace& workspace) {
  return workspace.New<Function>(f->params, f->body, f->ret_type, f->is_pure, f->attrs->With(key, IntAttr::Get(1)),
                                 f->type);
}

// A factory of module passes that change nothing.
inline Pass CreateNothing(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext&) -> Result<Module> { return module; });
}

// A module pass that writes its name into the log and changes nothing.
inline Pass Tracer(Log& log, std::string name, int opt_level = 0, std::vector<std::string> required = {}) {
  PassInfo info{.name = name, .opt_level = opt_level, .required = std::move(required)};
  return CreateModulePass(info, [&log, name](Module module, ModulePassContext&) -> Result<Module> {
    log.push_back(name);
    return module;
  });
}

// A module pass that counts an attribute of the module up to `limit`, and changes nothing afterwards.
inline Pass Counting(int64_t limit) {
  return CreateModulePass({.name = "Counting"}, [limit](Module module, ModulePassContext&) -> Result<Module> {
    const auto* count = As<IntAttr>(module.attrs()->Find("count"));
    const int64_t value = count == nullptr ? 0 : count->value;
    if (value < limit) module.set_attrs(module.attrs()->With("count", IntAttr::Get(value + 1)));
    return module;
  });
}

inline int64_t CountOf(const Module& module) {
  const auto* count = As<IntAttr>(module.attrs()->Find("count"));
  return count == nullptr ? 0 : count->value;
}

}  // namespace iropt

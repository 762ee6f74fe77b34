#include "private_functions.h"

#include "iropt/analysis/relax/called_functions.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/relax/walk.h"

namespace iropt {

namespace {

// Counts references to functions, and those of them that are calls.
struct ReferenceCounter : WalkHandler {
  ReferenceCounter(const Module& m, FunctionRef<bool(size_t, const Call&)> a)
      : module(m), accepts(a), balance(m.size(), 0) {}

  void OnGlobal(const GlobalVar* var) {
    if (const int index = module.IndexOf(var); index >= 0) ++balance[static_cast<size_t>(index)];
  }
  void OnCall(const Call& call) {
    const int index = CalleeIndex(module, call);
    if (index < 0) return;
    const auto callee = static_cast<size_t>(index);
    const auto* function = As<Function>(module.functions()[callee].func);
    if (function && function->params.size() == call.args.size() && accepts(callee, call)) --balance[callee];
  }

  const Module& module;
  FunctionRef<bool(size_t, const Call&)> accepts;
  std::vector<int64_t> balance;  // by index: references that are not acceptable calls
};

}  // namespace

std::vector<bool> ChangeableFunctions(const Module& module, FunctionRef<bool(size_t, const Call&)> accepts) {
  ReferenceCounter references(module, accepts);
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) {
      Walk(*function, references);
    } else {
      for (const GlobalVar* var : CalledFunctions::Compute(*entry.func, *entry.storage)) references.OnGlobal(var);
    }
  }
  std::vector<bool> changeable(module.size());
  for (size_t i = 0; i < module.size(); ++i) {
    const BaseFunc* function = module.functions()[i].func;
    changeable[i] = Is<Function>(function) && !function->attrs->Find(attr::kGlobalSymbol) && references.balance[i] == 0;
  }
  return changeable;
}

int CalleeIndex(const Module& module, const Call& call) {
  const auto* callee = As<GlobalVar>(call.op);
  return callee ? module.IndexOf(callee) : -1;
}

std::vector<const Type*> TypesOf(std::span<const Expr* const> operands, const Module& module) {
  std::vector<const Type*> types;
  for (const Expr* operand : operands) types.push_back(TypeOfExpr(operand, &module));
  return types;
}

std::vector<const Type*> TypesOf(std::span<const Var* const> params) {
  std::vector<const Type*> types;
  for (const Var* param : params) types.push_back(param->type);
  return types;
}

const Function* WithSignature(const Function& old, std::span<const Var* const> params, const Expr* body,
                              const Type* ret_type, const Module& module, Workspace& workspace) {
  auto* function = workspace.New<Function>(workspace.Copy(params), body, ret_type, old.is_pure, old.attrs, nullptr);
  function->set_span(old.span());
  InferContext infer(&module, workspace.arena(), nullptr);
  function->type = InferType(function, infer);
  return function;
}

}  // namespace iropt

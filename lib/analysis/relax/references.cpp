#include "iropt/analysis/relax/references.h"

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

struct ReferenceFinder : WalkHandler {
  ReferenceFinder(const Module& m, FunctionRef<bool(size_t)> w, const Node& function)
      : module(m), wanted(w), place(&function) {}

  void OnBinding(const Binding& binding) {
    if (found) return;
    // Functions have no locations of their own.
    const Expr* value = ValueOf(&binding);
    place = Is<GlobalVar>(value) ? static_cast<const Node*>(binding.var) : value;
  }
  void OnGlobal(const GlobalVar* var) {
    const int index = found ? -1 : module.IndexOf(var);
    if (index >= 0 && wanted(static_cast<size_t>(index))) found = var;
  }

  const Module& module;
  FunctionRef<bool(size_t)> wanted;
  const Node* place;
  const GlobalVar* found = nullptr;
};

}  // namespace

int CalleeIndex(const Module& module, const Call& call) {
  const auto* callee = As<GlobalVar>(call.op);
  return callee ? module.IndexOf(callee) : -1;
}

std::vector<bool> FunctionsWithOnlyDirectCalls(const Module& module, CalledFunctionsSource called,
                                               FunctionRef<bool(size_t, const Call&)> accepts) {
  ReferenceCounter references(module, accepts);
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) {
      Walk(*function, references);
    } else {
      const auto callees = called(entry);
      for (const GlobalVar* var : *callees) references.OnGlobal(var);
    }
  }
  std::vector<bool> result(module.size());
  for (size_t i = 0; i < module.size(); ++i) {
    const BaseFunc* function = module.functions()[i].func;
    result[i] = Is<Function>(function) && !function->attrs->Find(attr::kGlobalSymbol) && references.balance[i] == 0;
  }
  return result;
}

std::optional<FunctionReference> FindReference(const Function& function, const Module& module,
                                               FunctionRef<bool(size_t)> wanted) {
  ReferenceFinder finder(module, wanted, function);
  Walk(function, finder);
  if (!finder.found) return std::nullopt;
  return FunctionReference{finder.place, finder.found};
}

}  // namespace iropt

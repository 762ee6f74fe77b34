#include "iropt/analysis/relax/called_functions.h"

#include <algorithm>

#include "iropt/analysis/relax/free_vars.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt {

namespace {

std::vector<const GlobalVar*> CalledBy(const PrimFunc& function) {
  std::vector<const GlobalVar*> called;
  tir::PostOrderVisit(function.body, [&](const Node* node) {
    const auto* call = As<tir::Call>(node);
    const auto* callee = call ? As<GlobalVar>(call->op) : nullptr;
    if (callee) called.push_back(callee);
  });
  return called;
}

}  // namespace

CalledFunctions::Result CalledFunctions::Compute(const BaseFunc& function, const FuncStorage&) {
  Result called;
  if (const auto* prim_func = As<PrimFunc>(&function)) {
    called = CalledBy(*prim_func);
  } else if (Is<Function>(&function)) {
    called = UsedGlobals(&function);
  }
  std::ranges::sort(called, {}, &GlobalVar::id);
  called.erase(std::unique(called.begin(), called.end()), called.end());
  return called;
}

std::shared_ptr<const CalledFunctions::Result> ComputeCalledFunctions(const ModuleEntry& entry) {
  return std::make_shared<const CalledFunctions::Result>(CalledFunctions::Compute(*entry.func, *entry.storage));
}

}  // namespace iropt

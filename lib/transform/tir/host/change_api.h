// Support for passes that change how functions are called.
#pragma once

#include <utility>

#include "iropt/ir/tir/mutator.h"
#include "iropt/pass/pass.h"

namespace iropt {

// Changes the calls in all PrimFuncs with a CallRewriter(callees, workspace), and then the functions that `callees`
// contains with change(func, workspace, diagnostics), which returns null after it has reported an error.
template <class CallRewriter, class Callees, class Change>
Result<Module> ChangeApi(Module module, const Callees& callees, DiagnosticEngine& diagnostics, Change&& change) {
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry entry = module.functions()[i];
    const auto* old = As<PrimFunc>(entry.func);
    if (!old) continue;
    Workspace workspace(module, entry.storage);
    const tir::Stmt* body = CallRewriter(callees, workspace).VisitStmt(old->body);
    const PrimFunc* func = WithBody(old, body, workspace);
    if (callees.contains(entry.var)) func = change(func, workspace, diagnostics);
    if (!func) return Failure{ErrorCode::PassFailed};
    if (func != old) module.SetAt(i, func, workspace.Finish());
  }
  return module;
}

}  // namespace iropt

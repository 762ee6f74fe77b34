// Runs passes on functions built by hand and checks that every result is well-formed, and the same pointer when the
// pass runs again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../catch.h"
#include "analysis/graph_maker.h"
#include "iropt/ir/structural.h"
#include "iropt/support/result.h"
#include "iropt/transform/relax/simplify/canonicalize_bindings.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "iropt/transform/relax/simplify/eliminate_common_subexpr.h"
#include "iropt/transform/relax/structure/normalize.h"

namespace iropt {

using FunctionPass =
    std::function<Result<const Function*>(const Function*, const Module*, Workspace&, DiagnosticEngine&)>;

inline FunctionPass Dce() {
  return [](const Function* f, const Module* m, Workspace& ws, DiagnosticEngine&) -> Result<const Function*> {
    return RemoveDeadBindings(f, m, ws);
  };
}
inline FunctionPass Cse(CommonSubexprOptions options = {}) {
  return [options](const Function* f, const Module* m, Workspace& ws, DiagnosticEngine&) -> Result<const Function*> {
    return EliminateCommonSubexpr(f, m, ws, options);
  };
}
inline FunctionPass Canonicalize() {
  return [](const Function* function, const Module* module, Workspace& workspace, DiagnosticEngine& diagnostics) {
    return CanonicalizeBindings(function, module, workspace, diagnostics);
  };
}
inline FunctionPass Normal() { return Normalize; }

class PassTester : public GraphMaker {
 public:
  const Type* F23() { return Tensor({2, 3}); }

  const Function* function(std::string_view name = "main") { return To<Function>(module().Find(name)->func); }
  const SeqExpr* body() { return To<SeqExpr>(function()->body); }

  // Replaces "main" by the result of the pass; true if that is another function.
  bool RunOnce(const FunctionPass& pass) {
    const ModuleEntry entry = *module().Find("main");
    Workspace workspace(module(), entry.storage);
    DiagnosticBuffer buffer;
    DiagnosticEngine engine(&buffer);
    Result<const Function*> result = pass(To<Function>(entry.func), &module(), workspace, engine);
    errors.clear();
    for (const Diagnostic& d : buffer.diagnostics()) errors.push_back(d.message);
    failed = !result.ok();
    if (failed || *result == entry.func) return false;
    module().Set(entry.var, *result, workspace.Finish());
    return true;
  }

  // The same, with the checks.
  bool Run(const FunctionPass& pass) {
    REQUIRE(Verify() == Errors{});
    return RunUnchecked(pass);
  }
  // For functions that are ill-formed before the pass.
  bool RunUnchecked(const FunctionPass& pass) {
    const bool changed = RunOnce(pass);
    REQUIRE(!failed);
    REQUIRE(Verify() == Errors{});
    REQUIRE_FALSE(RunOnce(pass));
    return changed;
  }

  // The bindings of the function, block by block: "lv = relax.add(x, x)"; a dataflow block is in brackets.
  std::string Text() { return SeqText(*body()); }

  std::vector<std::string> errors;
  bool failed = false;

 private:
  static std::string Name(const Expr* e) {
    if (const auto* var = As<Var>(e)) return std::string(var->name());
    if (const auto* global = As<GlobalVar>(e)) return std::string(global->name);
    if (const auto* op = As<Op>(e)) return std::string(op->name.substr(op->name.rfind('.') + 1));
    if (const auto* packed = As<ExternFunc>(e)) return std::string(packed->global_symbol);
    if (const auto* tuple = As<iropt::Tuple>(e)) return "(" + List(tuple->fields) + ")";
    if (const auto* item = As<TupleGetItem>(e)) return Name(item->tuple) + "[" + std::to_string(item->index) + "]";
    if (const auto* call = As<Call>(e)) return Name(call->op) + "(" + List(call->args) + ")";
    if (const auto* branch = As<If>(e)) {
      return "if " + Name(branch->cond) + " {" + SeqText(*To<SeqExpr>(branch->true_branch)) + "} else {" +
             SeqText(*To<SeqExpr>(branch->false_branch)) + "}";
    }
    if (const auto* function = As<Function>(e)) return "fn {" + SeqText(*To<SeqExpr>(function->body)) + "}";
    return std::string(NodeKindName(e->kind));
  }
  static std::string List(iropt::List<const Expr*> items) {
    std::string text;
    for (const Expr* item : items) text += (text.empty() ? "" : ", ") + Name(item);
    return text;
  }
  static std::string SeqText(const SeqExpr& seq) {
    std::string text;
    for (const BindingBlock* block : seq.blocks) {
      if (block->is_dataflow()) text += "[";
      for (const Binding* binding : block->bindings) {
        const auto* cast = As<MatchCast>(binding);
        const Expr* value = cast ? cast->value : To<VarBinding>(binding)->value;
        text += std::string(binding->var->name()) + " = " + (cast ? "cast " : "") + Name(value) + "; ";
      }
      if (block->is_dataflow()) text += "] ";
    }
    return text + Name(seq.body);
  }
};

}  // namespace iropt

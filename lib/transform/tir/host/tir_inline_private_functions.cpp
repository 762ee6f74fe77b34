// tir.InlinePrivateFunctions: replaces calls of private PrimFuncs, as statements, by their bodies.
//
//   @T.prim_func                                       @T.prim_func
//   def main(A: T.Buffer((8, 4))):                     def main(A: T.Buffer((8, 4))):
//       for i in range(8):                                 for i in range(8):
//           Module.sub(T.address_of(A[i, 0]))   -->            row: T.handle("float32") = T.address_of(A[i, 0])
//                                                              B = T.decl_buffer((4,), data=row)
//   @T.prim_func(private=True)                                 B[0] = T.float32(0)
//   def sub(row: T.handle("float32")):
//       B = T.decl_buffer((4,), data=row)
//       B[0] = T.float32(0)
//
// Functions that take buffers, have a root block, call themselves, directly or through others, or return a value stay,
// and so do calls within expressions and between targets. If anything was inlined, functions that are not called any
// more are removed, unless a Relax function refers to them. O(nodes of the result).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "iropt/analysis/relax/call_graph.h"
#include "iropt/analysis/tir/loop_jumps.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/host/func_target.h"
#include "transform/tir/host/graph_calls.h"

namespace iropt {

namespace {

// Gives the parameters of a function values, which may be expressions. Arithmetic on constants is folded.
class ParamBinder : public tir::StmtExprMutator {
 public:
  ParamBinder(const PrimFunc& func, List<const PrimExpr*> values, Workspace& workspace)
      : StmtExprMutator(workspace, tir::kRewriteBuffers), make_(workspace) {
    for (uint32_t i = 0; i < func.params.size(); ++i) values_.try_emplace(func.params[i], values[i]);
  }

  const tir::Stmt* Bind(const tir::Stmt* body) {
    const tir::Stmt* bound = VisitStmt(body);
    for (const tir::Var* var : pointers_) bound = workspace().New<tir::LetStmt>(var, values_.at(var), bound);
    return bound;
  }

 protected:
  const PrimExpr* VisitVar(const tir::Var* var) override {
    const auto* value = values_.Find(var);
    if (!value) return StmtExprMutator::VisitVar(var);
    return is_layout_ && var == data_ ? new_data_ : *value;
  }
  const PrimExpr* VisitBinary(const tir::BinaryExpr* expr) override {
    const auto* visited = static_cast<const tir::BinaryExpr*>(StmtExprMutator::VisitBinary(expr));
    return visited == expr ? expr : make_.Binary(expr->kind, visited->a, visited->b);
  }
  const PrimExpr* VisitNot(const tir::Not* expr) override {
    const PrimExpr* operand = VisitExpr(expr->a);
    return operand == expr->a ? expr : make_.Not(operand);
  }
  // The data of a buffer must be a variable: one is bound to the pointer that is passed.
  const tir::Stmt* VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    const PrimExpr* pointer = PointerOf(*decl->buffer);
    if (!pointer) return StmtExprMutator::VisitDeclBuffer(decl);
    const tir::Var* old = decl->buffer->data;
    const tir::Var* var = workspace().NewPrimVar(old->name, old->dtype, old->pointer);
    const tir::Buffer* buffer = RewriteWith(decl->buffer, var);
    Remap(decl->buffer, buffer);
    const tir::Stmt* body = VisitStmt(decl->body);
    return workspace().New<tir::LetStmt>(var, pointer, workspace().New<tir::DeclBuffer>(buffer, body));
  }
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override {
    if (const tir::Buffer* remapped = RemapOf(buffer)) return remapped;
    const PrimExpr* pointer = PointerOf(*buffer);
    if (!pointer) return StmtExprMutator::VisitBufferUse(buffer);
    // It is not declared: the variable is visible in the whole body.
    if (seen_pointers_.insert(buffer->data)) pointers_.push_back(buffer->data);
    return RewriteWith(buffer, buffer->data);
  }

 private:
  // The value of the buffer's data variable, unless it is a variable itself; else null.
  const PrimExpr* PointerOf(const tir::Buffer& buffer) const {
    const auto* value = values_.Find(buffer.data);
    return !value || Is<tir::Var>(*value) ? nullptr : *value;
  }
  const tir::Buffer* RewriteWith(const tir::Buffer* buffer, const tir::Var* data) {
    is_layout_ = true;
    data_ = buffer->data;
    new_data_ = data;
    const tir::Buffer* rewritten = RewriteBuffer(buffer);
    is_layout_ = false;
    return rewritten;
  }

  const arith::PrimBuilder make_;
  LookupMap<const tir::Var*, const PrimExpr*> values_;
  std::vector<const tir::Var*> pointers_;  // bound around the body
  LookupSet<const tir::Var*> seen_pointers_;
  // While the layout of a buffer is visited.
  bool is_layout_ = false;
  const tir::Var* data_ = nullptr;
  const tir::Var* new_data_ = nullptr;
};

bool IsInlinable(const PrimFunc& func) {
  for (const tir::Buffer* buffer : func.param_buffers) {
    if (buffer) return false;
  }
  return !GlobalSymbolOf(func) && !Is<tir::BlockRealize>(func.body) && !HasReturns(func.body);
}

// The functions that may be inlined.
using Callees = LookupMap<const GlobalVar*, const ModuleEntry*>;

// The entries of the target that matter for the code of a function.
const DictAttr* CodeTarget(const PrimFunc& func) {
  const DictAttr* target = TargetOf(func);
  return target ? WithoutHost(target)->Without("tag") : nullptr;
}

class Inliner : public tir::StmtExprMutator {
 public:
  Inliner(const Callees& callees, const PrimFunc& caller, GlobalVarSet& called, Workspace& workspace,
          DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace),
        callees_(callees),
        target_(CodeTarget(caller)),
        called_(called),
        diagnostics_(diagnostics) {}

  bool failed() const { return failed_; }

 protected:
  const tir::Stmt* VisitEvaluate(const tir::Evaluate* stmt) override {
    const auto* call = As<tir::Call>(stmt->value);
    const auto* var = call ? As<GlobalVar>(call->op) : nullptr;
    const auto* callee = var ? callees_.Find(var) : nullptr;
    if (!callee) return StmtExprMutator::VisitEvaluate(stmt);
    const auto* func = To<PrimFunc>((*callee)->func);
    const DictAttr* target = CodeTarget(*func);
    if (target_ && target && target != target_) return StmtExprMutator::VisitEvaluate(stmt);
    if (func->params.size() != call->args.size()) return Fail(*call, *var, func->params.size());
    workspace().Adopt((*callee)->storage);
    const auto* copy = To<PrimFunc>(CloneFunction(func, workspace(), {.fresh_sym_vars = true}));
    return VisitStmt(ParamBinder(*copy, call->args, workspace()).Bind(copy->body));
  }
  const PrimExpr* VisitCall(const tir::Call* call) override {
    if (const auto* callee = As<GlobalVar>(call->op)) called_.insert(callee);
    return StmtExprMutator::VisitCall(call);
  }

 private:
  const tir::Stmt* Fail(const tir::Call& call, const GlobalVar& callee, uint32_t num_params) {
    diagnostics_.Error(Location(call), "pass-failed",
                       fmt::format("the function '{}' has {} parameters and is called with {} arguments", callee.name,
                                   num_params, call.args.size()));
    failed_ = true;
    return workspace().New<tir::Evaluate>(&call);
  }

  const Callees& callees_;
  const DictAttr* target_;
  GlobalVarSet& called_;
  DiagnosticEngine& diagnostics_;
  bool failed_ = false;
};

}  // namespace

Pass CreateTirInlinePrivateFunctions(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) -> Result<Module> {
    const CallGraph graph = MakeCallGraph(module, context.AnalysisSource<CalledFunctions>());
    const Module old = module;
    Callees callees;
    for (size_t i = 0; i < old.size(); ++i) {
      const ModuleEntry& entry = old.functions()[i];
      const auto* func = As<PrimFunc>(entry.func);
      if (func && !graph.recursive[i] && IsInlinable(*func)) callees.try_emplace(entry.var, &entry);
    }
    if (callees.empty()) return module;
    GlobalVarSet called = CalledByGraph(old, context);
    bool changed = false;
    for (size_t i = 0; i < old.size(); ++i) {
      const ModuleEntry& entry = old.functions()[i];
      const auto* func = As<PrimFunc>(entry.func);
      if (!func) continue;
      Workspace workspace(old, entry.storage);
      Inliner inliner(callees, *func, called, workspace, context.diagnostics);
      const tir::Stmt* body = inliner.VisitStmt(func->body);
      if (inliner.failed()) return Failure{ErrorCode::PassFailed};
      if (body == func->body) continue;
      const PrimFunc* made = WithBody(func, body, workspace);
      module.SetAt(i, made, workspace.Finish());
      changed = true;
    }
    if (!changed) return module;
    std::vector<bool> keep;
    for (const ModuleEntry& entry : old.functions()) {
      keep.push_back(!callees.contains(entry.var) || called.contains(entry.var));
    }
    module.Filter(keep);
    return module;
  });
}

}  // namespace iropt

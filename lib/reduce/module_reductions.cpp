// Reductions of the functions of a module, their signatures and attributes.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "binding_remover.h"
#include "iropt/analysis/relax/use_count.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/relax/ipo/lambda_lift.h"
#include "kept_items.h"
#include "reductions.h"

namespace iropt {

namespace {

// Looks for a name that the module lacks, outside of nested functions and branches, whose bindings count by themselves.
struct MissingCallee : WalkHandler {
  const Module& module;
  bool found = false;
  explicit MissingCallee(const Module& m) : module(m) {}

  void OnGlobal(const GlobalVar* var) { found |= module.Find(var) == nullptr; }
};

bool HasMissingCallee(const Expr* value, const Module& module) {
  if (Is<Function>(value) || Is<If>(value)) return false;
  MissingCallee handler(module);
  Walk(value, handler);
  return handler.found;
}

// ---- Parameters

// By function: which parameters stay.
using KeptParams = std::unordered_map<const GlobalVar*, std::vector<bool>>;

// Counts the uses of the parameters of a PrimFunc: as variables, as buffers, in the shapes of buffers.
class ParamUses : public tir::StmtExprVisitor {
 public:
  explicit ParamUses(const PrimFunc& func) : used_(func.params.size()) {
    for (uint32_t i = 0; i < func.params.size(); ++i) {
      index_.try_emplace(func.params[i], i);
      if (func.param_buffers[i]) index_.try_emplace(func.param_buffers[i], i);
      if (func.param_buffers[i]) index_.try_emplace(func.param_buffers[i]->data, i);
    }
    VisitPrimFunc(&func);
  }
  bool used(size_t param) const { return used_[param]; }

 protected:
  void VisitVar(const tir::Var* var) override { Use(var); }
  void VisitBufferUse(const tir::Buffer* buffer) override { Use(buffer); }

 private:
  void Use(const Node* node) {
    const auto* found = index_.Find(node);
    if (found) used_[*found] = true;
  }

  LookupMap<const Node*, size_t> index_;
  std::vector<bool> used_;
};

std::vector<bool> UsedParams(const ModuleEntry& entry) {
  std::vector<bool> used;
  if (const auto* func = As<PrimFunc>(entry.func)) {
    const ParamUses uses(*func);
    for (size_t i = 0; i < func->params.size(); ++i) used.push_back(uses.used(i));
  } else if (const auto* function = As<Function>(entry.func)) {
    const std::vector<uint32_t> counts = UseCounts(*function, *entry.storage);
    for (const Var* param : function->params) used.push_back(counts[param->id] > 0);
  }
  return used;
}

// Removes the arguments of the parameters that do not stay.
class ArgumentRemover : private ExprRewriter<ArgumentRemover> {
 public:
  ArgumentRemover(const KeptParams& kept, Workspace& workspace, TypeInferrer& inferrer)
      : ExprRewriter(workspace, &inferrer), kept_(kept) {}

  const Function* Run(const Function* function) {
    return rebuilder().RebuildBody(*function, VisitExpr(function->body));
  }

 private:
  friend class ExprRewriter<ArgumentRemover>;

  const Expr* VisitCall(const Call* call) {
    const auto* visited = To<Call>(ExprRewriter::VisitCall(call));
    if (const std::vector<bool>* keep = KeptOf(visited->op))
      return Rebuild(*visited, visited->op, workspace().Copy(KeepItems(visited->args, *keep)));
    if (visited->args.size() < 2) return visited;
    const std::vector<bool>* keep = KeptOf(visited->args[0]);
    const auto* operands = As<Tuple>(visited->args[1]);
    if (!keep || !operands) return visited;
    std::vector<const Expr*> args(visited->args.begin(), visited->args.end());
    const List<const Expr*> fields = workspace().Copy(KeepItems(operands->fields, *keep));
    Tuple tuple(fields, nullptr);
    args[1] = NewLike<Tuple>(workspace(), *operands, fields, inferrer()->Infer(&tuple));
    return Rebuild(*visited, visited->op, workspace().Copy(args));
  }

  const std::vector<bool>* KeptOf(const Expr* callee) const {
    const auto* var = As<GlobalVar>(callee);
    const auto found = var ? kept_.find(var) : kept_.end();
    return found == kept_.end() ? nullptr : &found->second;
  }

  const KeptParams& kept_;
};

const BaseFunc* WithParams(const BaseFunc* func, const std::vector<bool>& keep, const Module& module,
                           Workspace& workspace) {
  if (const auto* function = As<Function>(func)) {
    OpTypeInferrer inferrer(&module, workspace.arena(), nullptr);
    const List<const Var*> params = workspace.Copy(KeepItems(function->params, keep));
    return Rebuilder(workspace, &inferrer, Retype::kIfNeeded)
        .RebuildSignature(*function, params, function->body, inferrer.ReturnType(params, function->body->type),
                          function->attrs);
  }
  auto* copy = workspace.New<PrimFunc>(*To<PrimFunc>(func));
  copy->param_buffers = workspace.Copy(KeepItems(copy->param_buffers, keep));
  copy->params = workspace.Copy(KeepItems(copy->params, keep));
  copy->type = PrimFuncType(copy);
  return copy;
}

// ---- Attributes

const DictAttr* ReduceAttrs(const DictAttr* attrs, const void* site, Edits& edits) {
  const DictAttr* reduced = attrs;
  for (uint32_t i = 0; i < attrs->size(); ++i) {
    // Without it, a function becomes private, which is not simpler.
    if (attrs->keys[i] == attr::kGlobalSymbol) continue;
    if (edits.Take(site, i)) reduced = reduced->Without(attrs->keys[i]);
  }
  return reduced;
}

BaseFunc* CopyFunction(const BaseFunc* func, Workspace& workspace) {
  if (const auto* function = As<Function>(func)) return workspace.New<Function>(*function);
  if (const auto* prim = As<PrimFunc>(func)) return workspace.New<PrimFunc>(*prim);
  return workspace.New<ExternFunc>(*To<ExternFunc>(func));
}

}  // namespace

void RemoveFunctions(Candidate& candidate, Edits& edits) {
  std::vector<bool> keep;
  for (const ModuleEntry& entry : candidate.module.functions()) keep.push_back(!edits.Take(entry.var));
  if (std::ranges::find(keep, false) == keep.end()) return;
  candidate.module.Filter(keep);
  const auto removes = [&](const Binding& binding) { return HasMissingCallee(ValueOf(&binding), candidate.module); };
  RemoveFromAll(candidate.module, {.removes = removes});
}

void LiftFunctions(Candidate& candidate, Edits& edits) {
  DiagnosticBuffer unused;
  DiagnosticEngine diagnostics(&unused);
  Result<Module> lifted = LambdaLift(candidate.module, diagnostics);
  const bool has_local = lifted.ok() && lifted->size() > candidate.module.size();
  if (has_local && edits.Take(nullptr)) candidate.module = *std::move(lifted);
}

void RemoveParams(Candidate& candidate, Edits& edits) {
  Module& module = candidate.module;
  KeptParams kept;
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry entry = module.functions()[i];
    std::vector<bool> keep = UsedParams(entry);
    for (size_t param = 0; param < keep.size(); ++param)
      keep[param] = keep[param] || !edits.Take(entry.var, static_cast<int64_t>(param));
    if (std::ranges::find(keep, false) == keep.end()) continue;
    Workspace workspace(module, entry.storage);
    const BaseFunc* func = WithParams(entry.func, keep, module, workspace);
    module.SetAt(i, func, workspace.Finish());
    kept.emplace(entry.var, std::move(keep));
  }
  if (kept.empty()) return;
  RewriteRelaxFunctions(module, [&](const Function* function, size_t, Workspace& workspace) {
    OpTypeInferrer inferrer(&module, workspace.arena(), nullptr);
    return ArgumentRemover(kept, workspace, inferrer).Run(function);
  });
}

void RemoveAttributes(Candidate& candidate, Edits& edits) {
  Module& module = candidate.module;
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry entry = module.functions()[i];
    const DictAttr* attrs = ReduceAttrs(entry.func->attrs, entry.func, edits);
    if (attrs == entry.func->attrs) continue;
    Workspace workspace(module, entry.storage);
    BaseFunc* copy = CopyFunction(entry.func, workspace);
    copy->attrs = attrs;
    module.SetAt(i, copy, workspace.Finish());
  }
  const DictAttr* attrs = module.attrs();
  module.set_attrs(ReduceAttrs(attrs, attrs, edits));
  int64_t number = 0;
  std::erase_if(module.mutable_global_infos(), [&](const auto&) { return edits.Take(nullptr, number++); });
}

}  // namespace iropt

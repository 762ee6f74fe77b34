// AllocateWorkspace: allocates temporary memory for functions of external compilers, and passes it to them.
//
//   def main(q):                            def main(q):
//     with R.dataflow():                      with R.dataflow():
//       gv = cls.f_cutlass(q)          -->      workspace_main = R.builtin.alloc_tensor(R.shape([1024]), "uint8", 0)
//   def f_cutlass(q):                           gv = cls.f_cutlass1(q, workspace_main)
//     R.func_attr({"Codegen": "cutlass",    def f_cutlass1(q, workspace: R.Tensor((1024,), "uint8")):
//                  "WorkspaceSize": 1024})    R.func_attr({"Codegen": "cutlass"})
//     ...                                     ...
//
// A function with the attribute WorkspaceSize gets a new name and a further parameter, and so do the composite
// functions in it that have the attribute; all workspaces have the greatest size of the module. A function with
// dataflow blocks gets a workspace in the first one, whether or not it is used there. Further blocks, and calls outside
// of dataflow blocks, get one if they need it.
//
// O(nodes). Source: TVM 0.18's pass of this name.
#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "builtin_calls.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/module_builder.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/ops/memory.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "relax_functions.h"

namespace iropt {

namespace {

constexpr std::string_view kWorkspaceSize = "WorkspaceSize";

bool IsExternal(const Function& function) {
  return function.attrs->Find(attr::kCodegen) || function.attrs->Find(attr::kComposite);
}

int64_t WorkspaceSize(const BaseFunc& function) {
  const auto* size = As<IntAttr>(function.attrs->Find(kWorkspaceSize));
  return size ? size->value : 0;
}

const Type* WorkspaceType(int64_t size) {
  const PrimExpr* const dims[] = {IRContext::Current().Int(size)};
  return TensorType::Get(dims, DataType::UInt(8));
}

List<const Expr*> Append(List<const Expr*> args, const Expr* last, Workspace& workspace) {
  std::vector<const Expr*> all(args.begin(), args.end());
  all.push_back(last);
  return workspace.Copy(all);
}

// Adds the parameter to a function for an external compiler, and to the composite functions in it.
class WorkspaceParams : public ExprMutator {
 public:
  WorkspaceParams(Workspace& workspace, TypeInferrer& inferrer, int64_t size)
      : ExprMutator(workspace, &inferrer), type_(WorkspaceType(size)) {}

 protected:
  const Expr* VisitFunction(const Function* old) override {
    if (!IsExternal(*old) || WorkspaceSize(*old) == 0) return ExprMutator::VisitFunction(old);
    const Var* param = workspace().NewVar("workspace", type_);
    const bool passes_on = old->attrs->Find(attr::kCodegen) != nullptr;
    const Var* outer = param_;
    if (passes_on) param_ = param;
    const auto* function = To<Function>(ExprMutator::VisitFunction(old));
    param_ = outer;
    std::vector<const Var*> params(function->params.begin(), function->params.end());
    params.push_back(param);
    return NewLike<Function>(workspace(), *old, workspace().Copy(params), function->body, function->ret_type,
                             function->is_pure, function->attrs->Without(kWorkspaceSize), nullptr);
  }

  void VisitVarBinding(const VarBinding* binding) override {
    const auto* local = As<Function>(binding->value);
    if (local && IsExternal(*local) && WorkspaceSize(*local) != 0) composites_.insert(binding->var);
    ExprMutator::VisitVarBinding(binding);
  }

  const Expr* VisitCall(const Call* old) override {
    const Expr* visited = ExprMutator::VisitCall(old);
    const auto* callee = As<Var>(old->op);
    if (!callee || !param_ || !composites_.contains(callee)) return visited;
    const auto* call = To<Call>(visited);
    return NewLike<Call>(workspace(), *old, call->op, Append(call->args, param_, workspace()), call->attrs,
                         call->type_args, nullptr);
  }

 private:
  const Type* type_;
  const Var* param_ = nullptr;  // of the function around
  LookupSet<const Var*> composites_;
};

// Allocates the workspace in a function that calls functions with the new parameter.
class WorkspaceAllocator : public ExprMutator {
 public:
  using Names = std::unordered_map<const GlobalVar*, const GlobalVar*>;

  WorkspaceAllocator(Workspace& workspace, TypeInferrer& inferrer, const Names& names, int64_t size)
      : ExprMutator(workspace, &inferrer), names_(names), size_(size), calls_(workspace) {}

 protected:
  const BindingBlock* VisitBlock(const BindingBlock* block) override {
    if (!block->is_dataflow()) return ExprMutator::VisitBlock(block);
    const Var* outer = var_;
    builder().BeginDataflowBlock();
    if (!std::exchange(allocates_, true)) Allocate();
    for (const Binding* binding : block->bindings) VisitBinding(binding);
    var_ = outer;
    return builder().EndBlock();
  }

  // Variables that are bound in a branch or a local function are not visible after it.
  const Expr* VisitSeqExpr(const SeqExpr* seq) override {
    const Var* outer = var_;
    const Expr* result = ExprMutator::VisitSeqExpr(seq);
    var_ = outer;
    return result;
  }

  const Expr* VisitGlobalVar(const GlobalVar* var) override {
    const auto found = names_.find(var);
    return found == names_.end() ? var : found->second;
  }

  const Expr* VisitCall(const Call* old) override {
    const Expr* visited = ExprMutator::VisitCall(old);
    const auto* callee = As<GlobalVar>(old->op);
    if (!callee || !names_.contains(callee)) return visited;
    if (!var_) Allocate();
    const auto* call = To<Call>(visited);
    return NewLike<Call>(workspace(), *old, call->op, Append(call->args, var_, workspace()), call->attrs,
                         call->type_args, nullptr);
  }

 private:
  void Allocate() {
    const PrimExpr* const dims[] = {IRContext::Current().Int(size_)};
    const Expr* shape = workspace().New<ShapeExpr>(workspace().Copy<const PrimExpr*>(dims), ShapeType::Get(dims));
    var_ = builder().Emit(calls_.Operator(op::kBuiltinAllocTensor, {shape, calls_.DType(DataType::UInt(8)),
                                                                    calls_.Int(0), calls_.Text("global")}),
                          "workspace_main");
  }

  const Names& names_;
  const int64_t size_;
  BuiltinCalls calls_;
  const Var* var_ = nullptr;  // the workspace that is visible here
  bool allocates_ = false;
};

// Replaces the functions that need a workspace by others of new names.
Result<WorkspaceAllocator::Names> AddParams(ModuleBuilder& builder, int64_t size, DiagnosticEngine& diagnostics) {
  WorkspaceAllocator::Names names;
  for (const GlobalVar* old : RelaxFunctions(builder.module())) {
    const ModuleEntry entry = *builder.module().Find(old);
    if (!IsExternal(*To<Function>(entry.func)) || WorkspaceSize(*entry.func) == 0) continue;
    Workspace workspace(builder.module(), entry.storage);
    OpTypeInferrer inferrer(&builder.module(), workspace.arena(), &diagnostics);
    WorkspaceParams params(workspace, inferrer, size);
    auto* function = workspace.New<Function>(*To<Function>(params.VisitExpr(entry.func)));
    if (params.failed()) return Failure{ErrorCode::PassFailed};
    const GlobalVar* name = GlobalVar::Get(builder.module().UniqueName(old->name));
    function->attrs = function->attrs->With(attr::kGlobalSymbol, StrAttr::Get(name->name));
    builder.UpdateFunction(name, function, workspace.Finish());
    names.emplace(old, name);
  }
  return names;
}

}  // namespace

Pass CreateAllocateWorkspace(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) -> Result<Module> {
    int64_t size = 0;
    for (const ModuleEntry& entry : module.functions()) size = std::max(size, WorkspaceSize(*entry.func));
    if (size == 0) return module;
    ModuleBuilder builder(std::move(module));
    IROPT_ASSIGN_OR_RETURN(const WorkspaceAllocator::Names names, AddParams(builder, size, context.diagnostics));
    const auto allocate = [&](const ModuleEntry& entry, Workspace& workspace,
                              OpTypeInferrer& inferrer) -> const Function* {
      const auto* old = To<Function>(entry.func);
      if (IsExternal(*old)) return old;
      WorkspaceAllocator allocator(workspace, inferrer, names, size);
      const auto* function = To<Function>(allocator.VisitExpr(old));
      return allocator.failed() ? nullptr : function;
    };
    IROPT_RETURN_IF_ERROR(UpdateRelaxFunctions(builder, context.diagnostics, allocate));
    Module result = builder.Finish();
    std::vector<bool> keep;
    for (const ModuleEntry& entry : result.functions()) keep.push_back(!names.contains(entry.var));
    result.Filter(keep);
    return result;
  });
}

}  // namespace iropt

// RewriteCUDAGraph: moves sequences of kernel launches with fixed operands into functions that run as CUDA graphs.
//
//   def main(x):                                      def main(x):
//     s = R.memory.alloc_storage(R.shape([32]), ...)    gv = R.call_builtin_with_ctx(
//     a = R.memory.alloc_tensor(s, 0, ...)                  "vm.builtin.cuda_graph.get_cached_alloc", (cls.alloc, 0))
//     cls.exp(x, a)                                     s = gv[0]
//     t = R.memory.alloc_storage(R.shape([32]), ...)    a = R.memory.alloc_tensor(s, 0, ...)
//     b = R.memory.alloc_tensor(t, 0, ...)       -->    cls.exp(x, a)
//     cls.exp(a, b)                                     t = gv[1]
//     cls.exp(b, a)                                     b = R.memory.alloc_tensor(t, 0, ...)
//     ...                                               R.call_builtin_with_ctx(
//                                                           "vm.builtin.cuda_graph.run_or_capture",
//                                                           (cls.main_cuda_graph_capture, (a, b), 0))
//
// Storage of constant size is allocated once, for all functions together: they do not run at the same time. Kernels
// that only depend on it and on weights are captured at their first run and replayed then; cuda_graph_plan.h says
// which. The storage of results stays in the function. Does nothing without the configuration
// relax.backend.use_cuda_graph.
//
// Runs after StaticPlanBlockMemory. O(nodes), plus sorting the storage.
//
// Source: TVM 0.18's pass of this name. Here a conditional or a match_cast ends a sequence, and what they or a result
// use leaves it.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "builtin_calls.h"
#include "configs/relax.backend.use_cuda_graph.h"
#include "cuda_graph_plan.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/module_builder.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/ops/memory.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "relax_functions.h"

namespace iropt {

namespace {

// Storage by variable, as an index in the result of the function that allocates all of it.
using StorageIndices = std::unordered_map<const Var*, int32_t>;

const DictAttr* ForcePure() {
  const DictAttr::Entry entries[] = {{attr::kForcePure, IntAttr::Bool(true)}};
  return DictAttr::Get(entries);
}

// A function of the bindings that were emitted since BeginBindingBlock, which returns a tuple of the outputs.
const Function* FinishFunction(BlockBuilder& builder, const std::vector<const Var*>& params,
                               const std::vector<const Var*>& outputs) {
  const std::vector<const Expr*> fields(outputs.begin(), outputs.end());
  const Var* result = builder.Emit(builder.workspace().New<Tuple>(builder.workspace().Copy(fields), nullptr));
  const BindingBlock* block = builder.EndBlock();
  return builder.MakeFunction(params, builder.Seq({block}, builder.NormalizeArgument(result)), ForcePure());
}

// ---- The storage of all functions

struct StorageRecord {
  int64_t size;
  const VarBinding* binding;
};

int64_t SizeOf(const VarBinding& binding) {
  const auto* shape = To<ShapeExpr>(To<Call>(binding.value)->args[0]);
  return To<tir::IntImm>(shape->values[0])->value;
}

std::string_view ScopeOf(const VarBinding& binding) { return To<StringImm>(To<Call>(binding.value)->args[2])->value; }

// Merges storage of different functions: the largest with the largest, by scope. Returns what is allocated; `indices`
// is by variables.
std::vector<const VarBinding*> MergeStorage(const std::vector<GraphPlan>& plans, StorageIndices& indices) {
  std::map<std::string_view, std::vector<std::vector<StorageRecord>>> by_scope;
  for (size_t i = 0; i < plans.size(); ++i) {
    const auto& used = plans[i].storage.outputs.items();
    const std::unordered_set<const Var*> outputs(used.begin(), used.end());
    for (const VarBinding* binding : plans[i].storage.bindings) {
      if (!outputs.contains(binding->var)) continue;
      auto& of_plan = by_scope[ScopeOf(*binding)];
      of_plan.resize(plans.size());
      of_plan[i].push_back({SizeOf(*binding), binding});
    }
  }
  std::vector<const VarBinding*> merged;
  for (auto& [scope, of_plans] : by_scope) {
    const auto first = static_cast<int32_t>(merged.size());
    for (std::vector<StorageRecord>& records : of_plans) {
      std::ranges::stable_sort(records, std::greater(), &StorageRecord::size);
      for (size_t k = 0; k < records.size(); ++k) {
        const size_t index = static_cast<size_t>(first) + k;
        indices.emplace(records[k].binding->var, static_cast<int32_t>(index));
        if (index == merged.size()) merged.push_back(records[k].binding);
        if (SizeOf(*merged[index]) < records[k].size) merged[index] = records[k].binding;
      }
    }
  }
  return merged;
}

// Adds the function that allocates the storage; null if there is none.
const GlobalVar* AddAllocation(const std::vector<const VarBinding*>& storage, ModuleBuilder& module) {
  if (storage.empty()) return nullptr;
  Workspace workspace(module.module());
  OpTypeInferrer inferrer(&module.module(), workspace.arena(), nullptr);
  BlockBuilder builder(workspace, &inferrer);
  BuiltinCalls calls(workspace);
  builder.BeginBindingBlock();
  std::vector<const Var*> outputs;
  for (const VarBinding* binding : storage) {
    const auto& args = To<Call>(binding->value)->args;
    const PrimExpr* const dims[] = {IRContext::Current().Int(SizeOf(*binding))};
    const Expr* size = workspace.New<ShapeExpr>(workspace.Copy<const PrimExpr*>(dims), ShapeType::Get(dims));
    const Expr* dtype = calls.DType(To<DataTypeImm>(args[3])->value);
    const Call* call =
        calls.Operator(op::kMemoryAllocStorage, {size, calls.Int(0), calls.Text(ScopeOf(*binding)), dtype});
    outputs.push_back(builder.Emit(call, binding->var->name()));
  }
  const Function* function = FinishFunction(builder, {}, outputs);
  return module.AddFunction(function, workspace.Finish(), "cuda_graph_alloc");
}

// ---- The functions

class GraphRewriter : public ExprMutator {
 public:
  GraphRewriter(const ModuleEntry& entry, const GraphPlan& plan, const GlobalVar* allocation,
                const StorageIndices& storage, int64_t& num_captures, Workspace& workspace, TypeInferrer& inferrer,
                ModuleBuilder& module)
      : ExprMutator(workspace, &inferrer),
        name_(entry.var->name),
        plan_(plan),
        allocation_(allocation),
        storage_(storage),
        num_captures_(num_captures),
        module_(module),
        calls_(workspace) {
    if (!plan.storage.outputs.items().empty()) AddLaunch(plan.storage);
    for (const auto& region : plan.captures) AddLaunch(*region);
  }

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    const auto* launch = launches_.Find(binding->var);
    if (launch) Launch(**launch);
    if (Redefine(binding->var) || moved_.contains(binding->var)) return;
    ExprMutator::VisitVarBinding(binding);
  }

  // A region may use storage that the function allocates after the begin of the region.
  const Expr* VisitVar(const Var* var) override {
    Redefine(var);
    return ExprMutator::VisitVar(var);
  }

 private:
  void AddLaunch(const GraphRegion& region) {
    launches_.try_emplace(region.bindings.front()->var, &region);
    for (const VarBinding* binding : region.bindings) moved_.insert(binding->var);
  }

  // Binds a variable of a region to the item of its result, unless that is done. Returns whether it is such a variable.
  bool Redefine(const Var* var) {
    const auto* found = items_.Find(var);
    if (!found) return false;
    if (!RemapOf(var)) Remap(var, builder().Emit(*found, var->name()));
    return true;
  }

  void AddItem(const Var* var, const Expr* result, int32_t index) {
    const Type* type = To<TupleType>(result->type)->fields[static_cast<uint32_t>(index)];
    items_.try_emplace(var, workspace().New<TupleGetItem>(result, index, type));
  }

  void Launch(const GraphRegion& region) {
    if (&region == &plan_.storage) return LaunchAllocation();
    std::vector<const Expr*> args;
    for (const Var* input : region.inputs.items()) args.push_back(VisitVar(input));
    std::vector<const Expr*> operands{Capture(region), nullptr, calls_.Int(num_captures_++)};
    // The values of symbolic variables are an argument of the function, and a part of the key of its graph.
    if (const Expr* shape = ShapeOf(region)) {
      args.push_back(shape);
      operands.push_back(shape);
    }
    operands[1] = workspace().New<Tuple>(workspace().Copy(args), nullptr);
    std::vector<const Type*> results;
    for (const Var* output : region.outputs.items()) results.push_back(output->type);
    const Type* type = TupleType::Get(workspace().arena(), results);
    const Var* result = builder().Emit(calls_.WithContext("vm.builtin.cuda_graph.run_or_capture", operands, type));
    int32_t index = 0;
    for (const Var* output : region.outputs.items()) AddItem(output, result, index++);
  }

  void LaunchAllocation() {
    const Type* type = To<FuncType>(module_.module().TypeOf(allocation_))->ret;
    const Var* result = builder().Emit(
        calls_.WithContext("vm.builtin.cuda_graph.get_cached_alloc", {allocation_, calls_.Int(0)}, type));
    for (const Var* output : plan_.storage.outputs.items()) AddItem(output, result, storage_.at(output));
  }

  // Null if the region has no symbolic variables.
  const Expr* ShapeOf(const GraphRegion& region) {
    const std::vector<const PrimExpr*> dims(region.sym_vars.items().begin(), region.sym_vars.items().end());
    if (dims.empty()) return nullptr;
    return workspace().New<ShapeExpr>(workspace().Copy(dims), ShapeType::Get(dims));
  }

  // Makes a function of the region. It is copied, with variables of its own.
  const GlobalVar* Capture(const GraphRegion& region) {
    BlockBuilder body(workspace(), builder().inferrer());
    std::vector<const Var*> params = region.inputs.items();
    if (const Expr* shape = ShapeOf(region)) params.push_back(workspace().NewVar("shape_expr", shape->type));
    body.BeginBindingBlock();
    for (const VarBinding* binding : region.bindings) body.EmitNormalized(binding);
    const Function* function = FinishFunction(body, params, region.outputs.items());
    Workspace own(module_.module());
    const BaseFunc* copy = CloneFunction(function, own, {.fresh_sym_vars = true});
    return module_.AddFunction(copy, own.Finish(), fmt::format("{}_cuda_graph_capture", name_));
  }

  const std::string_view name_;
  const GraphPlan& plan_;
  const GlobalVar* allocation_;
  const StorageIndices& storage_;
  int64_t& num_captures_;
  ModuleBuilder& module_;
  BuiltinCalls calls_;
  LookupMap<const Var*, const GraphRegion*> launches_;  // by the variable of the first binding
  LookupSet<const Var*> moved_;                         // bound in regions
  LookupMap<const Var*, const Expr*> items_;            // outputs of regions
};

Result<Module> RewriteCudaGraph(Module module, DiagnosticEngine& diagnostics) {
  const std::vector<const GlobalVar*> names = RelaxFunctions(module);
  std::vector<GraphPlan> plans;
  for (const GlobalVar* name : names) plans.push_back(PlanCudaGraph(module, *module.Find(name)));
  ModuleBuilder builder(std::move(module));
  StorageIndices storage;
  const GlobalVar* allocation = AddAllocation(MergeStorage(plans, storage), builder);
  int64_t num_captures = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    const ModuleEntry entry = *builder.module().Find(names[i]);
    Workspace workspace(builder.module(), entry.storage);
    OpTypeInferrer inferrer(&builder.module(), workspace.arena(), &diagnostics);
    GraphRewriter rewriter(entry, plans[i], allocation, storage, num_captures, workspace, inferrer, builder);
    const auto* function = To<Function>(rewriter.VisitExpr(entry.func));
    if (rewriter.failed()) return Failure{ErrorCode::PassFailed};
    if (function != entry.func) builder.UpdateFunction(names[i], function, workspace.Finish());
  }
  return builder.Finish();
}

}  // namespace

Pass CreateRewriteCUDAGraph(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) -> Result<Module> {
    if (!context.context.Config(config::relax::backend::use_cuda_graph)) return module;
    return RewriteCudaGraph(std::move(module), context.diagnostics);
  });
}

}  // namespace iropt

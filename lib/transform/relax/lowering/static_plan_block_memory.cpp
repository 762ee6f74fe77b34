// StaticPlanBlockMemory: puts tensors that are not live at the same time into the same storage.
//
//   alloc = R.builtin.alloc_tensor([2, 3], ...)         storage = R.memory.alloc_storage([24], ...)
//   cls.exp(x, alloc)                                   alloc = R.memory.alloc_tensor(storage, 0, [2, 3], ...)
//   alloc1 = R.builtin.alloc_tensor([2, 3], ...)   -->  cls.exp(x, alloc)
//   cls.exp(alloc, alloc1)                              storage1 = R.memory.alloc_storage([24], ...)
//   alloc2 = R.builtin.alloc_tensor([2, 3], ...)        alloc1 = R.memory.alloc_tensor(storage1, 0, [2, 3], ...)
//   cls.exp(alloc1, alloc2)                             cls.exp(alloc, alloc1)
//   return alloc2                                       alloc2 = R.builtin.alloc_tensor([2, 3], ...)
//                                                       cls.exp(alloc1, alloc2)
//                                                       return alloc2
//
// and a further alloc3 would be put into `storage`.
//
//   - Planned is a tensor that is only used in the block that allocates it, as an argument of PrimFuncs, packed
//     functions and R.vm.call_tir_dyn, which are assumed not to keep it, through aliases, tuples and views (R.reshape,
//     R.memory.view, R.memory.ensure_zero_offset). Others stay as they are.
//   - A storage is free after the last use of its tensor. It is reused for tensors of the same dtype, scope and device:
//     the smallest one that is large enough, else the largest one, which is enlarged, within a factor of 16.
//   - For symbolic shapes, sizes are upper bounds. The function attributes tir_var_upper_bound and tir_non_negative_var
//     give the greatest values of variables in its signature, and those that are not negative. Sizes that stay symbolic
//     share storage if they are equal.
//   - With relax.memory_plan_dynamic_func_output, tensors of dynamic shape that are not planned get storage of their
//     own, with the size of the upper bound. The attribute is removed.
//
// Unlike in TVM 0.18, a storage is not reused on another device or out of the scope of its variable (after the branch
// or in the other branch of the conditional that allocates it), nor while the result of a match_cast of its tensor or
// of vm.builtin.reshape may be used. O(nodes log tensors).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/memory.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/remark.h"
#include "iropt/pass/statistic.h"
#include "memory_calls.h"
#include "shape_bounds.h"
#include "storage_planner.h"
#include "transform/relax/util/rewrite_functions.h"

namespace iropt {

namespace {

constexpr Statistic kTensors("StaticPlanBlockMemory", "planned-tensors", "tensors that were put into storage");
constexpr Statistic kStorages("StaticPlanBlockMemory", "storages", "storages for these tensors");
constexpr Statistic kTensorBytes("StaticPlanBlockMemory", "tensor-bytes", "bytes of planned tensors of known size");
constexpr Statistic kStorageBytes("StaticPlanBlockMemory", "storage-bytes", "bytes of storages of known size");

void ReportPlan(const StoragePlan& plan, const Function& function) {
  int64_t bytes = 0;
  size_t num_symbolic = 0;
  for (const PlannedStorage& storage : plan.storages) {
    const int64_t* known = arith::AsInt(storage.bytes);
    bytes += known ? *known : 0;
    num_symbolic += known == nullptr;
  }
  kTensors.Add(plan.num_tensors);
  kStorages.Add(plan.storages.size());
  kTensorBytes.Add(static_cast<uint64_t>(plan.tensor_bytes));
  kStorageBytes.Add(static_cast<uint64_t>(bytes));
  if (!WantsRemarks() || plan.num_tensors + plan.num_unplanned == 0) return;
  RemarkPassed(
      "planned-memory", Location(function),
      fmt::format("{} bytes of tensors share {} bytes of storage; tensors: {} in {} storages, of symbolic size {} "
                  "in {}, not planned {}",
                  plan.tensor_bytes, bytes, plan.num_tensors - plan.num_symbolic, plan.storages.size() - num_symbolic,
                  plan.num_symbolic, num_symbolic, plan.num_unplanned));
}

class AllocationRewriter : public ExprMutator {
 public:
  // `bounds` are those for tensors that are not planned; null if these stay as they are.
  AllocationRewriter(const StoragePlan& plan, ShapeBounds* bounds, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer),
        plan_(plan),
        bounds_(bounds),
        calls_(builder()),
        storages_(plan.storages.size()) {}

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    const uint32_t storage = plan_.StorageOf(binding->var);
    if (storage == StoragePlan::kNone) return ExprMutator::VisitVarBinding(binding);
    const auto& call = *To<Call>(binding->value);
    const Var*& var = storages_[storage];
    if (!var) var = EmitStorage(call, plan_.storages[storage].bytes);
    ReEmitBinding(binding, InStorage(call, var));
  }

  const Expr* VisitCall(const Call* call) override {
    const auto* type = As<TensorType>(call->type);
    const bool is_dynamic = bounds_ && IsOp(call->op, op::kBuiltinAllocTensor) && type && HasSymbolicDim(*type);
    if (!is_dynamic) return ExprMutator::VisitCall(call);
    const arith::PrimBuilder make;
    const PrimExpr* bytes = nullptr;
    for (const PrimExpr* dim : bounds_->UpperBounds(type->dims)) bytes = bytes ? make.Mul(bytes, dim) : dim;
    return InStorage(*call, EmitStorage(*call, make.Mul(bytes, make.Int(ElementBytes(type->dtype)))));
  }

 private:
  static bool HasSymbolicDim(const TensorType& type) {
    return std::ranges::any_of(type.dims, [](const PrimExpr* dim) { return arith::AsInt(dim) == nullptr; });
  }

  const Var* EmitStorage(const Call& call, const PrimExpr* bytes) {
    return builder().Emit(calls_.AllocStorage(bytes, call.args[2], call.args[3], To<TensorType>(call.type)->dtype),
                          "storage");
  }

  const Expr* InStorage(const Call& call, const Var* storage) {
    return calls_.AllocTensor(storage, call.args[0], To<TensorType>(call.type)->dtype);
  }

  const StoragePlan& plan_;
  ShapeBounds* bounds_;
  MemoryCalls calls_;
  std::vector<const Var*> storages_;  // by number: the variable, once it is bound
};

bool PlansDynamicOutput(const Function& function) {
  return op_attrs::ToInt(function.attrs->Find(attr::kMemoryPlanDynamicFuncOutput)) != 0;
}

Result<const Function*> PlanMemory(const Function* function, const Module& module, Workspace& workspace,
                                   DiagnosticEngine& diagnostics) {
  ShapeBounds bounds;
  IROPT_RETURN_IF_ERROR(bounds.Add(*function));
  IROPT_ASSIGN_OR_RETURN(const StoragePlan plan, PlanStorage(*function, module, workspace.num_vars(), bounds));
  ReportPlan(plan, *function);
  const bool plans_dynamic = PlansDynamicOutput(*function);
  if (plan.storages.empty() && !plans_dynamic) return function;
  OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
  AllocationRewriter rewriter(plan, plans_dynamic ? &bounds : nullptr, workspace, inferrer);
  const auto* result = To<Function>(rewriter.VisitExpr(function));
  if (rewriter.failed()) return Failure{ErrorCode::PassFailed};
  if (!plans_dynamic) return result;
  auto* without = workspace.New<Function>(*result);
  without->attrs = result->attrs->Without(attr::kMemoryPlanDynamicFuncOutput);
  return without;
}

}  // namespace

Pass CreateStaticPlanBlockMemory(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) -> Result<Module> {
    const auto plan = [&](const ModuleEntry& entry, Workspace& workspace, DiagnosticEngine& diagnostics) {
      return PlanMemory(To<Function>(entry.func), module, workspace, diagnostics);
    };
    IROPT_RETURN_IF_ERROR(TryRewriteRelaxFunctions(module, context, plan));
    return module;
  });
}

}  // namespace iropt

// distributed.LowerDistIR: replaces distributed tensors by the part that each device has.
//
//   def f(x: R.DTensor((8, 8), "float32",           def f(x: R.Tensor((8, 8), "float32")):
//         "mesh[0]", "S[0]")):               -->        gv: R.Tensor((4, 8)) = R.ccl.scatter_from_worker0(x,
//       y: R.DTensor((8, 8), ...) = R.exp(x)                    num_workers=2, axis=0)
//                                                       y: R.Tensor((4, 8)) = R.exp(gv)
//
// Every device runs the function. Parameters come to the first one, which sends the parts to the others. Run
// distributed.LowerGlobalViewToLocalView before. Meshes have one dimension. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "dist_functions.h"
#include "iropt/infer/sharding.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/distributed.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/relax/util/rewrite_functions.h"

namespace iropt {

namespace {

class DistLowerer : public ExprMutator {
 public:
  DistLowerer(Workspace& workspace, TypeInferrer& inferrer, DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer), diagnostics_(diagnostics) {}

  bool ok() const { return ok_ && !failed(); }

 protected:
  const Expr* VisitFunction(const Function* function) override {
    if (params_.empty()) {
      for (const Var* param : function->params) {
        const Type* type = PlainType(param->type, false, workspace().arena());
        params_.emplace_back(param, type == param->type ? param : RemapToType(param, type));
      }
      const auto* body = As<SeqExpr>(function->body);
      one_block_ = body && body->blocks.size() == 1;
    }
    return ExprMutator::VisitFunction(function);
  }

  const BindingBlock* VisitBlock(const BindingBlock* block) override {
    if (std::exchange(is_distributed_, true)) return ExprMutator::VisitBlock(block);
    block->is_dataflow() ? builder().BeginDataflowBlock() : builder().BeginBindingBlock();
    for (const auto& [old, param] : params_) DistributeParam(old, param);
    for (const Binding* binding : block->bindings) VisitBinding(binding);
    return builder().EndBlock();
  }

  void VisitVarBinding(const VarBinding* binding) override {
    if (const auto* item = As<TupleGetItem>(binding->value)) {
      if (const auto* found = items_.Find({As<Var>(item->tuple), item->index})) return Remap(binding->var, *found);
    }
    const auto* call = As<Call>(binding->value);
    if (!call) return ExprMutator::VisitVarBinding(binding);
    const Expr* local = Localize(*call, binding->var->type);
    ReEmitBinding(binding, builder().Normalize(local == call ? VisitExpr(call) : local));
  }

  void VisitMatchCast(const MatchCast* binding) override {
    const Type* type = PlainType(binding->match_type, true, workspace().arena());
    if (type == binding->match_type) return ExprMutator::VisitMatchCast(binding);
    ReEmitMatchCast(binding, builder().NormalizeArgument(VisitExpr(binding->value)), type);
  }

  const Expr* VisitConstant(const Constant* constant) override {
    const auto* type = As<DTensorType>(constant->type);
    if (!type) return constant;
    for (const int axis : PlacementOf(*type)) {
      if (axis >= 0) return Fail(*constant, "a constant cannot be split over devices; make it a parameter");
    }
    return NewLike<Constant>(workspace(), *constant, constant->data, type->tensor);
  }

 private:
  const Expr* Fail(const Expr& at, std::string_view message) {
    diagnostics_.Error(Location(at), "pass-failed", std::string(message));
    ok_ = false;
    return &at;
  }

  // Sends a parameter from the first device to the others.
  void DistributeParam(const Var* old, const Var* param) {
    if (const auto* type = As<DTensorType>(old->type)) {
      if (const Var* local = Distribute(param, *type)) Remap(old, local);
    }
    const auto* tuple = As<TupleType>(old->type);
    for (uint32_t i = 0; tuple && i < tuple->fields.size(); ++i) {
      const auto* type = As<DTensorType>(tuple->fields[i]);
      if (!type) continue;
      const auto index = static_cast<int32_t>(i);
      const Var* item = builder().Emit(workspace().New<TupleGetItem>(param, index, nullptr));
      if (const Var* local = Distribute(item, *type)) items_[{old, index}] = local;
    }
  }

  const Var* Distribute(const Expr* whole, const DTensorType& type) {
    const Placement placement = PlacementOf(type);
    if (placement.size() != 1) {
      Fail(*whole, "distributed tensors can only be lowered on meshes of one dimension");
      return nullptr;
    }
    const Call* call = nullptr;
    if (placement[0] < 0) {
      call = builder().MakeCall(GetOp(op::kCclBroadcastFromWorker0), {whole});
    } else {
      const ScatterCollectiveAttrs::Values scatter{.num_workers = type.device_mesh->shape[0], .axis = placement[0]};
      call = builder().MakeCall(GetOp(op::kCclScatterFromWorker0), {whole},
                                MakeOpAttrs(op::kCclScatterFromWorker0, scatter));
    }
    // Later blocks see what a dataflow block outputs only.
    return one_block_ ? builder().Emit(call) : builder().EmitOutput(call);
  }

  // The call on the parts that one device has; the call itself if it only needs other operands.
  const Expr* Localize(const Call& call, const Type* result) {
    if (IsOp(call.op, op::kReshape)) return LocalizeShape(call, 1, call.op, result);
    if (IsOp(call.op, op::kDistCallTirLocalView))
      return NewCall(call, GetOp(op::kCallTir), call.args, PlainType(result, true, workspace().arena()));
    if (IsOp(call.op, op::kCallTir) && As<DTensorType>(result))
      return Fail(call, "run distributed.LowerGlobalViewToLocalView before, which replaces R.dist.call_tir");
    const auto* external = As<ExternFunc>(call.op);
    if (!external) return &call;
    if (external->global_symbol == "vm.builtin.distributed.attention_kv_cache_append")
      return NewCall(call, External("vm.builtin.attention_kv_cache_append"), call.args, nullptr);
    if (external->global_symbol == "vm.builtin.distributed.attention_kv_cache_view")
      return LocalizeShape(call, 1, External("vm.builtin.attention_kv_cache_view"), result);
    return &call;
  }

  // The call with the shape of the part in place of that of the whole tensor.
  const Expr* LocalizeShape(const Call& call, uint32_t index, const Expr* op, const Type* result) {
    const auto* type = As<DTensorType>(result);
    if (!type) return &call;
    const auto* shape = call.args.size() > index ? As<ShapeExpr>(call.args[index]) : nullptr;
    if (!shape) return Fail(call, "the shape must be given by its dimensions");
    const std::vector<const PrimExpr*> dims = ShardDims(shape->values.span(), *type);
    std::vector<const Expr*> args(call.args.begin(), call.args.end());
    args[index] = workspace().New<ShapeExpr>(workspace().Copy(dims), ShapeType::Get(dims));
    return NewCall(call, op, workspace().Copy(args),
                   call.type_args ? TensorType::Get(dims, type->tensor->dtype) : nullptr);
  }

  // Null keeps the result type.
  const Expr* NewCall(const Call& call, const Expr* op, List<const Expr*> args, const Type* result) {
    std::vector<const Expr*> visited;
    for (const Expr* arg : args) visited.push_back(VisitExpr(arg));
    const Type* const types[] = {result};
    const TupleType* type_args = result ? TupleType::Get(workspace().arena(), types) : call.type_args;
    return NewLike<Call>(workspace(), call, op, workspace().Copy(visited), call.attrs, type_args, nullptr);
  }

  const Expr* External(std::string_view name) {
    return workspace().New<ExternFunc>(name, DictAttr::Empty(), PackedFuncType());
  }

  DiagnosticEngine& diagnostics_;
  bool ok_ = true;
  bool is_distributed_ = false;  // the parameters are
  bool one_block_ = false;
  std::vector<std::pair<const Var*, const Var*>> params_;  // before and after the pass
  LookupMap<std::pair<const Var*, int32_t>, const Var*> items_;
};

Result<const Function*> LowerFunction(const ModuleEntry& entry, const Module& module, Workspace& workspace,
                                      DiagnosticEngine& diagnostics) {
  const auto* function = To<Function>(entry.func);
  const std::optional<bool> is_distributed = IsDistributed(*function, entry.var->name, diagnostics);
  if (!is_distributed) return Failure{ErrorCode::PassFailed};
  if (!*is_distributed) return function;
  OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
  DistLowerer lowerer(workspace, inferrer, diagnostics);
  const auto* lowered = To<Function>(lowerer.VisitExpr(function));
  if (!lowerer.ok()) return Failure{ErrorCode::PassFailed};
  return lowered;
}

}  // namespace

Pass CreateLowerDistIR(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) -> Result<Module> {
    const Module before = module;
    IROPT_RETURN_IF_ERROR(TryRewriteRelaxFunctions(
        module, context, [&](const ModuleEntry& entry, Workspace& workspace, DiagnosticEngine& diagnostics) {
          return LowerFunction(entry, before, workspace, diagnostics);
        }));
    return module;
  });
}

}  // namespace iropt

// distributed.LowerGlobalViewToLocalView: replaces PrimFuncs on distributed tensors by PrimFuncs on the part that each
// device has.
//
//   y = R.dist.call_tir(cls.f, (x, w),               y1 = R.dist.call_tir_local_view(cls.f1, (x, w), ...)
//       out_sinfo=R.DTensor((8, 8), ...,      -->    y = R.ccl.allreduce(y1, op_type="sum", in_group=False)
//           "mesh[0]", "R"))                         # f1: the loops of f over the axes that are split are shorter
//
// The results of the devices are combined if the loop of a reduction is split. The PrimFuncs that are replaced stay.
// O(nodes), and of each PrimFunc for each call the accesses of its blocks, squared.
//
// Source: TVM 0.18's pass of this name.
#include <vector>

#include "dist_functions.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/location.h"
#include "iropt/ir/module_builder.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/distributed.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "shard_prim_func.h"
#include "transform/relax/lowering/relax_functions.h"

namespace iropt {

namespace {

class LocalViewCaller : public ExprMutator {
 public:
  LocalViewCaller(ModuleBuilder& module, Workspace& workspace, TypeInferrer& inferrer, DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer), module_(module), diagnostics_(diagnostics) {}

  bool ok() const { return ok_ && !failed(); }

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    const PrimFunc* func = PrimFuncOf(*call, module_.module());
    const std::vector<const DTensorType*> types = func ? TypesOf(*call) : std::vector<const DTensorType*>();
    if (types.empty() || types.size() > func->param_buffers.size()) return call;
    const ModuleEntry entry = *module_.module().Find(To<GlobalVar>(call->args[0]));
    Workspace copies(module_.module(), entry.storage);
    const auto* copy = To<PrimFunc>(CloneFunction(func, copies));
    const std::optional<ShardedPrimFunc> sharded = ShardPrimFunc(*copy, types, copies, diagnostics_);
    if (!sharded) {
      ok_ = false;
      return call;
    }
    auto* own = copies.New<PrimFunc>(*sharded->func);
    own->attrs = own->attrs->Without(attr::kGlobalSymbol);
    std::vector<const Expr*> args(call->args.begin(), call->args.end());
    args[0] = module_.AddFunction(own, copies.Finish(), entry.var->name);
    const auto* local = NewLike<Call>(workspace(), *call, GetOp(op::kDistCallTirLocalView), workspace().Copy(args),
                                      call->attrs, call->type_args, nullptr);
    if (sharded->allreduce.empty()) return local;
    const AllReduceAttrs::Values attrs{.op_type = sharded->allreduce, .in_group = false};
    return builder().MakeCall(GetOp(op::kCclAllreduce), {builder().NormalizeArgument(local)},
                              MakeOpAttrs(op::kCclAllreduce, attrs));
  }

 private:
  // Of the operands and the results; empty if the call is not one on distributed tensors.
  static std::vector<const DTensorType*> TypesOf(const Call& call) {
    std::vector<const DTensorType*> types;
    for (const Expr* operand : DistOperands(call)) types.push_back(As<DTensorType>(operand->type));
    const Type* result = call.type_args->fields[0];
    const auto* tuple = As<TupleType>(result);
    const List<const Type*> results = tuple ? tuple->fields : call.type_args->fields;
    bool has_distributed = false;
    for (const Type* one : results) {
      types.push_back(As<DTensorType>(one));
      has_distributed |= types.back() != nullptr;
    }
    return has_distributed ? types : std::vector<const DTensorType*>();
  }

  ModuleBuilder& module_;
  DiagnosticEngine& diagnostics_;
  bool ok_ = true;
};

}  // namespace

Pass CreateLowerGlobalViewToLocalView(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) -> Result<Module> {
    ModuleBuilder builder(std::move(module));
    const Result<bool> changed = UpdateRelaxFunctions(
        builder, context.diagnostics,
        [&](const ModuleEntry& entry, Workspace& workspace, TypeInferrer& inferrer) -> const Function* {
          LocalViewCaller caller(builder, workspace, inferrer, context.diagnostics);
          const auto* function = To<Function>(caller.VisitExpr(entry.func));
          return caller.ok() ? function : nullptr;
        });
    if (!changed.ok()) return changed.error();
    return builder.Finish();
  });
}

}  // namespace iropt

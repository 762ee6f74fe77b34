// FuseTIR: makes one PrimFunc of each Relax function that FuseOps made, and calls it by call_tir.
//
//   @R.function(private=True)                              @T.prim_func(private=True)
//   def fused_add_exp(x, y):                               def fused_add_exp(x, y, output):
//       R.func_attr({"Primitive": 1})                          T_add = T.alloc_buffer(...)
//       lv = R.call_tir(cls.add, (x, y), ...)       -->        for ...: T_add[i, j] = x[i, j] + y[i, j]
//       gv = R.call_tir(cls.exp, (lv,), ...)                   for ...: output[i, j] = T.exp(T_add[i, j])
//       return gv
//   z = cls.fused_add_exp(x, y)                            z = R.call_tir(cls.fused_add_exp, (x, y), ...)
//
// Before, tuple parameters are expanded and unused parameters removed, and afterwards dead code is removed, by the
// passes ExpandTupleArguments, RemoveUnusedParameters and DeadCodeElimination. O(nodes).
//
// Source: the rules are those of TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <unordered_map>

#include "iropt/ir/location.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/transform/passes.h"
#include "prim_func_fuser.h"

namespace iropt {

namespace {

// For each fused function, the parameters that its results are written to.
using FusedFunctions = std::unordered_map<const GlobalVar*, std::vector<int64_t>>;

class CallRewriter : private ExprRewriter<CallRewriter> {
 public:
  CallRewriter(const FusedFunctions& fused, Workspace& workspace)
      : ExprRewriter(workspace, nullptr, Retype::kNever), fused_(fused) {}

  const Function* Run(const Function* function) { return To<Function>(VisitFunction(function)); }
  // A call with a shape or scalar argument of unknown value, or null.
  const Call* unknown() const { return unknown_; }

 private:
  friend class ExprRewriter<CallRewriter>;

  const Expr* VisitCall(const Call* call) {
    const auto* callee = As<GlobalVar>(call->op);
    const auto found = callee ? fused_.find(callee) : fused_.end();
    if (found == fused_.end()) return ExprRewriter::VisitCall(call);
    std::vector<const Expr*> tensors;
    std::vector<const Type*> types;
    std::vector<const PrimExpr*> scalars;
    for (const Expr* arg : call->args) {
      if (const auto* shape = As<ShapeType>(arg->type)) {
        if (!shape->known) unknown_ = call;
        scalars.insert(scalars.end(), shape->values.begin(), shape->values.end());
      } else if (const auto* scalar = As<PrimType>(arg->type)) {
        if (!scalar->value) unknown_ = call;
        if (scalar->value) scalars.push_back(scalar->value);
      } else {
        tensors.push_back(arg);
        types.push_back(arg->type);
      }
    }
    Arena& arena = workspace().arena();
    std::vector<const Expr*> args = {
        callee, NewLike<Tuple>(workspace(), *call, workspace().Copy(tensors), TupleType::Get(arena, types))};
    if (!scalars.empty())
      args.push_back(NewLike<ShapeExpr>(workspace(), *call, workspace().Copy(scalars), ShapeType::Get(scalars)));
    const bool is_inplace = !found->second.empty();
    const Attr* attrs =
        is_inplace ? MakeOpAttrs(op::kCallTirInplace, InplaceAttrs::Values{.inplace_indices = found->second}) : nullptr;
    const Type* const result[] = {call->type};
    return NewLike<Call>(workspace(), *call, GetOp(is_inplace ? op::kCallTirInplace : op::kCallTir),
                         workspace().Copy(args), attrs, TupleType::Get(arena, result), call->type);
  }

  const FusedFunctions& fused_;
  const Call* unknown_ = nullptr;
};

Result<Module> FuseFunctions(Module module, DiagnosticEngine& diagnostics) {
  const Module old = module;
  FusedFunctions fused;
  for (size_t i = 0; i < old.size(); ++i) {
    const ModuleEntry& entry = old.functions()[i];
    const auto* function = As<Function>(entry.func);
    if (!function || !IsPrimitive(*function)) continue;
    FusedPrimFunc made;
    if (const std::string why = FusePrimFuncs(*function, old, made); !why.empty()) {
      diagnostics.Error(Location(*function), "pass-failed",
                        fmt::format("'{}' cannot become a PrimFunc: {}", entry.var->name, why));
      return Failure{ErrorCode::PassFailed};
    }
    fused.emplace(entry.var, made.inplace);
    module.SetAt(i, made.function, std::move(made.storage));
  }
  if (fused.empty()) return module;
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry entry = module.functions()[i];
    const auto* function = As<Function>(entry.func);
    if (!function) continue;
    Workspace workspace(module, entry.storage);
    CallRewriter rewriter(fused, workspace);
    const Function* result = rewriter.Run(function);
    if (rewriter.unknown()) {
      diagnostics.Error(Location(*rewriter.unknown()), "pass-failed",
                        "the call of a fused function has a shape or scalar argument of unknown value");
      return Failure{ErrorCode::PassFailed};
    }
    if (result != function) module.SetAt(i, result, workspace.Finish());
  }
  return module;
}

}  // namespace

Pass CreateFuseTIR(const PassOptions& options) {
  Pass fuse = CreateModulePass({.name = "FuseTIRInner"}, [](Module module, ModulePassContext& context) {
    return FuseFunctions(std::move(module), context.diagnostics);
  });
  const Pass all = Sequential({transform::ExpandTupleArguments(), transform::RemoveUnusedParameters(), std::move(fuse),
                               transform::DeadCodeElimination()});
  return CreateModulePass(options.info(), [all](Module module, ModulePassContext& context) -> Result<Module> {
    // To the instruments this is one pass.
    PassContext inner = context.context;
    inner.instruments = {};
    inner.diagnostics = &context.diagnostics;
    Result<PassResult> result = all(std::move(module), inner);
    if (!result.ok()) return result.error();
    return std::move(result->module);
  });
}

}  // namespace iropt

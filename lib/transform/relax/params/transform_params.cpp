#include "transform_params.h"

#include <fmt/format.h>

#include <vector>

#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/context.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/relax/simplify/canonicalize_bindings.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"

namespace iropt {

namespace {

constexpr std::string_view kReset = "vm.builtin.tuple_reset_item";

// The item that a call resets; null if it does something else.
const PrimExpr* ResetItem(const Call& call, const Var* tuple) {
  if (call.args.size() != 3 || call.args[1] != tuple) return nullptr;
  const auto* callee = As<ExternFunc>(call.args[0]);
  const auto* index = As<PrimValue>(call.args[2]);
  return callee && callee->global_symbol == kReset && index ? index->value : nullptr;
}

class ParamConsumer : public ExprMutator {
 public:
  ParamConsumer(const Function& function, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), tuple_(function.params.back()) {
    struct ResetFinder : WalkHandler {
      void OnCall(const Call& call) {
        if (const auto* index = As<tir::IntImm>(ResetItem(call, tuple))) found.insert(index->value);
      }
      const Var* tuple;
      LookupSet<int64_t> found;
    } finder;
    finder.tuple = tuple_;
    Walk(function, finder);
    reset_ = std::move(finder.found);
  }

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    const auto* item = As<TupleGetItem>(binding->value);
    if (!item || item->tuple != tuple_ || reset_.contains(item->index)) return ExprMutator::VisitVarBinding(binding);
    if (const auto* taken = taken_.Find(item->index)) {
      const Expr* var = VisitExpr(*taken);
      return ReEmitBinding(binding, var);
    }
    ExprMutator::VisitVarBinding(binding);
    taken_.try_emplace(item->index, binding->var);
    builder().Emit(Reset(item->index));
  }

 private:
  const Expr* Reset(int32_t index) {
    const PrimExpr* number = IRContext::Current().Int(index);
    auto* callee = workspace().New<ExternFunc>(kReset, DictAttr::Empty(), nullptr);
    callee->type = builder().inferrer()->Infer(callee);
    const Type* const nothing[] = {TupleType::Get({})};
    return builder().MakeCall(GetOp(op::kCallPurePacked),
                              {callee, tuple_, workspace().New<PrimValue>(number, PrimType::Get(number))}, nullptr,
                              TupleType::Get(nothing));
  }

  const Var* tuple_;
  LookupSet<int64_t> reset_;              // items that the function resets already
  LookupMap<int32_t, const Var*> taken_;  // the variable of an item that was reset
};

}  // namespace

const Function* ComposeTransforms(const Function& first, const Function& second, const Module& module,
                                  Workspace& workspace, DiagnosticEngine& diagnostics) {
  const auto* before = To<Function>(CloneFunction(&first, workspace, {.fresh_sym_vars = true}));
  const auto* after = To<Function>(CloneFunction(&second, workspace, {.fresh_sym_vars = true}));
  const auto& inner = *To<SeqExpr>(before->body);
  const auto& outer = *To<SeqExpr>(after->body);
  const Var* param = after->params[0];
  if (TypeBaseCheck(param->type, inner.body->type) == BaseCheck::kFailL0) {
    diagnostics.Error(Location(first), "pass-failed",
                      fmt::format("the result type {} does not match the parameter type {} of the next function",
                                  TypeToString(inner.body->type), TypeToString(param->type)));
    return nullptr;
  }
  OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
  BlockBuilder builder(workspace, &inferrer);
  std::vector<const BindingBlock*> blocks(inner.blocks.begin(), inner.blocks.end());
  // In the same block as the bindings around it, so that no block of its own remains.
  const auto& neighbours = inner.blocks.empty() ? outer.blocks : inner.blocks;
  if (!neighbours.empty() && neighbours.back()->is_dataflow()) {
    builder.BeginDataflowBlock();
  } else {
    builder.BeginBindingBlock();
  }
  if (TypeEqual(param->type, inner.body->type)) {
    builder.EmitNormalized(workspace.New<VarBinding>(param, inner.body));
  } else {
    builder.EmitNormalized(workspace.New<MatchCast>(param, inner.body, param->type));
  }
  blocks.push_back(builder.EndBlock());
  blocks.insert(blocks.end(), outer.blocks.begin(), outer.blocks.end());
  const Function* composed = builder.MakeFunction(before->params.span(), builder.Seq(blocks, outer.body), before->attrs,
                                                  before->is_pure && after->is_pure);
  const auto canonical = CanonicalizeBindings(composed, &module, workspace, diagnostics);
  return canonical ? RemoveDeadBindings(*canonical, &module, workspace) : nullptr;
}

const Function* ConsumeParams(const Function& function, const Module& module, Workspace& workspace,
                              DiagnosticEngine& diagnostics) {
  OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
  ParamConsumer consumer(function, workspace, inferrer);
  const auto* result = To<Function>(consumer.VisitExpr(&function));
  return consumer.failed() ? nullptr : result;
}

}  // namespace iropt

// LazyGetInput: fetches weights from a callback at their first use, so that they need not be in memory all at once.
//
//   def transform(x, w):                               def transform(x, fget_param):
//       R.func_attr({"num_input": 1})                      R.func_attr({"num_input": 2})
//       y = R.exp(x)                                       y = R.exp(x)
//       z = R.add(y, w)                        -->         w_untyped = fget_param(R.prim_value(0), R.str("w"))
//       return z                                           w = R.match_cast(w_untyped, ...)
//                                                          z = R.add(y, w)
//                                                          return z
//
// The parameters after the first num_input ones are weights; without the attribute all of them are. Changes public
// functions that do not have the callback yet. A weight whose type defines a symbolic variable is fetched before the
// variable is used, also by the types of other weights. Repeated calls of the callback, and other common
// subexpressions, are removed by EliminateCommonSubexpr, dead bindings by DeadCodeElimination. O(nodes).
//
// These are entry points of a program: a reference to one of them within the module is an error.
//
// Source: the rules are those of TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "iropt/analysis/relax/free_vars.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/substitute.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "iropt/transform/relax/simplify/eliminate_common_subexpr.h"
#include "num_input.h"
#include "transform/relax/util/entry_points.h"

namespace iropt {

namespace {

const Type* GetterType() {
  const Type* const params[] = {PrimType::Get(DataType::Int(64)), ObjectType::Get()};
  return FuncType::Get(params, ObjectType::Get());
}

// Emits the call of the callback before each first use of a weight.
class WeightFetcher : public ExprMutator {
 public:
  WeightFetcher(const Function& function, uint32_t num_inputs, Workspace& workspace, TypeInferrer& inferrer,
                DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer),
        diagnostics_(diagnostics),
        callback_(workspace.NewVar("fget_param", GetterType())) {
    for (uint32_t i = 0; i < function.params.size(); ++i) {
      const Var* param = function.params[i];
      if (i >= num_inputs) index_.try_emplace(param, i - num_inputs);
      for (const tir::Var* var : DefinedSymVars(param->type)) {
        if (i >= num_inputs) definers_.emplace(var, param);
      }
    }
    for (uint32_t i = 0; i < num_inputs; ++i) {
      for (const tir::Var* var : DefinedSymVars(function.params[i]->type)) definers_.erase(var);
    }
  }

  bool failed() const { return failed_ || ExprMutator::failed(); }

  const Function* Run(const Function& function, uint32_t num_inputs) {
    EraseWeights(function.params.span().first(num_inputs));
    std::vector<const Var*> params(function.params.begin(), function.params.begin() + num_inputs);
    params.push_back(callback_);
    const DictAttr* attrs = function.attrs->With(attr::kNumInput, IntAttr::Get(num_inputs + 1));
    const Type* returned =
        builder().inferrer()->ReturnType(workspace().Copy(params), To<SeqExpr>(function.body)->body->type);
    return To<Function>(
        VisitExpr(rebuilder().RebuildSignature(function, workspace().Copy(params), function.body, returned, attrs)));
  }

 protected:
  const Expr* VisitVar(const Var* var) override {
    return index_.contains(var) ? Fetch(var) : ExprMutator::VisitVar(var);
  }

  // Weights that a branch, a local function or a dataflow block fetches are available only in it.
  const Expr* VisitSeqExpr(const SeqExpr* seq) override {
    const size_t around = defined_.size();
    const size_t fetched = fetched_.size();
    const Expr* visited = ExprMutator::VisitSeqExpr(seq);
    for (; defined_.size() > around; defined_.pop_back()) definers_.insert(defined_.back());
    ForgetTo(fetched);
    return visited;
  }
  const BindingBlock* VisitBlock(const BindingBlock* block) override {
    const size_t fetched = fetched_.size();
    const BindingBlock* visited = ExprMutator::VisitBlock(block);
    if (block->is_dataflow()) ForgetTo(fetched);
    return visited;
  }
  // A local function cannot use weights that the enclosing dataflow block has fetched.
  const Expr* VisitFunction(const Function* function) override {
    if (!builder().in_block() || !builder().current_block_is_dataflow()) return ExprMutator::VisitFunction(function);
    LookupMap<const Var*, const Var*> around = std::exchange(known_, {});
    const Expr* visited = ExprMutator::VisitFunction(function);
    known_ = std::move(around);
    return visited;
  }

  const Type* VisitType(const Type* type) override {
    if (type->has_sym_var() && !definers_.empty()) Define(SymVarsOf(type));
    if (!type->has_shape_var() || !builder().in_block()) return type;
    return MapShapeVars(type, workspace().arena(), [this](const Expr* shape) { return VisitExpr(shape); });
  }
  const PrimExpr* VisitPrimExpr(const PrimExpr* e) override {
    if (!definers_.empty()) Define(SymVarsOf(e));
    return e;
  }

 private:
  // The types of the remaining parameters must not use symbolic variables that only weights define.
  void EraseWeights(std::span<const Var* const> inputs) {
    std::unordered_set<const tir::Var*> defined;
    for (const Var* input : inputs) {
      for (const tir::Var* var : DefinedSymVars(input->type)) defined.insert(var);
    }
    for (const Var* input : inputs) {
      const Type* type = EraseToWellDefined(
          input->type, [&](const tir::Var* var) { return defined.contains(var) ? var : nullptr; },
          [&](const Expr* shape) { return index_.contains(As<Var>(shape)) ? nullptr : shape; }, workspace().arena());
      if (!TypeEqual(type, input->type)) RemapToType(input, type);
    }
  }

  void Define(const std::vector<const tir::Var*>& vars) {
    for (const tir::Var* var : vars) {
      const auto definer = definers_.find(var);
      if (definer != definers_.end() && builder().in_block()) Fetch(definer->second);
    }
  }

  const Var* Fetch(const Var* weight) {
    if (const auto* known = known_.Find(weight)) return *known;
    for (const tir::Var* var : DefinedSymVars(weight->type)) {
      const auto definer = definers_.find(var);
      if (definer == definers_.end()) continue;
      defined_.push_back(*definer);
      definers_.erase(definer);
    }
    FetchSizes(weight);
    const auto* index = IRContext::Current().Int(index_.at(weight));
    const Expr* args[] = {workspace().New<PrimValue>(index, PrimType::Get(index)),
                          workspace().New<StringImm>(weight->name(), ObjectType::Get())};
    const Var* untyped = builder().Emit(builder().MakeCall(callback_, args), fmt::format("{}_untyped", weight->name()));
    const Var* fetched = builder().EmitMatchCast(untyped, weight->type, weight->name());
    known_.try_emplace(weight, fetched);
    fetched_.push_back(weight);
    return fetched;
  }

  // Weights that define symbolic variables in the type of this weight come before it.
  void FetchSizes(const Var* weight) {
    pending_.push_back(weight);
    for (const tir::Var* var : SymVarsOf(weight->type)) {
      if (const auto definer = definers_.find(var); definer != definers_.end()) {
        WithStack([&] { Fetch(definer->second); });
      } else if (const Var* other = PendingDefiner(var); other && !failed_) {
        diagnostics_.Error(Location(*weight), "pass-failed",
                           fmt::format("weights '{}' and '{}' cannot be fetched in any order: the type of each "
                                       "defines a symbolic variable of the other",
                                       other->name(), weight->name()));
        failed_ = true;
      }
    }
    pending_.pop_back();
  }

  // The pending weight that will define the variable.
  const Var* PendingDefiner(const tir::Var* var) const {
    const auto defines = [&](const Var* weight) {
      const std::vector<const tir::Var*> defined = DefinedSymVars(weight->type);
      return std::ranges::find(defined, var) != defined.end();
    };
    if (pending_.size() < 2 || defines(pending_.back())) return nullptr;
    const auto found = std::find_if(pending_.begin(), pending_.end() - 1, defines);
    return found == pending_.end() - 1 ? nullptr : *found;
  }

  void ForgetTo(size_t size) {
    for (; fetched_.size() > size; fetched_.pop_back()) known_.erase(fetched_.back());
  }

  DiagnosticEngine& diagnostics_;
  const Var* callback_;
  LookupMap<const Var*, int64_t> index_;     // of the weights
  LookupMap<const Var*, const Var*> known_;  // the variables that fetched weights are bound to
  std::vector<const Var*> fetched_;          // the keys of known_, in order
  std::vector<const Var*> pending_;          // weights that wait for others
  std::unordered_map<const tir::Var*, const Var*>
      definers_;  // weights that would define variables that are not defined so far
  std::vector<std::pair<const tir::Var*, const Var*>> defined_;  // of these, the ones defined by now, in that order
  bool failed_ = false;
};

bool NeedsGetter(const Function& function, NumInput num_input) {
  const uint32_t count = num_input.value.value_or(0);
  const bool asks_already =
      count > 0 && count == function.params.size() && TypeEqual(function.params.back()->type, GetterType());
  return function.attrs->Find(attr::kGlobalSymbol) && !asks_already;
}

Result<const Function*> LazyGetInput(const Function* function, FunctionPassContext& context) {
  const auto is_changed = [](const Function& callee) { return NeedsGetter(callee, NumInputOf(callee)); };
  if (RefersToChanged(*function, context, is_changed, {"weights", "asked for"})) return Failure{ErrorCode::PassFailed};
  const NumInput num_input = ReadNumInput(*function, context.var()->name, context.diagnostics());
  if (num_input.is_wrong) return Failure{ErrorCode::PassFailed};
  if (!NeedsGetter(*function, num_input)) return function;
  const uint32_t count = num_input.value.value_or(0);
  Workspace& workspace = context.workspace();
  OpTypeInferrer inferrer(&context.module(), workspace.arena(), &context.diagnostics());
  WeightFetcher fetcher(*function, count, workspace, inferrer, context.diagnostics());
  const Function* lazy = fetcher.Run(*function, count);
  if (fetcher.failed()) return Failure{ErrorCode::PassFailed};
  lazy = EliminateCommonSubexpr(lazy, &context.module(), workspace);
  return RemoveDeadBindings(lazy, &context.module(), workspace);
}

}  // namespace

Pass CreateLazyGetInput(const PassOptions& options) { return CreateFunctionPass(options.info(), &LazyGetInput); }

}  // namespace iropt

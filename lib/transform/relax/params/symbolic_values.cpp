#include "symbolic_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "iropt/analysis/relax/free_vars.h"
#include "iropt/arith/analyzer.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/substitute.h"
#include "transform/relax/simplify/binding_plan.h"
#include "transform/relax/util/rewrite.h"

namespace iropt {

namespace {

// The values that symbolic variables have at a point of the function.
class KnownValues {
 public:
  struct Value {
    const PrimExpr* value;
    const MatchCast* source;
  };

  const Value* Find(const tir::Var* var) const {
    const auto found = values_.find(var);
    return found == values_.end() ? nullptr : &found->second;
  }
  // The variable has no value yet.
  void Add(const tir::Var* var, Value value) {
    values_.emplace(var, value);
    added_.push_back(var);
    types_.clear();
  }
  bool empty() const { return added_.empty(); }

  size_t mark() const { return added_.size(); }
  void LeaveTo(size_t mark) {
    if (added_.size() > mark) types_.clear();
    for (; added_.size() > mark; added_.pop_back()) values_.erase(added_.back());
  }

  const PrimExpr* ValueOf(const tir::Var* var) const {
    const Value* known = Find(var);
    return known ? known->value : var;
  }

  const PrimExpr* Apply(const PrimExpr* e) const {
    SymVarMap map;
    for (const tir::Var* var : SymVarsOf(e)) {
      if (const Value* known = Find(var)) map.Set(var, known->value);
    }
    const PrimExpr* result = SubstituteSymVars(e, map);
    return result == e ? e : arith::Simplify(result);
  }

  const Type* Apply(const Type* type, Arena& arena) {
    if (empty() || !type->has_sym_var()) return type;
    const Type*& result = types_[type];
    if (!result) {
      result = EraseToWellDefined(
          type, [this](const tir::Var* var) { return ValueOf(var); }, [](const Expr* shape) { return shape; }, arena);
      // Types with a shape variable are not interned.
      if (TypeEqual(result, type)) result = type;
    }
    return result;
  }

 private:
  std::unordered_map<const tir::Var*, Value> values_;
  std::vector<const tir::Var*> added_;
  std::unordered_map<const Type*, const Type*> types_;  // results of Apply under the present values
};

class SymbolicSubstituter : public ExprMutator {
 public:
  SymbolicSubstituter(Workspace& workspace, TypeInferrer& inferrer, DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer), diagnostics_(diagnostics) {}

 protected:
  const Type* VisitType(const Type* type) override { return known_.Apply(type, workspace().arena()); }
  const PrimExpr* VisitPrimExpr(const PrimExpr* e) override { return known_.empty() ? e : known_.Apply(e); }

  // What is known holds to the end of the function body or branch.
  const Expr* VisitSeqExpr(const SeqExpr* seq) override {
    const size_t mark = known_.mark();
    const Expr* result = ExprMutator::VisitSeqExpr(seq);
    known_.LeaveTo(mark);
    return result;
  }

  void VisitMatchCast(const MatchCast* cast) override {
    if (const auto found = exit_casts_.find(cast); found != exit_casts_.end())
      return EmitExitCast(*cast, found->second);
    Learn(*cast, VisitExpr(cast->value)->type);
    ExprMutator::VisitMatchCast(cast);
  }

  // The branches may have learnt different things, so the type that the conditional had is restored at their ends.
  const Expr* VisitIf(const If* old) override {
    const Type* type = VisitType(old->type);
    NoteExitCast(old->true_branch, *old, type);
    NoteExitCast(old->false_branch, *old, type);
    const Expr* visited = ExprMutator::VisitIf(old);
    if (visited == old) return old;
    const auto& branch = *To<If>(visited);
    const Expr* true_branch = WithExitCast(*To<SeqExpr>(branch.true_branch), type, "then_branch_with_dyn");
    const Expr* false_branch = WithExitCast(*To<SeqExpr>(branch.false_branch), type, "else_branch_with_dyn");
    If* made = workspace().New<If>(branch.cond, true_branch, false_branch, type);
    made->set_span(old->span());
    return made;
  }

 private:
  void Learn(const MatchCast& cast, const Type* actual) {
    // Of several dimensions that are one variable the last counts.
    std::vector<std::pair<const tir::Var*, const PrimExpr*>> learnt;
    ForEachSymbolicValue(cast.match_type, actual, [&](const tir::Var* var, const PrimExpr* value) {
      const auto same = std::ranges::find(learnt, var, [](const auto& pair) { return pair.first; });
      if (same == learnt.end()) {
        learnt.emplace_back(var, value);
      } else {
        same->second = value;
      }
    });
    for (const auto& [var, value] : learnt) Learn(cast, var, known_.Apply(value));
  }

  void Learn(const MatchCast& cast, const tir::Var* var, const PrimExpr* value) {
    if (const KnownValues::Value* known = known_.Find(var)) {
      if (!arith::ProveNotEqual(known->value, value)) return;
      diagnostics_
          .Error(Location(cast), "pass-failed",
                 fmt::format("match_casts contradict each other: by this one '{}' is {}, by an earlier one {}",
                             var->name, DimToString(value), DimToString(known->value)))
          .Note(Location(*known->source), "the earlier one is here");
      return;
    }
    // n = n + 1 cannot be, but it is found out at run time only.
    const std::vector<const tir::Var*> operands = SymVarsOf(value);
    if (value != var && std::ranges::find(operands, var) != operands.end()) return;
    known_.Add(var, {value, &cast});
  }

  // ---- Exit casts

  // Remembers what to do with a match_cast that restores the type of a conditional already. It tells nothing: what it
  // says of symbolic variables has no use behind it.
  void NoteExitCast(const Expr* body, const If& branch, const Type* type) {
    const auto* seq = To<SeqExpr>(body);
    if (seq->blocks.empty() || seq->blocks.back()->bindings.empty()) return;
    const auto* cast = As<MatchCast>(seq->blocks.back()->bindings.back());
    if (cast && cast->var == seq->body && TypeEqual(cast->match_type, branch.type)) exit_casts_.emplace(cast, type);
  }

  void EmitExitCast(const MatchCast& cast, const Type* type) {
    const Expr* value = VisitExpr(cast.value);
    if (value == cast.value && TypeEqual(type, cast.match_type)) return builder().EmitNormalized(&cast);
    Var* var = workspace().NewVar(cast.var->name(), type);
    var->set_span(cast.var->span());
    Remap(cast.var, var);
    auto* changed = workspace().New<MatchCast>(var, value, type);
    changed->set_span(cast.span());
    builder().EmitNormalized(changed);
  }

  const Expr* WithExitCast(const SeqExpr& seq, const Type* type, std::string_view name) {
    if (TypeEqual(seq.body->type, type)) return &seq;
    const Var* var = workspace().NewVar(name, type);
    const Binding* cast = workspace().New<MatchCast>(var, seq.body, type);
    std::vector<const BindingBlock*> blocks(seq.blocks.begin(), seq.blocks.end());
    blocks.push_back(workspace().New<BindingBlock>(List<const Binding*>(workspace().arena().Copy({cast}))));
    return builder().Seq(blocks, var, seq.span());
  }

  DiagnosticEngine& diagnostics_;
  KnownValues known_;
  std::unordered_map<const MatchCast*, const Type*> exit_casts_;  // looked up, never iterated
};

}  // namespace

Result<const Function*> SubstituteSymbolicValues(const Function* function, const Module* module, Workspace& workspace,
                                                 DiagnosticEngine& diagnostics) {
  OpTypeInferrer inferrer(module, workspace.arena(), &diagnostics);
  SymbolicSubstituter substituter(workspace, inferrer, diagnostics);
  const size_t errors = diagnostics.error_count();
  const auto* result = To<Function>(substituter.VisitExpr(function));
  if (substituter.failed() || diagnostics.error_count() != errors) return Failure{ErrorCode::PassFailed};
  return result;
}

}  // namespace iropt

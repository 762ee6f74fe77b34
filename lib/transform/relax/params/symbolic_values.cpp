#include "symbolic_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "iropt/analysis/relax/free_vars.h"
#include "iropt/arith/analyzer.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/type_walk.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/ir/substitute.h"
#include "iropt/support/hash.h"
#include "iropt/support/lookup.h"
#include "iropt/support/scoped_hash_table.h"
#include "transform/relax/simplify/binding_plan.h"

namespace iropt {

namespace {

// The known values of symbolic variables at a point of the function.
class KnownValues {
 public:
  struct Value {
    const tir::Var* var;
    const PrimExpr* value;
    const MatchCast* source;
    bool is_kept;  // by a match_cast that stays
    uint32_t hash;
  };

  // Values added during its life are removed at its end.
  class Scope {
   public:
    explicit Scope(KnownValues& known) : known_(known), size_(known.values_.size()), scope_(known.values_) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      if (known_.values_.size() > size_) known_.ForgetTypes();
    }

   private:
    KnownValues& known_;
    size_t size_;
    ScopedHashTable<Value>::Scope scope_;
  };

  const Value* Find(const tir::Var* var) const {
    const size_t index = values_.Find(HashOf(var), [&](const Value& value) { return value.var == var; });
    return index == values_.kNone ? nullptr : &values_[index];
  }
  // The variable has no value yet.
  void Add(const tir::Var* var, const PrimExpr* value, const MatchCast* source, bool is_kept) {
    values_.Add({var, value, source, is_kept, HashOf(var)});
    ForgetTypes();
  }
  bool empty() const { return values_.empty(); }
  bool IsKept(const tir::Var* var) const {
    const Value* known = Find(var);
    return known && known->is_kept;
  }
  // The variable has a known value, which replaces it everywhere.
  bool IsReplaced(const tir::Var* var) const {
    const Value* known = Find(var);
    return known && !known->is_kept;
  }

  // If `keeps`, the variables of match_casts that stay are not replaced.
  const PrimExpr* ValueOf(const tir::Var* var, bool keeps) const {
    const Value* known = Find(var);
    return known && !(keeps && known->is_kept) ? known->value : var;
  }

  const PrimExpr* Apply(const PrimExpr* e, bool keeps) const {
    SymVarMap map;
    for (const tir::Var* var : SymVarsOf(e)) {
      if (const PrimExpr* value = ValueOf(var, keeps); value != var) map.Set(var, value);
    }
    const PrimExpr* result = SubstituteSymVars(e, map);
    return result == e ? e : arith::Simplify(result);
  }

  const Type* Apply(const Type* type, bool keeps, Arena& arena) {
    if (empty() || !type->has_sym_var()) return type;
    const Type*& result = types_[keeps][type];
    if (!result) {
      result = EraseToWellDefined(
          type, [&](const tir::Var* var) { return ValueOf(var, keeps); }, [](const Expr* shape) { return shape; },
          arena);
      // Types with a shape variable are not interned.
      if (TypeEqual(result, type)) result = type;
    }
    return result;
  }

 private:
  void ForgetTypes() {
    for (auto& types : types_) types.clear();
  }
  static uint32_t HashOf(const tir::Var* var) {
    return static_cast<uint32_t>(HashMix(reinterpret_cast<uintptr_t>(var)));
  }

  ScopedHashTable<Value> values_;
  std::array<LookupMap<const Type*, const Type*>, 2> types_;  // results of Apply with the current values, by `keeps`
};

// The symbolic variables that code uses as values, not in shapes, and those with which calls state their types.
class ValueUseCollector : public ExprVisitor {
 public:
  LookupSet<const tir::Var*> vars;
  LookupSet<const tir::Var*> stated;

 protected:
  void VisitShapeExpr(const ShapeExpr*) override {}
  void VisitCall(const Call* call) override {
    if (call->type_args) {
      ForEachScalar(call->type_args, /*in_functions=*/false, [&](const PrimExpr* dim) {
        for (const tir::Var* var : SymVarsOf(dim)) stated.insert(var);
      });
    }
    ExprVisitor::VisitCall(call);
  }
  void VisitPrimExpr(const PrimExpr* expr) override {
    for (const tir::Var* var : SymVarsOf(expr)) vars.insert(var);
  }
};

class SymbolicSubstituter : public ExprMutator {
 public:
  SymbolicSubstituter(Workspace& workspace, TypeInferrer& inferrer, DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer), diagnostics_(diagnostics) {}

 protected:
  const Type* VisitType(const Type* type) override { return known_.Apply(type, keeps_shapes_, workspace().arena()); }
  const PrimExpr* VisitPrimExpr(const PrimExpr* e) override {
    return known_.empty() ? e : known_.Apply(e, keeps_shapes_);
  }
  // Since TVM 0.26 values other than shapes stay, and with them the match_casts that define their variables.
  const Expr* VisitPrimValue(const PrimValue* value) override {
    return keeps_values_ ? value : ExprMutator::VisitPrimValue(value);
  }
  const Expr* VisitFunction(const Function* function) override {
    ValueUseCollector uses;
    uses.VisitExpr(function->body);
    if (!keeps_values_) uses.vars = {};
    std::swap(uses.vars, value_uses_);
    std::swap(uses.stated, stated_);
    const size_t outer = defined_.size();
    for (const Var* param : function->params) Define(param->type);
    const Expr* visited = ExprMutator::VisitFunction(function);
    Forget(outer);
    std::swap(uses.vars, value_uses_);
    std::swap(uses.stated, stated_);
    return visited;
  }

  // Values are known until the end of the function body or branch.
  const Expr* VisitSeqExpr(const SeqExpr* seq) override {
    const KnownValues::Scope scope(known_);
    const size_t outer = defined_.size();
    const Expr* visited = ExprMutator::VisitSeqExpr(seq);
    Forget(outer);
    return visited;
  }

  void VisitVarBinding(const VarBinding* binding) override {
    const bool outer = std::exchange(keeps_shapes_, keeps_shapes_ || StatesKeptVars(*binding));
    ExprMutator::VisitVarBinding(binding);
    keeps_shapes_ = outer;
  }

  void VisitMatchCast(const MatchCast* cast) override {
    if (const auto* found = exit_casts_.Find(cast)) return ReEmitMatchCast(cast, VisitExpr(cast->value), *found);
    const bool outer = std::exchange(keeps_shapes_, RecordFacts(*cast, VisitExpr(cast->value)->type));
    ExprMutator::VisitMatchCast(cast);
    keeps_shapes_ = outer;
    Define(cast->match_type);
  }

  // The branches may know different values, so the type of the conditional is restored at their ends.
  const Expr* VisitIf(const If* old) override {
    const Type* type = VisitType(old->type);
    NoteExitCast(old->true_branch, *old, type);
    NoteExitCast(old->false_branch, *old, type);
    const Expr* visited = ExprMutator::VisitIf(old);
    if (visited == old) return old;
    const auto& branch = *To<If>(visited);
    const Expr* true_branch = AddExitCast(*To<SeqExpr>(branch.true_branch), type, "then_branch_with_dyn");
    const Expr* false_branch = AddExitCast(*To<SeqExpr>(branch.false_branch), type, "else_branch_with_dyn");
    return NewLike<If>(workspace(), *old, branch.cond, true_branch, false_branch, type);
  }

 private:
  // Records the values of the variables of the cast. Returns whether the cast stays.
  bool RecordFacts(const MatchCast& cast, const Type* actual) {
    // Of several dimensions that are the same variable the last counts.
    std::vector<std::pair<const tir::Var*, const PrimExpr*>> learnt;
    ForEachSymbolicValue(cast.match_type, actual, [&](const tir::Var* var, const PrimExpr* value) {
      const auto same = std::ranges::find(learnt, var, [](const auto& pair) { return pair.first; });
      if (same == learnt.end()) {
        learnt.emplace_back(var, value);
      } else {
        same->second = value;
      }
    });
    // Values before the cast have the variables that were defined before it in their types.
    const bool is_kept = std::ranges::any_of(learnt, [&](const auto& pair) {
      const tir::Var* var = pair.first;
      return value_uses_.contains(var) || (is_defined_.contains(var) && stated_.contains(var));
    });
    for (const auto& [var, value] : learnt) RecordFact(cast, var, known_.Apply(value, /*keeps=*/false), is_kept);
    return is_kept;
  }

  // Returns whether a call states the type of its result with variables of match_casts that stay. The operands may
  // still have them, and a type without them would not fit.
  bool StatesKeptVars(const VarBinding& binding) const {
    const auto* call = As<Call>(binding.value);
    if (known_.empty() || !call || !call->type_args) return false;
    bool states = false;
    ForEachScalar(call->type_args, /*in_functions=*/false, [&](const PrimExpr* dim) {
      states |= std::ranges::any_of(SymVarsOf(dim), [&](const tir::Var* var) { return known_.IsKept(var); });
    });
    return states;
  }

  void RecordFact(const MatchCast& cast, const tir::Var* var, const PrimExpr* value, bool is_kept) {
    if (const KnownValues::Value* known = known_.Find(var)) {
      if (!arith::ProveNotEqual(known->value, value)) return;
      diagnostics_
          .Error(Location(cast), "pass-failed",
                 fmt::format("MatchCast statements must be consistent: by this one '{}' is {}, by an earlier one {}",
                             var->name, DimToString(value), DimToString(known->value)))
          .Note(Location(*known->source), "the earlier one is here");
      return;
    }
    // n = n + 1 cannot hold, but this is an error only at run time.
    const std::vector<const tir::Var*> operands = SymVarsOf(value);
    if (value != var && std::ranges::find(operands, var) != operands.end()) return;
    known_.Add(var, value, &cast, is_kept);
  }

  // ---- Definitions

  void Define(const Type* type) {
    ForEachScalar(type, /*in_functions=*/false, [&](const PrimExpr* dim) {
      for (const tir::Var* var : SymVarsOf(dim)) {
        if (!known_.IsReplaced(var) && is_defined_.insert(var)) defined_.push_back(var);
      }
    });
  }
  void Forget(size_t count) {
    for (; defined_.size() > count; defined_.pop_back()) is_defined_.erase(defined_.back());
  }

  // ---- Exit casts

  // Records match_casts that restore the type of a conditional already. They give no values: their symbolic variables
  // have no uses after them.
  void NoteExitCast(const Expr* body, const If& branch, const Type* type) {
    const auto* seq = To<SeqExpr>(body);
    if (seq->blocks.empty() || seq->blocks.back()->bindings.empty()) return;
    const auto* cast = As<MatchCast>(seq->blocks.back()->bindings.back());
    if (cast && cast->var == seq->body && TypeEqual(cast->match_type, branch.type)) exit_casts_.try_emplace(cast, type);
  }

  const Expr* AddExitCast(const SeqExpr& seq, const Type* type, std::string_view name) {
    if (TypeEqual(seq.body->type, type)) return &seq;
    const Var* var = workspace().NewVar(name, type);
    const Binding* cast = workspace().New<MatchCast>(var, seq.body, type);
    std::vector<const BindingBlock*> blocks(seq.blocks.begin(), seq.blocks.end());
    blocks.push_back(workspace().New<BindingBlock>(List<const Binding*>(workspace().arena().Copy({cast}))));
    return builder().Seq(blocks, var, seq.span());
  }

  DiagnosticEngine& diagnostics_;
  const bool keeps_values_ = workspace().version() >= TextVersion::kV0_26;
  LookupSet<const tir::Var*> value_uses_;
  LookupSet<const tir::Var*> stated_;
  bool keeps_shapes_ = false;
  KnownValues known_;
  std::vector<const tir::Var*> defined_;  // at this point, by parameters and earlier match_casts
  LookupSet<const tir::Var*> is_defined_;
  LookupMap<const MatchCast*, const Type*> exit_casts_;
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

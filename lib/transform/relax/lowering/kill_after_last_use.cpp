// KillAfterLastUse: frees tensors, storages and other objects after their last use.
//
//   storage = R.memory.alloc_storage(...)            storage = R.memory.alloc_storage(...)
//   y = R.memory.alloc_tensor(storage, ...)          y = R.memory.alloc_tensor(storage, ...)
//   cls.exp(x, y)                               -->  R.memory.kill_storage(storage)
//   z = R.add(x, y)                                  cls.exp(x, y)
//   return z                                         z = R.add(x, y)
//                                                    R.memory.kill_tensor(y)
//                                                    return z
//
// CanonicalizeBindings runs first, so that a value has one name; aliases that it leaves without uses are removed.
//
//   - Storages get R.memory.kill_storage, tensors R.memory.kill_tensor, tuples and other objects R.vm.kill_object.
//   - Parameters, results, variables without any use, those that the function kills itself, and those without a
//     register in the virtual machine stay: constants, shapes, scalars, functions, DataflowVars.
//   - As in TVM 0.18, nothing is freed in a sequence from its first conditional or local function on.
//   - Nothing is freed in a dataflow block, which must not have effects.
//
// Freeing is impure: run ToNonDataflow and RemovePurityChecking first. O(nodes), plus CanonicalizeBindings.
//
// Source: TVM 0.18's pass of this name.
#include <algorithm>
#include <utility>
#include <vector>

#include "impure_calls.h"
#include "iropt/analysis/relax/use_count.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/memory.h"
#include "iropt/op/ops/vm.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/relax/simplify/canonicalize_bindings.h"
#include "kills.h"

namespace iropt {

namespace {

// In this order after a binding that is the last use of several.
enum class Killed : uint8_t { kTensor, kStorage, kObject, kNothing };

bool IsAllocStorage(const Expr* callee) {
  return IsOp(callee, op::kMemoryAllocStorage) || IsOp(callee, op::kVmAllocStorage);
}

Killed KilledAs(const Var& var, const Expr* value) {
  const auto* call = As<Call>(value);
  if (var.is_dataflow() || Is<Constant>(value)) return Killed::kNothing;
  if (call && IsAllocStorage(call->op)) return Killed::kStorage;
  switch (var.type->kind) {
    case NodeKind::kTensorType: return Killed::kTensor;
    case NodeKind::kShapeType:
    case NodeKind::kPrimType:
    case NodeKind::kFuncType: return Killed::kNothing;
    default: return Killed::kObject;
  }
}

// Calls f(const Var*) for each variable that is an operand of the value, at each of its occurrences.
template <class F>
void ForEachOperandVar(const Expr* value, F&& f) {
  const auto visit = [&](const Expr* operand) {
    ForEachLeaf(operand, [&](const Expr* leaf) {
      if (const auto* var = As<Var>(leaf)) f(var);
    });
  };
  if (const auto* call = As<Call>(value)) {
    visit(call->op);
    for (const Expr* arg : call->args) visit(arg);
  } else if (const auto* item = As<TupleGetItem>(value)) {
    visit(item->tuple);
  } else {
    visit(value);
  }
}

// Place of the last use of a variable, and of its definition.
struct Life {
  const Binding* last_use = nullptr;  // the binding that uses it last; null if the result of a sequence does
  uint32_t sequence = 0;              // the number of the SeqExpr that binds it; 0 for parameters
  uint32_t order = 0;                 // of the definitions
  Killed killed = Killed::kNothing;
};

// SeqExprs are numbered from 1 in the order of their begin.
class LifeCollector {
 public:
  explicit LifeCollector(uint32_t num_vars) : lives_(num_vars) {}

  std::vector<Life> Run(const Function& function) {
    VisitBody(function.body);
    return std::move(lives_);
  }

 private:
  void VisitBody(const Expr* body) {
    WithStack([&] {
      const auto* seq = As<SeqExpr>(body);
      if (!seq) return UseAll(body, nullptr);
      const uint32_t outer = std::exchange(sequence_, ++num_sequences_);
      for (const BindingBlock* block : seq->blocks) {
        for (const Binding* binding : block->bindings) VisitBinding(*binding);
      }
      UseAll(seq->body, nullptr);
      sequence_ = outer;
    });
  }

  void VisitBinding(const Binding& binding) {
    const Expr* value = ValueOf(&binding);
    Life& life = lives_[binding.var->id];
    life.sequence = sequence_;
    life.order = ++num_bindings_;
    life.killed = KilledAs(*binding.var, value);
    if (const auto* branch = As<If>(value)) {
      UseAll(branch->cond, &binding);
      VisitBody(branch->true_branch);
      return VisitBody(branch->false_branch);
    }
    if (const auto* function = As<Function>(value)) return VisitBody(function->body);
    const auto* call = Is<VarBinding>(&binding) ? As<Call>(value) : nullptr;
    if (call && IsKill(call->op)) {
      for (const Expr* arg : call->args) {
        if (const auto* var = As<Var>(arg)) lives_[var->id].killed = Killed::kNothing;
      }
    } else {
      UseAll(value, &binding);
    }
  }

  void UseAll(const Expr* value, const Binding* at) {
    ForEachOperandVar(value, [&](const Var* var) { lives_[var->id].last_use = at; });
  }

  std::vector<Life> lives_;
  uint32_t sequence_ = 0;
  uint32_t num_sequences_ = 0;
  uint32_t num_bindings_ = 0;
};

class KillInserter : public ExprMutator {
 public:
  KillInserter(std::vector<Life> lives, Workspace& workspace) : ExprMutator(workspace), lives_(std::move(lives)) {}

 protected:
  const Expr* VisitSeqExpr(const SeqExpr* seq) override {
    const uint32_t outer = std::exchange(sequence_, ++num_sequences_);
    inserts_ = true;
    const Expr* result = ExprMutator::VisitSeqExpr(seq);
    inserts_ = false;
    sequence_ = outer;
    return result;
  }

  void VisitBinding(const Binding* binding) override {
    ExprMutator::VisitBinding(binding);
    if (!inserts_ || builder().current_block_is_dataflow()) return;
    std::vector<const Var*> dead;
    ForEachOperandVar(ValueOf(binding), [&](const Var* var) {
      const Life& life = lives_[var->id];
      const bool dies = life.last_use == binding && life.sequence == sequence_;
      if (dies && life.killed != Killed::kNothing) dead.push_back(var);
    });
    std::ranges::sort(dead, [&](const Var* a, const Var* b) {
      return std::pair(lives_[a->id].killed, lives_[a->id].order) <
             std::pair(lives_[b->id].killed, lives_[b->id].order);
    });
    dead.erase(std::unique(dead.begin(), dead.end()), dead.end());
    for (const Var* var : dead) Kill(var);
  }

 private:
  void Kill(const Var* var) {
    constexpr OpId kOperators[] = {op::kMemoryKillTensor, op::kMemoryKillStorage, op::kVmKillObject};
    const Op* op = GetOp(kOperators[static_cast<size_t>(lives_[var->id].killed)]);
    const List<const Expr*> args = workspace().arena().Copy<const Expr*>({var});
    builder().Emit(workspace().New<Call>(op, args, nullptr, nullptr, TupleType::Get({})), "_");
  }

  std::vector<Life> lives_;  // by Var::id
  uint32_t sequence_ = 0;
  uint32_t num_sequences_ = 0;
  bool inserts_ = false;
};

class UnusedAliasRemover : private ExprRewriter<UnusedAliasRemover> {
 public:
  UnusedAliasRemover(std::vector<uint32_t> uses, Workspace& workspace)
      : ExprRewriter(workspace, nullptr, Retype::kNever), uses_(std::move(uses)) {}

  const Function* Run(const Function* function) { return To<Function>(VisitFunction(function)); }

 private:
  friend class ExprRewriter<UnusedAliasRemover>;

  const Binding* VisitBinding(const Binding* binding) {
    const auto* source = As<Var>(ValueOf(binding));
    if (source && uses_[binding->var->id] == 0 &&
        (Is<VarBinding>(binding) || TypeEqual(binding->var->type, source->type)))
      return nullptr;
    return ExprRewriter::VisitBinding(binding);
  }

  std::vector<uint32_t> uses_;  // by Var::id
};

Result<const Function*> KillAfterLastUse(const Function* function, FunctionPassContext& context) {
  Workspace& workspace = context.workspace();
  IROPT_ASSIGN_OR_RETURN(function, CanonicalizeBindings(function, &context.module(), workspace, context.diagnostics()));
  function = UnusedAliasRemover(UseCounts(*function, workspace.num_vars()), workspace).Run(function);
  KillInserter inserter(LifeCollector(workspace.num_vars()).Run(*function), workspace);
  const auto* result = To<Function>(inserter.VisitExpr(function));
  if (result != function) {
    IROPT_RETURN_IF_ERROR(
        CheckImpureCallsAllowed(*result, context.module(), "KillAfterLastUse", context.diagnostics()));
  }
  return result;
}

}  // namespace

Pass CreateKillAfterLastUse(const PassOptions& options) { return CreateFunctionPass(options.info(), KillAfterLastUse); }

}  // namespace iropt

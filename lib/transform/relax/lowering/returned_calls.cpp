#include "returned_calls.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/analysis/relax/references.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/legalize/legalize.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

bool SelectsRows(const Expr* e) {
  const auto* call = As<Call>(e);
  const auto* op = call ? As<Op>(call->op) : nullptr;
  return op && LegalizationOf(*op->info).counts_rows;
}

// Returns whether it is the number of rows that count.
bool IsCount(const TupleGetItem& item) {
  const auto* type = As<TupleType>(item.tuple->type);
  return type && static_cast<size_t>(item.index) + 1 == type->fields.size();
}

// The calls that select rows, and the variables whose rows an operator, a nested function or a branch may need.
class ReturnedRows : public WalkHandler {
 public:
  explicit ReturnedRows(const SeqExpr& body) {
    for (const BindingBlock* block : body.blocks) {
      for (const Binding* binding : block->bindings) {
        const auto* bound = As<VarBinding>(binding);
        if (bound && SelectsRows(bound->value)) calls_.emplace_back(bound->var, To<Call>(bound->value));
      }
    }
    if (calls_.empty()) return;
    for (const auto& [var, call] : calls_) selected_.insert(var);
    if (!IsAlias(*body.body)) Walk(body.body, *this);
    // An alias comes after what it stands for.
    for (uint32_t i = body.blocks.size(); i-- > 0;) {
      const List<const Binding*>& bindings = body.blocks[i]->bindings;
      for (uint32_t k = bindings.size(); k-- > 0;) VisitValue(*bindings[k]);
    }
  }

  std::unordered_set<const Call*> Calls() const {
    std::unordered_set<const Call*> calls;
    for (const auto& [var, call] : calls_) {
      if (!needed_.contains(var)) calls.insert(call);
    }
    return calls;
  }

  void OnUse(const Var* var) { needed_.insert(var); }

 private:
  void VisitValue(const Binding& binding) {
    if (const auto* bound = As<VarBinding>(&binding)) {
      if (IsAlias(*bound->value) && !needed_.contains(bound->var)) return;
      const auto* item = As<TupleGetItem>(bound->value);
      const auto* tuple = item ? As<Var>(item->tuple) : nullptr;
      if (tuple && IsCount(*item) && selected_.contains(tuple)) return;
      Walk(bound->value, *this);
    } else if (const auto* cast = As<MatchCast>(&binding)) {
      Walk(cast->value, *this);
    }
  }

  // A tuple of anything but variables has operators or functions in it.
  static bool IsAlias(const Expr& value) {
    if (Is<Var>(&value)) return true;
    if (const auto* item = As<TupleGetItem>(&value)) return Is<Var>(item->tuple);
    const auto* tuple = As<Tuple>(&value);
    return tuple && std::ranges::all_of(tuple->fields.span(),
                                        [](const Expr* field) { return WithStack([&] { return IsAlias(*field); }); });
  }

  std::vector<std::pair<const Var*, const Call*>> calls_;
  LookupSet<const Var*> selected_;
  LookupSet<const Var*> needed_;
};

bool IsReferredTo(const Module& module, const GlobalVar& name) {
  const auto index = static_cast<size_t>(module.IndexOf(&name));
  const auto is_it = [&](size_t i) { return i == index; };
  return std::ranges::any_of(module.functions(), [&](const ModuleEntry& entry) {
    const auto* function = As<Function>(entry.func);
    return function && FindReference(*function, module, is_it);
  });
}

}  // namespace

std::unordered_set<const Call*> FindReturnedCalls(const Module& module, const GlobalVar& name,
                                                  const Function& function) {
  const auto* body = As<SeqExpr>(function.body);
  if (!body) return {};
  std::unordered_set<const Call*> calls = ReturnedRows(*body).Calls();
  if (!calls.empty() && IsReferredTo(module, name)) calls.clear();
  return calls;
}

}  // namespace iropt

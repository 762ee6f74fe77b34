#include "iropt/observe/report/pass_effect.h"

#include <functional>
#include <string_view>
#include <utility>

#include "iropt/ir/relax/walk.h"
#include "iropt/ir/structural.h"
#include "iropt/observe/ir_printer.h"
#include "iropt/observe/operator_counts.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

struct BindingFacts {
  const Binding* binding = nullptr;
  size_t uses = 0;  // a hash of the names of the variables in its value, without those of nested bindings
};

struct BindingCollector : WalkHandler {
  void OnBinding(const Binding& binding) { facts.push_back({&binding, 0}); }
  void OnUse(const Var* var) {
    if (facts.empty()) return;
    size_t& uses = facts.back().uses;
    uses = uses * 31 + std::hash<std::string_view>()(var->name());
  }

  std::vector<BindingFacts> facts;
};

std::vector<BindingFacts> BindingsOf(const ModuleEntry* entry) {
  BindingCollector collector;
  const auto* function = entry ? As<Function>(entry->func) : nullptr;
  if (function) Walk(*function, collector);
  return std::move(collector.facts);
}

const Expr* ValueOf(const Binding& binding) {
  return binding.kind == NodeKind::kMatchCast ? static_cast<const MatchCast&>(binding).value
                                              : static_cast<const VarBinding&>(binding).value;
}

// The bindings in branches and local functions are compared on their own.
bool SameValue(const BindingFacts& a, const BindingFacts& b) {
  if (a.binding == b.binding) return true;
  if (a.binding->kind != b.binding->kind) return false;
  const Expr* old_value = ValueOf(*a.binding);
  const Expr* new_value = ValueOf(*b.binding);
  if (old_value == new_value) return true;
  if (a.uses != b.uses || old_value->kind != new_value->kind) return false;
  if (old_value->kind == NodeKind::kIf || old_value->kind == NodeKind::kFunction) return true;
  return StructuralEqual(old_value, new_value, {.map_free_vars = true});
}

// Pairs the bindings of two versions of a function.
class BindingMatcher {
 public:
  BindingMatcher(const std::vector<BindingFacts>& before, const std::vector<BindingFacts>& after)
      : before_(before), after_(after), is_paired_(after.size()) {}

  BindingChanges Run() {
    LookupMap<const Var*, size_t> by_var;
    for (size_t i = 0; i < after_.size(); ++i) by_var.try_emplace(after_[i].binding->var, i);
    std::vector<const BindingFacts*> unpaired;
    for (const BindingFacts& old : before_) {
      auto* found = by_var.Find(old.binding->var);
      !found ? unpaired.push_back(&old) : Pair(old, *found);
    }
    PairByName(unpaired);
    for (const bool is_paired : is_paired_) changes_.added += is_paired ? 0 : 1;
    return changes_;
  }

 private:
  // Variables of one name are paired in their order.
  void PairByName(const std::vector<const BindingFacts*>& unpaired) {
    if (unpaired.empty()) return;
    struct Candidates {
      std::vector<size_t> bindings;
      size_t next = 0;
    };
    LookupMap<std::string_view, Candidates> by_name;
    for (size_t i = 0; i < after_.size(); ++i) {
      if (!is_paired_[i]) by_name[after_[i].binding->var->name()].bindings.push_back(i);
    }
    for (const BindingFacts* old : unpaired) {
      auto* found = by_name.Find(old->binding->var->name());
      if (!found || found->next == found->bindings.size()) {
        ++changes_.removed;
      } else {
        Pair(*old, found->bindings[found->next++]);
      }
    }
  }

  void Pair(const BindingFacts& old, size_t index) {
    is_paired_[index] = true;
    if (!SameValue(old, after_[index])) ++changes_.changed;
  }

  const std::vector<BindingFacts>& before_;
  const std::vector<BindingFacts>& after_;
  std::vector<bool> is_paired_;
  BindingChanges changes_;
};

void AddOperators(const Module& before, const Module& after, const ModuleChanges& changes, PassEffect& effect) {
  std::map<std::string, OperatorChange>& operators = effect.operators;
  for (const auto& [name, n] : CountOperators(SelectFunctions(before, changes.functions))) operators[name].before = n;
  for (const auto& [name, n] : CountOperators(SelectFunctions(after, changes.functions))) operators[name].after = n;
  std::erase_if(operators, [](const auto& row) { return row.second.before == row.second.after; });
}

}  // namespace

PassEffect EffectOf(const Module& before, const Module& after, const ModuleChanges& changes) {
  PassEffect effect;
  effect.attributes = changes.attributes;
  for (const std::string& name : changes.functions) {
    const ModuleEntry* old_entry = before.Find(name);
    const ModuleEntry* new_entry = after.Find(name);
    (old_entry == nullptr ? effect.added : new_entry == nullptr ? effect.removed : effect.changed).push_back(name);
    const std::vector<BindingFacts> old_bindings = BindingsOf(old_entry);
    const std::vector<BindingFacts> new_bindings = BindingsOf(new_entry);
    const BindingChanges bindings = BindingMatcher(old_bindings, new_bindings).Run();
    effect.bindings.added += bindings.added;
    effect.bindings.removed += bindings.removed;
    effect.bindings.changed += bindings.changed;
  }
  if (!changes.functions.empty()) AddOperators(before, after, changes, effect);
  return effect;
}

}  // namespace iropt

// Facts about the elements of buffers that a loop keeps although it writes them.
//
//   # here: B[k] is 0, and A[k] is 0 unless 3 <= k < 17
//   for i, f in T.grid(24, 3):
//       B[i + f] = B[i + f] + A[i] * F[f]      # 0 again, unless 3 <= i < 17
//   # here: B[k] is 0 unless 3 <= k < 19
//
// A fact is an invariant of a loop where each store of the loop leaves it as it is. A store does so where the value
// that it writes, computed from the facts, is that of the fact. The fact is given up for elements of iterations in
// which this does not hold: for a superset of these elements, found by solving the indices for the variables of the
// loops and relaxing the conditions over those that remain.
#include <algorithm>
#include <optional>

#include "buffer_facts.h"
#include "iropt/arith/int_set.h"
#include "iropt/arith/side_effect.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

// A store of a loop, with the loops and conditions between them.
struct NestedStore {
  const tir::BufferStore* store;
  std::vector<const tir::For*> loops;
  std::vector<const PrimExpr*> conditions;
};

class NestedStoreFinder : public tir::StmtExprVisitor {
 public:
  NestedStoreFinder(const tir::For& loop, const arith::PrimBuilder& make) : make_(make), loops_{&loop} {
    VisitStmt(loop.body);
  }
  std::vector<NestedStore> stores;

 protected:
  void VisitFor(const tir::For* loop) override {
    loops_.push_back(loop);
    StmtExprVisitor::VisitFor(loop);
    loops_.pop_back();
  }
  void VisitIfThenElse(const tir::IfThenElse* branch) override {
    Where(branch->condition, branch->then_case);
    if (branch->else_case) Where(make_.Not(branch->condition), branch->else_case);
  }
  void VisitBufferStore(const tir::BufferStore* store) override { stores.push_back({store, loops_, conditions_}); }

 private:
  void Where(const PrimExpr* condition, const tir::Stmt* stmt) {
    const bool is_pure = arith::IsPure(condition);
    if (is_pure) conditions_.push_back(condition);
    VisitStmt(stmt);
    if (is_pure) conditions_.pop_back();
  }

  const arith::PrimBuilder& make_;
  std::vector<const tir::For*> loops_;
  std::vector<const PrimExpr*> conditions_;
};

// ---- Conditions

using Conjunction = std::vector<const PrimExpr*>;
constexpr size_t kMaxConjunctions = 32;

bool IsComparison(const PrimExpr* e) { return e->kind >= NodeKind::kEQ && e->kind <= NodeKind::kGE; }

NodeKind Negation(NodeKind comparison) {
  switch (comparison) {
    case NodeKind::kEQ: return NodeKind::kNE;
    case NodeKind::kNE: return NodeKind::kEQ;
    case NodeKind::kLT: return NodeKind::kGE;
    case NodeKind::kLE: return NodeKind::kGT;
    case NodeKind::kGT: return NodeKind::kLE;
    default: return NodeKind::kLT;
  }
}

// The condition, or its negation, as a disjunction of conjunctions; nothing if there are too many of them.
std::optional<std::vector<Conjunction>> DisjunctiveForm(const PrimExpr* e, bool negate,
                                                        const arith::PrimBuilder& make) {
  if (const auto* negation = As<tir::Not>(e)) return DisjunctiveForm(negation->a, !negate, make);
  if (const int64_t* value = arith::AsInt(e)) {
    std::vector<Conjunction> result;
    if ((*value != 0) != negate) result.emplace_back();
    return result;
  }
  if (e->kind != NodeKind::kAnd && e->kind != NodeKind::kOr) {
    if (!negate) return std::vector<Conjunction>{{e}};
    if (!IsComparison(e)) return std::vector<Conjunction>{{make.Not(e)}};
    const auto* compare = To<tir::BinaryExpr>(e);
    return std::vector<Conjunction>{{make.Binary(Negation(e->kind), compare->a, compare->b)}};
  }
  const auto* both = To<tir::BinaryExpr>(e);
  auto a = DisjunctiveForm(both->a, negate, make);
  const auto b = DisjunctiveForm(both->b, negate, make);
  if (!a || !b) return std::nullopt;
  if ((e->kind == NodeKind::kOr) != negate) {
    a->insert(a->end(), b->begin(), b->end());
    return a->size() <= kMaxConjunctions ? a : std::nullopt;
  }
  if (a->size() * b->size() > kMaxConjunctions) return std::nullopt;
  std::vector<Conjunction> product;
  for (const Conjunction& x : *a) {
    for (const Conjunction& y : *b) {
      product.push_back(x);
      product.back().insert(product.back().end(), y.begin(), y.end());
    }
  }
  return product;
}

}  // namespace

// ---- What one store does to a fact

class BufferFacts::ClobberedElements {
 public:
  // The facts are those from before the loop.
  ClobberedElements(BufferFacts& owner, const State& facts, const LoopWrites& writes, const Fact& fact)
      : owner_(owner), analyzer_(owner.analyzer_), make_(owner.make_), facts_(facts), writes_(writes), fact_(fact) {}

  // A condition on the index of the fact, true for the elements of which the store may change the value; null if it is
  // not known.
  const PrimExpr* By(const NestedStore& nested);

 private:
  class Resolver;

  // Returns the condition under which the store keeps the value of the fact.
  const PrimExpr* WhereKept(const tir::BufferStore& store);
  // Expresses variables of the loops by the index. False if an index is more than a sum of them.
  void Solve(const tir::BufferStore& store);
  const PrimExpr* InIndex(const PrimExpr* e) const;
  bool UsesUnsolved(const PrimExpr* e) const;
  // A condition that holds if the atom holds for any values of the variables that are left; null: always.
  const PrimExpr* Relax(const PrimExpr* atom, const arith::VarDomains& domains);
  // Without what the others say. False if they contradict each other.
  bool Reduce(Conjunction& atoms);

  BufferFacts& owner_;
  arith::Analyzer& analyzer_;
  const arith::PrimBuilder& make_;
  const State& facts_;
  const LoopWrites& writes_;
  const Fact& fact_;
  std::vector<const tir::Var*> unsolved_;
  std::vector<std::pair<const tir::Var*, const PrimExpr*>> solved_;
  Conjunction equations_;
};

// Replaces loads by the values that they have where a condition holds.
class BufferFacts::ClobberedElements::Resolver : public tir::ExprMutator {
 public:
  Resolver(ClobberedElements& lost, const tir::BufferStore& store)
      : ExprMutator(lost.owner_.workspace_), lost_(lost), store_(store), condition_(lost.make_.Bool(true)) {}
  const PrimExpr* condition() const { return condition_; }

 protected:
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const auto* resolved = static_cast<const tir::BufferLoad*>(ExprMutator::VisitBufferLoad(load));
    if (resolved->predicate || !resolved->dtype.is_scalar()) return resolved;
    BufferFacts& owner = lost_.owner_;
    // An element that the fact is about has its value until a store changes it.
    if (resolved->buffer == store_.buffer) {
      const bool same = DeepEqual(resolved->indices, store_.indices);
      return same ? owner.Substitute(lost_.fact_.value, lost_.fact_, store_.indices) : resolved;
    }
    if (lost_.writes_.data.contains(resolved->buffer->data)) return resolved;
    for (auto fact = lost_.facts_.rbegin(); fact != lost_.facts_.rend(); ++fact) {
      if ((*fact)->buffer != resolved->buffer || (*fact)->index.size() != resolved->indices.size()) continue;
      const PrimExpr* holds = lost_.analyzer_.Simplify(owner.Substitute((*fact)->condition, **fact, resolved->indices));
      if (arith::IsInt(holds, 0) || !arith::IsPure(holds)) continue;
      condition_ = owner.And(condition_, holds);
      return owner.Substitute((*fact)->value, **fact, resolved->indices);
    }
    return resolved;
  }

 private:
  ClobberedElements& lost_;
  const tir::BufferStore& store_;
  const PrimExpr* condition_;
};

const PrimExpr* BufferFacts::ClobberedElements::WhereKept(const tir::BufferStore& store) {
  Resolver resolver(*this, store);
  const PrimExpr* written = resolver.VisitExpr(store.value);
  const PrimExpr* own = owner_.Substitute(fact_.value, fact_, store.indices);
  const PrimExpr* same = analyzer_.Simplify(make_.Binary(NodeKind::kEQ, written, own));
  return arith::IsInt(same, 1) ? resolver.condition() : make_.Bool(false);
}

bool BufferFacts::ClobberedElements::UsesUnsolved(const PrimExpr* e) const {
  return tir::UsesVar(e, [&](const tir::Var* var) { return std::ranges::find(unsolved_, var) != unsolved_.end(); });
}

const PrimExpr* BufferFacts::ClobberedElements::InIndex(const PrimExpr* e) const {
  const auto value_of = [&](const tir::Var* var) -> const PrimExpr* {
    const auto it = std::ranges::find(solved_, var, [](const auto& item) { return item.first; });
    return it == solved_.end() ? nullptr : it->second;
  };
  return tir::Substitute(e, value_of, owner_.workspace_);
}

void BufferFacts::ClobberedElements::Solve(const tir::BufferStore& store) {
  for (size_t i = 0; i < fact_.index.size(); ++i) {
    const PrimExpr* index = InIndex(store.indices[i]);
    const PrimExpr* element = fact_.index[i];
    if (!UsesUnsolved(index)) {
      equations_.push_back(make_.Binary(NodeKind::kEQ, element, index));
      continue;
    }
    for (size_t v = 0; v < unsolved_.size(); ++v) {
      const tir::Var* var = unsolved_[v];
      const PrimExpr* rest = analyzer_.Simplify(make_.Sub(index, var));
      const PrimExpr* negated = analyzer_.Simplify(make_.Add(index, var));
      const bool rest_uses = tir::UsesVar(rest, var);
      if (rest_uses && tir::UsesVar(negated, var)) continue;
      const PrimExpr* value = rest_uses ? make_.Sub(negated, element) : make_.Sub(element, rest);
      unsolved_.erase(unsolved_.begin() + static_cast<std::ptrdiff_t>(v));
      const std::pair<const tir::Var*, const PrimExpr*> solution = {var, make_.Cast(var->dtype, value)};
      for (auto& [earlier, its_value] : solved_) {
        its_value = tir::Substitute(its_value, {solution}, owner_.workspace_);
      }
      solved_.push_back(solution);
      break;
    }
  }
}

bool BufferFacts::ClobberedElements::Reduce(Conjunction& atoms) {
  for (size_t i = 0; i < atoms.size();) {
    const PrimExpr* others = fact_.condition;
    for (size_t j = 0; j < atoms.size(); ++j) {
      if (j != i) others = owner_.And(others, atoms[j]);
    }
    const arith::Analyzer::Constraint scope(analyzer_, others);
    const PrimExpr* atom = analyzer_.Simplify(atoms[i]);
    if (arith::IsInt(atom, 0)) return false;
    if (arith::IsInt(atom, 1)) {
      atoms.erase(atoms.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return true;
}

const PrimExpr* BufferFacts::ClobberedElements::Relax(const PrimExpr* atom, const arith::VarDomains& domains) {
  if (!UsesUnsolved(atom)) return atom;
  const auto* compare = IsComparison(atom) ? To<tir::BinaryExpr>(atom) : nullptr;
  if (!compare || !arith::IsIndexType(compare->a->dtype)) return nullptr;
  const bool is_greater = atom->kind == NodeKind::kGT || atom->kind == NodeKind::kGE;
  const PrimExpr* difference = is_greater ? make_.Sub(compare->b, compare->a) : make_.Sub(compare->a, compare->b);
  const arith::IntervalSet set = arith::EvalSet(difference, domains, analyzer_);
  const PrimExpr* zero = make_.Const(0, difference->dtype);
  const auto order = [&](NodeKind kind, const PrimExpr* end) { return end ? make_.Binary(kind, end, zero) : nullptr; };
  switch (atom->kind) {
    case NodeKind::kLT:
    case NodeKind::kGT: return order(NodeKind::kLT, set.min());
    case NodeKind::kLE:
    case NodeKind::kGE: return order(NodeKind::kLE, set.min());
    case NodeKind::kEQ:
      if (!set.is_bounded()) return order(NodeKind::kLE, set.min());
      return owner_.And(order(NodeKind::kLE, set.min()), order(NodeKind::kGE, set.max()));
    default: return nullptr;
  }
}

const PrimExpr* BufferFacts::ClobberedElements::By(const NestedStore& nested) {
  const tir::BufferStore& store = *nested.store;
  const auto is_known = [](const PrimExpr* e) { return e->dtype.is_scalar() && arith::IsPure(e); };
  if (!store.value->dtype.is_scalar() || !std::ranges::all_of(store.indices, is_known)) return nullptr;
  const PrimExpr* kept = WhereKept(store);
  if (arith::IsInt(kept, 1)) return make_.Bool(false);
  for (const tir::For* loop : nested.loops) {
    if (loop->step) return nullptr;
    unsolved_.push_back(loop->loop_var);
  }
  Solve(store);
  const PrimExpr* condition = make_.Not(kept);
  for (const PrimExpr* outer : nested.conditions) condition = owner_.And(condition, outer);
  Conjunction always = equations_;
  arith::VarDomains domains;
  for (const tir::For* loop : nested.loops) {
    const PrimExpr* end = make_.Add(loop->min, loop->extent);
    always.push_back(InIndex(make_.Binary(NodeKind::kLE, loop->min, loop->loop_var)));
    always.push_back(InIndex(make_.Binary(NodeKind::kLT, loop->loop_var, end)));
    const arith::IntervalSet set = arith::IntervalSet::FromRange(InIndex(loop->min), InIndex(loop->extent), make_);
    if (std::ranges::find(unsolved_, loop->loop_var) != unsolved_.end()) domains.try_emplace(loop->loop_var, set);
  }
  const auto cases = DisjunctiveForm(InIndex(condition), /*negate=*/false, make_);
  if (!cases) return nullptr;
  const PrimExpr* lost = make_.Bool(false);
  for (Conjunction atoms : *cases) {
    atoms.insert(atoms.end(), always.begin(), always.end());
    if (!Reduce(atoms)) continue;
    Conjunction relaxed;
    for (const PrimExpr* atom : atoms) {
      if (const PrimExpr* weaker = Relax(atom, domains)) relaxed.push_back(analyzer_.Simplify(weaker));
    }
    if (!Reduce(relaxed)) continue;
    const PrimExpr* here = make_.Bool(true);
    for (const PrimExpr* atom : relaxed) here = owner_.And(here, atom);
    lost = owner_.Or(lost, here);
  }
  return lost;
}

// ---- Facts

BufferFacts::State BufferFacts::InvariantsOf(const tir::For& loop, const LoopWrites& writes, const State& old) {
  State invariants;
  if (writes.opaque) return invariants;
  std::optional<NestedStoreFinder> finder;
  std::unordered_set<const tir::Var*> defined = writes.defined;
  defined.insert(loop.loop_var);
  for (const auto& fact : old) {
    const auto written = writes.data.find(fact->buffer->data);
    if (written == writes.data.end() || written->second != fact->buffer) continue;
    if (tir::UsesAnyOf(defined, fact->condition) || tir::UsesAnyOf(defined, fact->value)) continue;
    if (!finder) finder.emplace(loop, make_);
    const PrimExpr* condition = fact->condition;
    for (const NestedStore& store : finder->stores) {
      if (!condition || store.store->buffer != fact->buffer) continue;
      const PrimExpr* lost = ClobberedElements(*this, old, writes, *fact).By(store);
      const bool is_known = lost && !tir::UsesAnyOf(defined, lost);
      if (is_known && arith::IsInt(lost, 0)) continue;
      condition = is_known ? And(condition, make_.Not(lost)) : nullptr;
    }
    if (!condition) continue;
    if (condition == fact->condition) {
      invariants.push_back(fact);
      continue;
    }
    const State others = std::exchange(facts_, {});
    Add({fact->buffer, fact->index, condition, fact->value});
    invariants.insert(invariants.end(), facts_.begin(), facts_.end());
    facts_ = others;
  }
  return invariants;
}

bool BufferFacts::IsKept(const tir::For& loop, const Fact& fact, const LoopWrites& writes) {
  const auto written = writes.data.find(fact.buffer->data);
  // The value has to be the same in all iterations.
  const LookupSet<const tir::Var*> loop_var = {loop.loop_var};
  if (writes.opaque || written == writes.data.end() || written->second != fact.buffer ||
      tir::UsesAnyOf(loop_var, fact.value))
    return false;
  const Fact anywhere{fact.buffer, fact.index, make_.Bool(true), fact.value};
  const State nothing_else;
  const NestedStoreFinder finder(loop, make_);
  return std::ranges::all_of(finder.stores, [&](const NestedStore& store) {
    if (store.store->buffer != fact.buffer) return true;
    const PrimExpr* lost = ClobberedElements(*this, nothing_else, writes, anywhere).By(store);
    return lost && arith::IsInt(lost, 0);
  });
}

}  // namespace iropt

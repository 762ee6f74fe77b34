#include "buffer_facts.h"

#include <algorithm>
#include <optional>

#include "iropt/arith/side_effect.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/op/intrinsic_ids.h"

namespace iropt {

namespace {

// Beyond these, facts are forgotten.
constexpr size_t kMaxFacts = 32;
constexpr size_t kMaxFactNodes = 256;

size_t NodesIn(const PrimExpr* e) {
  size_t nodes = 0;
  tir::PostOrderVisit(e, [&](const Node*) { ++nodes; });
  return nodes;
}

}  // namespace

// ---- Expressions

const PrimExpr* BufferFacts::And(const PrimExpr* a, const PrimExpr* b) const {
  return make_.Binary(NodeKind::kAnd, a, b);
}
const PrimExpr* BufferFacts::Or(const PrimExpr* a, const PrimExpr* b) const {
  return make_.Binary(NodeKind::kOr, a, b);
}

const PrimExpr* BufferFacts::Substitute(const PrimExpr* e, const Fact& fact, List<const PrimExpr*> indices) {
  const auto value_of = [&](const tir::Var* var) -> const PrimExpr* {
    const auto it = std::ranges::find(fact.index, var);
    return it == fact.index.end() ? nullptr : indices[static_cast<size_t>(it - fact.index.begin())];
  };
  return tir::Substitute(e, value_of, workspace_);
}

class BufferFacts::LoadResolver : public tir::ExprMutator {
 public:
  explicit LoadResolver(BufferFacts& owner) : ExprMutator(owner.workspace_), owner_(owner) {}

 protected:
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const auto* resolved = static_cast<const tir::BufferLoad*>(ExprMutator::VisitBufferLoad(load));
    const PrimExpr* value = owner_.ValueOf(*resolved);
    return value ? value : resolved;
  }

 private:
  BufferFacts& owner_;
};

const PrimExpr* BufferFacts::Resolve(const PrimExpr* expr) {
  return facts_.empty() ? expr : LoadResolver(*this).VisitExpr(expr);
}

const PrimExpr* BufferFacts::ValueOf(const tir::BufferLoad& load) {
  if (load.predicate || !load.dtype.is_scalar()) return nullptr;
  // The latest fact first.
  for (auto fact = facts_.rbegin(); fact != facts_.rend(); ++fact) {
    if ((*fact)->buffer != load.buffer || (*fact)->index.size() != load.indices.size()) continue;
    if (arith::IsInt(analyzer_.Simplify(Substitute((*fact)->condition, **fact, load.indices)), 1))
      return Substitute((*fact)->value, **fact, load.indices);
  }
  return nullptr;
}

// ---- Facts

void BufferFacts::Add(Fact fact) {
  fact.condition = analyzer_.Simplify(fact.condition);
  fact.value = analyzer_.Simplify(fact.value);
  if (arith::IsInt(fact.condition, 0) || !arith::IsPure(fact.condition) || !arith::IsPure(fact.value)) return;
  if (NodesIn(fact.condition) + NodesIn(fact.value) > kMaxFactNodes) return;
  Keep(std::make_shared<const Fact>(std::move(fact)));
}

void BufferFacts::Keep(const std::shared_ptr<const Fact>& fact) {
  if (std::ranges::find(facts_, fact) != facts_.end()) return;
  if (facts_.size() == kMaxFacts) facts_.erase(facts_.begin());
  facts_.push_back(fact);
}

// Adds what is left of a fact where the condition holds. One that held only there stays as it is: its condition would
// grow with each statement that writes elsewhere.
void BufferFacts::AddWhere(const PrimExpr* holds, const std::shared_ptr<const Fact>& fact) {
  bool is_same = false;
  {
    const arith::Analyzer::Constraint scope(analyzer_, fact->condition);
    is_same = arith::IsInt(analyzer_.Simplify(holds), 1);
  }
  if (is_same) return Keep(fact);
  Add({fact->buffer, fact->index, And(fact->condition, holds), fact->value});
}

std::vector<const tir::Var*> BufferFacts::NewIndex(List<const PrimExpr*> indices) {
  std::vector<const tir::Var*> index;
  for (const PrimExpr* e : indices) index.push_back(workspace_.NewPrimVar("k", e->dtype.with_lanes(1)));
  return index;
}

const PrimExpr* BufferFacts::IndexPredicate(const std::vector<const tir::Var*>& index, List<const PrimExpr*> indices) {
  const PrimExpr* at_index = make_.Bool(true);
  for (size_t i = 0; i < index.size(); ++i) {
    const PrimExpr* e = indices[i];
    if (!arith::IsPure(e)) return nullptr;
    if (e->dtype.is_scalar()) {
      at_index = And(at_index, make_.Binary(NodeKind::kEQ, index[i], e));
      continue;
    }
    const auto* ramp = As<tir::Ramp>(e);
    if (!ramp || !arith::IsInt(ramp->stride, 1) || !arith::AsInt(ramp->lanes)) return nullptr;
    const PrimExpr* end = make_.Add(ramp->base, make_.Const(*arith::AsInt(ramp->lanes), ramp->base->dtype));
    at_index = And(at_index,
                   And(make_.Binary(NodeKind::kLE, ramp->base, index[i]), make_.Binary(NodeKind::kLT, index[i], end)));
  }
  return at_index;
}

void BufferFacts::Forget(const tir::Var& var) {
  const auto is_var = [&](const tir::Var* used) { return used == &var; };
  std::erase_if(facts_, [&](const std::shared_ptr<const Fact>& fact) {
    return tir::UsesVar(fact->condition, is_var) || tir::UsesVar(fact->value, is_var);
  });
}

void BufferFacts::Store(const tir::BufferStore& store) {
  const PrimExpr* value = Resolve(store.value);
  Evaluate(store.value);
  for (const PrimExpr* e : store.indices) Evaluate(e);
  const std::vector<const tir::Var*> index = NewIndex(store.indices);
  const PrimExpr* at_index = IndexPredicate(index, store.indices);
  State old = std::exchange(facts_, {});
  for (const auto& fact : old) {
    if (fact->buffer->data != store.buffer->data) {
      facts_.push_back(fact);
    } else if (fact->buffer == store.buffer && at_index) {
      const Fact same_index{store.buffer, index, at_index, value};
      std::vector<const PrimExpr*> own(fact->index.begin(), fact->index.end());
      const PrimExpr* written = Substitute(at_index, same_index, workspace_.Copy(own));
      AddWhere(make_.Not(written), fact);
    }
  }
  if (!at_index || store.predicate) return;
  if (value->dtype.is_scalar()) return Add({store.buffer, index, at_index, value});
  // A vector in a row of elements.
  const auto* ramp = As<tir::Ramp>(store.indices[store.indices.size() - 1]);
  const auto* copies = As<tir::Broadcast>(value);
  const auto* steps = As<tir::Ramp>(value);
  if (!ramp || (!copies && !steps)) return;
  if (copies) return Add({store.buffer, index, at_index, copies->value});
  const PrimExpr* lane = make_.Cast(steps->base->dtype, make_.Sub(index.back(), ramp->base));
  Add({store.buffer, index, at_index, make_.Add(steps->base, make_.Mul(lane, steps->stride))});
}

void BufferFacts::Evaluate(const PrimExpr* expr) {
  if (arith::SideEffect(expr) > CallEffect::kReadState) InvalidateAll();
}

void BufferFacts::Assume(const PrimExpr* condition) {
  if (const auto* both = As<tir::And>(condition)) {
    Assume(both->a);
    Assume(both->b);
    return;
  }
  // P or A[i] == v holds only where P does not.
  const PrimExpr* where = make_.Bool(true);
  while (const auto* either = As<tir::Or>(condition)) {
    const bool first = arith::IsPure(either->a);
    if (!first && !arith::IsPure(either->b)) return;
    where = And(where, make_.Not(first ? either->a : either->b));
    condition = first ? either->b : either->a;
  }
  AssumeEquality(condition, where);
}

void BufferFacts::AssumeEquality(const PrimExpr* condition, const PrimExpr* where) {
  const auto* equal = As<tir::EQ>(condition);
  if (!equal) return;
  const auto* load = As<tir::BufferLoad>(equal->a);
  const PrimExpr* value = equal->b;
  if (!load) {
    load = As<tir::BufferLoad>(equal->b);
    value = equal->a;
  }
  if (!load || load->predicate || !load->dtype.is_scalar()) return;
  const std::vector<const tir::Var*> index = NewIndex(load->indices);
  const PrimExpr* at_index = IndexPredicate(index, load->indices);
  if (at_index) Add({load->buffer, index, And(at_index, where), Resolve(value)});
}

void BufferFacts::Join(const PrimExpr* condition, const State& then_state, const State& else_state) {
  facts_.clear();
  for (const auto& fact : then_state) {
    if (std::ranges::find(else_state, fact) != else_state.end()) facts_.push_back(fact);
  }
  if (!arith::IsPure(condition)) return;
  const State common = facts_;
  const auto add = [&](const State& state, const PrimExpr* holds) {
    for (const auto& fact : state) {
      if (std::ranges::find(common, fact) != common.end()) continue;
      Add({fact->buffer, fact->index, And(fact->condition, holds), fact->value});
    }
  };
  add(then_state, condition);
  add(else_state, make_.Not(condition));
}

// ---- Loops

// Collects what the body of a loop writes and defines.
class BufferFacts::WriteFinder : public tir::StmtExprVisitor {
 public:
  // With null for the loop variable, no place of a store is known.
  WriteFinder(const tir::Var* loop_var, LoopWrites& writes) : loop_var_(loop_var), writes_(writes) {}

 protected:
  void VisitVarDef(const tir::Var* var) override { writes_.defined.insert(var); }
  void VisitCall(const tir::Call* call) override {
    const auto* op = As<Op>(call->op);
    writes_.opaque = writes_.opaque || !op || EffectOf(op) > CallEffect::kReadState;
    StmtExprVisitor::VisitCall(call);
  }
  void VisitEvaluate(const tir::Evaluate* stmt) override {
    if (!CallOf(stmt->value, op::kTirAssume)) StmtExprVisitor::VisitEvaluate(stmt);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    const auto [data, is_new] = writes_.data.try_emplace(store->buffer->data, store->buffer);
    if (data->second != store->buffer) data->second = nullptr;
    if (const auto place = PlaceOf(*store)) {
      writes_.stores[store->buffer].push_back(*place);
    } else {
      writes_.unknown.insert(store->buffer);
    }
    StmtExprVisitor::VisitBufferStore(store);
  }

 private:
  // A dimension of which the index is the loop variable plus an offset that is the same in all iterations.
  std::optional<LoopStore> PlaceOf(const tir::BufferStore& store) const {
    for (size_t i = 0; loop_var_ && i < store.indices.size(); ++i) {
      const PrimExpr* index = store.indices[i];
      if (index == loop_var_) return LoopStore{i, nullptr};
      const auto* sum = As<tir::Add>(index);
      if (sum && sum->a == loop_var_ && IsInvariant(sum->b)) return LoopStore{i, sum->b};
      if (sum && sum->b == loop_var_ && IsInvariant(sum->a)) return LoopStore{i, sum->a};
    }
    return std::nullopt;
  }
  // Returns whether the expression is the same in all iterations. The variables around a store have been visited before
  // it.
  bool IsInvariant(const PrimExpr* e) const {
    return !tir::UsesVar(e, loop_var_) && !tir::UsesAnyOf(writes_.defined, e) && arith::IsPure(e);
  }

  const tir::Var* loop_var_;
  LoopWrites& writes_;
};

const std::vector<BufferFacts::LoopStore>* BufferFacts::LoopWrites::PlacesOf(const tir::Buffer& buffer) const {
  const auto only = data.find(buffer.data);
  const auto places = stores.find(&buffer);
  const bool known = only != data.end() && only->second == &buffer && !unknown.contains(&buffer);
  return known && places != stores.end() ? &places->second : nullptr;
}

const PrimExpr* BufferFacts::IterationOf(const LoopStore& store, const Fact& fact) const {
  const PrimExpr* index = fact.index[store.dim];
  return store.offset ? make_.Sub(index, store.offset) : index;
}

void BufferFacts::Invalidate(const tir::Stmt* written) {
  LoopWrites writes;
  WriteFinder(nullptr, writes).VisitStmt(written);
  if (writes.opaque) return InvalidateAll();
  std::erase_if(facts_, [&](const auto& fact) {
    return writes.data.contains(fact->buffer->data) || writes.defined.contains(fact->buffer->data) ||
           tir::UsesAnyOf(writes.defined, fact->condition) || tir::UsesAnyOf(writes.defined, fact->value);
  });
}

// Facts from before a loop hold in and after it where the loop does not write: within it where it has not yet written,
// if its iterations run in order.
void BufferFacts::KeepUnwritten(const tir::For& loop, const LoopWrites& writes, const State& old, bool is_within) {
  const bool in_order = loop.for_kind == tir::ForKind::kSerial || loop.for_kind == tir::ForKind::kUnrolled;
  const PrimExpr* end = make_.Add(loop.min, loop.extent);
  for (const auto& fact : old) {
    if (!writes.data.contains(fact->buffer->data)) {
      facts_.push_back(fact);
      continue;
    }
    const std::vector<LoopStore>* stores = writes.PlacesOf(*fact->buffer);
    if (!stores || loop.step) continue;
    const PrimExpr* holds = make_.Bool(true);
    for (const LoopStore& store : *stores) {
      const PrimExpr* iteration = IterationOf(store, *fact);
      const PrimExpr* unwritten =
          Or(make_.Binary(NodeKind::kLT, iteration, loop.min), make_.Binary(NodeKind::kGE, iteration, end));
      if (is_within) {
        unwritten = Or(make_.Binary(in_order ? NodeKind::kGE : NodeKind::kEQ, iteration, loop.loop_var), unwritten);
      }
      holds = And(holds, unwritten);
    }
    AddWhere(holds, fact);
  }
}

void BufferFacts::AddInvariants(const LoopWrites& writes) {
  for (const auto& fact : writes.invariants) Keep(fact);
}

// Keeps the facts that hold at the start of every iteration: those that earlier iterations, or if they run in any order
// all other ones, leave.
void BufferFacts::EnterLoop(const tir::For& loop) {
  auto writes = std::make_shared<LoopWrites>();
  WriteFinder(loop.loop_var, *writes).VisitStmt(loop.body);
  const State old = std::exchange(facts_, {});
  if (!writes->opaque) KeepUnwritten(loop, *writes, old, /*is_within=*/true);
  writes->invariants = InvariantsOf(loop, *writes, old);
  AddInvariants(*writes);
  writes_[&loop] = std::move(writes);
}

// Keeps the facts from before the loop about elements that it does not write, and those about the elements that the
// last iteration to write them left.
void BufferFacts::LeaveLoop(const tir::For& loop, const State& before) {
  const std::shared_ptr<const LoopWrites> writes = writes_.extract(&loop).mapped();
  const State after_body = std::exchange(facts_, {});
  if (writes->opaque) return;
  KeepUnwritten(loop, *writes, before, /*is_within=*/false);
  AddInvariants(*writes);
  if (loop.step) return;
  for (const auto& fact : after_body) AddFactOfAnyIteration(loop, *fact, *writes);
}

// The value that the condition says the variable has, a constant if it says one; null if it says none.
const PrimExpr* BufferFacts::ValueIn(const PrimExpr* condition, const tir::Var* var) {
  if (const auto* both = As<tir::And>(condition)) {
    const PrimExpr* value = ValueIn(both->a, var);
    const PrimExpr* other = value && arith::AsInt(value) ? nullptr : ValueIn(both->b, var);
    return other && (!value || arith::AsInt(other)) ? other : value;
  }
  const auto* equal = As<tir::EQ>(condition);
  if (!equal || !tir::UsesVar(equal, var) || !arith::IsIndexType(equal->a->dtype)) return nullptr;
  const PrimExpr* difference = make_.Sub(equal->a, equal->b);
  const PrimExpr* negated = analyzer_.Simplify(make_.Sub(difference, var));
  if (!tir::UsesVar(negated, var)) return analyzer_.Simplify(make_.Sub(make_.Const(0, var->dtype), negated));
  const PrimExpr* value = analyzer_.Simplify(make_.Add(difference, var));
  return tir::UsesVar(value, var) ? nullptr : value;
}

// Returns whether no iteration after `iteration` writes the elements of the fact: it is the last one, or all stores to
// the buffer write an element in iterations that differ from it by a constant.
bool BufferFacts::IsLastWrite(const tir::For& loop, const Fact& fact, const PrimExpr* iteration,
                              const LoopWrites& writes) {
  const bool in_order = loop.for_kind == tir::ForKind::kSerial || loop.for_kind == tir::ForKind::kUnrolled;
  const PrimExpr* next = make_.Add(iteration, make_.Const(1, iteration->dtype));
  if (in_order && analyzer_.CanProveEqual(next, make_.Add(loop.min, loop.extent))) return true;
  const std::vector<LoopStore>* stores = writes.PlacesOf(*fact.buffer);
  const arith::Analyzer::Constraint scope(analyzer_, fact.condition);
  return stores && std::ranges::all_of(*stores, [&](const LoopStore& store) {
           const int64_t* later = arith::AsInt(analyzer_.Simplify(make_.Sub(IterationOf(store, fact), iteration)));
           return later && (in_order ? *later <= 0 : *later == 0);
         });
}

// Adds a fact that holds after an iteration, whichever it is: it holds after the last one. So it is for loops of one
// iteration, whose variable has been replaced by its value.
void BufferFacts::AddFactOfLastIteration(const tir::For& loop, const Fact& fact, const LoopWrites& writes) {
  const auto is_same = [&](const auto& known) { return known.get() == &fact; };
  if (std::ranges::any_of(facts_, is_same) || tir::UsesVar(fact.value, loop.loop_var)) return;
  if (writes.defined.contains(fact.buffer->data) || tir::UsesAnyOf(writes.defined, fact.condition) ||
      tir::UsesAnyOf(writes.defined, fact.value)) {
    return;
  }
  if (!analyzer_.CanProve(make_.Binary(NodeKind::kGT, loop.extent, make_.Const(0, loop.extent->dtype)))) return;
  Add(fact);
}

// A fact about the elements of one iteration becomes one about those of all, if later iterations do not write there, or
// only the same value.
void BufferFacts::AddFactOfAnyIteration(const tir::For& loop, const Fact& fact, const LoopWrites& writes) {
  if (!tir::UsesVar(fact.condition, loop.loop_var)) return AddFactOfLastIteration(loop, fact, writes);
  const PrimExpr* iteration = ValueIn(fact.condition, loop.loop_var);
  if (!iteration || writes.defined.contains(fact.buffer->data)) return;
  const bool is_written = writes.data.contains(fact.buffer->data);
  if (is_written && !IsLastWrite(loop, fact, iteration, writes) && !IsKept(loop, fact, writes)) return;
  const tir::VarValues at_iteration = {{loop.loop_var, iteration}};
  const PrimExpr* condition = tir::Substitute(fact.condition, at_iteration, workspace_);
  const PrimExpr* value = tir::Substitute(fact.value, at_iteration, workspace_);
  if (tir::UsesAnyOf(writes.defined, condition) || tir::UsesAnyOf(writes.defined, value)) return;
  const PrimExpr* in_range = And(make_.Binary(NodeKind::kLE, loop.min, iteration),
                                 make_.Binary(NodeKind::kLT, iteration, make_.Add(loop.min, loop.extent)));
  Add({fact.buffer, fact.index, And(in_range, condition), value});
}

}  // namespace iropt

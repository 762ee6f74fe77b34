// Facts about the values of the elements of buffers at a place of a function, for passes that walk it in the order of
// execution.
//
// A fact has the form "for all k with P(k), A[k] is V(k)". Facts come from stores, from T.assume and from
// conditions around a statement:
//
//   for i in range(16):
//       A[i] = i * 2                # here: A[k] is k * 2 for k == i
//   # here: A[k] is k * 2 for 0 <= k < 16
//
// A store of an unknown value and everything that may write memory in another way make facts weaker. The number of
// facts is limited, so that a step costs O(size of the expressions); a loop costs that for each of its stores.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt {

class BufferFacts {
 public:
  BufferFacts(arith::Analyzer& analyzer, Workspace& workspace)
      : analyzer_(analyzer), make_(workspace), workspace_(workspace) {}

  // The expression with the loads replaced of which the value is known.
  const PrimExpr* Resolve(const PrimExpr* expr);

  struct Fact {
    const tir::Buffer* buffer;
    std::vector<const tir::Var*> index;  // k
    const PrimExpr* condition;           // P, pure
    const PrimExpr* value;               // V, pure
  };
  using State = std::vector<std::shared_ptr<const Fact>>;

  // ---- Steps of the walk
  // The condition holds here.
  void Assume(const PrimExpr* condition);
  void Store(const tir::BufferStore& store);
  // The expression is evaluated, which may write to any buffer.
  void Evaluate(const PrimExpr* expr);
  void InvalidateAll() { facts_.clear(); }
  // The scope of the variable ends, so that no fact may name it.
  void Forget(const tir::Var& var);
  // The statement may have run, with other values of its variables.
  void Invalidate(const tir::Stmt* written);

  const State& state() const { return facts_; }
  void set_state(State state) { facts_ = std::move(state); }
  // After the branches of a condition that left these states.
  void Join(const PrimExpr* condition, const State& then_state, const State& else_state);

  // Around the body of a loop. `before` is the state before EnterLoop.
  void EnterLoop(const tir::For& loop);
  void LeaveLoop(const tir::For& loop, const State& before);

 private:
  // A store in a loop, as seen from an index k: it writes in the iteration in which the loop variable is k[dim] -
  // offset.
  struct LoopStore {
    size_t dim;
    const PrimExpr* offset;
  };
  struct LoopWrites {
    bool opaque = false;  // anything may be written
    // By buffer; those in `unknown` are written elsewhere as well.
    std::unordered_map<const tir::Buffer*, std::vector<LoopStore>> stores;
    std::unordered_set<const tir::Buffer*> unknown;
    std::unordered_map<const tir::Var*, const tir::Buffer*> data;  // of all written buffers; null: of several
    std::unordered_set<const tir::Var*> defined;
    State invariants;  // hold before, in and after the loop

    // Returns the stores to the buffer; null if they are not all known, or if there are none.
    const std::vector<LoopStore>* PlacesOf(const tir::Buffer& buffer) const;
  };
  class WriteFinder;
  class LoadResolver;
  class ClobberedElements;

  void Add(Fact fact);
  void Keep(const std::shared_ptr<const Fact>& fact);
  void AddWhere(const PrimExpr* holds, const std::shared_ptr<const Fact>& fact);
  const PrimExpr* And(const PrimExpr* a, const PrimExpr* b) const;
  const PrimExpr* Or(const PrimExpr* a, const PrimExpr* b) const;
  const PrimExpr* Substitute(const PrimExpr* e, const Fact& fact, List<const PrimExpr*> indices);
  const PrimExpr* ValueOf(const tir::BufferLoad& load);
  std::vector<const tir::Var*> NewIndex(List<const PrimExpr*> indices);
  // k is one of the elements that the indices, of which the last may be a vector, stand for; null if that is not known.
  const PrimExpr* IndexPredicate(const std::vector<const tir::Var*>& index, List<const PrimExpr*> indices);
  void AssumeEquality(const PrimExpr* condition, const PrimExpr* where);
  void KeepUnwritten(const tir::For& loop, const LoopWrites& writes, const State& old, bool is_within);
  // Of the facts from before a loop, those about memory that the loop writes and that it leaves as it is
  // (buffer_fact_invariants.cpp).
  State InvariantsOf(const tir::For& loop, const LoopWrites& writes, const State& old);
  void AddInvariants(const LoopWrites& writes);
  // Returns whether no iteration changes what holds after one of them (buffer_fact_invariants.cpp).
  bool IsKept(const tir::For& loop, const Fact& fact, const LoopWrites& writes);
  const PrimExpr* ValueIn(const PrimExpr* condition, const tir::Var* var);
  bool IsLastWrite(const tir::For& loop, const Fact& fact, const PrimExpr* iteration, const LoopWrites& writes);
  void AddFactOfLastIteration(const tir::For& loop, const Fact& fact, const LoopWrites& writes);
  void AddFactOfAnyIteration(const tir::For& loop, const Fact& fact, const LoopWrites& writes);
  // The iteration in which the store writes element k.
  const PrimExpr* IterationOf(const LoopStore& store, const Fact& fact) const;

  arith::Analyzer& analyzer_;
  const arith::PrimBuilder make_;
  Workspace& workspace_;
  State facts_;
  // By loop that was entered.
  std::unordered_map<const tir::For*, std::shared_ptr<const LoopWrites>> writes_;
};

}  // namespace iropt

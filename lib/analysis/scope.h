// The variables in scope at a point of a function. Both tables are indexed by dense ids and reused from function to
// function, so that the verifier allocates nothing per node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "iropt/ir/relax/expr.h"
#include "iropt/ir/tir/expr.h"

namespace iropt {

// The state of a variable.
enum class Life : uint8_t {
  kUnseen,
  kFree,  // used, but not defined so far
  kVisible,
  kEnded,
};

// The variables of one function by id; V is Var or tir::Var. A variable whose id belongs to another variable, or to
// none of the function, stays unseen and cannot be defined.
template <class V>
class VarScope {
 public:
  struct Slot {
    const V* var = nullptr;
    Life life = Life::kUnseen;
    bool redefinable = false;  // the variable of a thread axis, which several attributes may introduce
    // For a dataflow variable the number of its dataflow block, for a loop variable the number of blocks around the
    // loop.
    uint32_t place = kAnywhere;
  };
  static constexpr uint32_t kAnywhere = UINT32_MAX;

  void Reset(uint32_t num_vars) {
    slots_.assign(num_vars, Slot{});
    defined_.clear();
    depth_ = 0;
  }

  Slot* Find(const V* v) { return v->id < slots_.size() && slots_[v->id].var == v ? &slots_[v->id] : nullptr; }
  Life life(const V* v) {
    const Slot* slot = Find(v);
    return slot ? slot->life : Life::kUnseen;
  }
  // The variable that has the id of `v`, or null if there is no such id.
  const V* Holder(const V* v) const { return v->id < slots_.size() ? slots_[v->id].var : nullptr; }

  // Makes `v` visible; null if its id is taken.
  Slot* Define(const V* v) {
    Slot* slot = Claim(v, Life::kVisible);
    if (slot && depth_ != 0) defined_.push_back(v);
    return slot;
  }
  // Records that `v` is used without a definition; null if its id is taken.
  Slot* UseFree(const V* v) { return Claim(v, Life::kFree); }

  // Leaving a scope ends the variables defined since it was entered. Variables defined outside of any scope never end,
  // and need no bookkeeping.
  size_t Enter() {
    ++depth_;
    return defined_.size();
  }
  void Leave(size_t entered) {
    --depth_;
    while (defined_.size() > entered) {
      if (Slot* slot = Find(defined_.back())) slot->life = Life::kEnded;
      defined_.pop_back();
    }
  }

 private:
  Slot* Claim(const V* v, Life life) {
    if (v->id >= slots_.size()) return nullptr;
    Slot& slot = slots_[v->id];
    if (slot.var && slot.var != v) return nullptr;
    slot.var = v;
    slot.life = life;
    return &slot;
  }

  std::vector<Slot> slots_;
  std::vector<const V*> defined_;  // in the scopes that are open
  uint32_t depth_ = 0;
};

// Symbolic variables in scope, and the types that are known to refer only to these.
class SymVarScope {
 public:
  struct Mark {
    size_t undo;
    uint32_t generation;
  };

  bool visible(const tir::Var* v) const { return v->id < stamps_.size() && stamps_[v->id] == generation_; }
  // A variable that is not `owned` belongs to a function type, not to the current function.
  void Define(const tir::Var* v, bool owned = true);

  // Scopes: LeaveTo removes the variables defined after the mark. A function does not see the variables around it.
  Mark mark() const { return {undo_.size(), generation_}; }
  Mark EnterFunction();
  void LeaveTo(Mark mark);

  // Returns whether the type was found valid since the last scope was left. Never true for types outside the intern
  // table.
  bool known_good(const Type* t) const { return t->id != 0 && t->id < good_.size() && good_[t->id] == epoch_; }
  void SetGood(const Type* t);

  // Every owned variable that was defined since the last call.
  std::vector<const tir::Var*> TakeOwned() { return std::exchange(owned_, {}); }

 private:
  struct Undo {
    uint32_t id;
    uint32_t stamp;
  };

  std::vector<uint32_t> stamps_;  // by variable id: the generation that it was defined in
  std::vector<uint32_t> good_;    // by type id: the epoch in which it was found valid
  std::vector<Undo> undo_;
  std::vector<const tir::Var*> owned_;
  uint32_t generation_ = 0;  // one per function, nested ones included
  uint32_t last_generation_ = 0;
  uint32_t epoch_ = 1;  // grows whenever a scope shrinks
};

}  // namespace iropt

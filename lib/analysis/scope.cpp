#include "scope.h"

namespace iropt {

void SymVarScope::Define(const tir::Var* v, bool owned) {
  if (v->id >= stamps_.size()) stamps_.resize(v->id + 1, 0);
  undo_.push_back({v->id, stamps_[v->id]});
  stamps_[v->id] = generation_;
  if (owned) owned_.push_back(v);
}

SymVarScope::Mark SymVarScope::EnterFunction() {
  const Mark before = mark();
  generation_ = ++last_generation_;
  ++epoch_;
  return before;
}

void SymVarScope::LeaveTo(Mark mark) {
  if (undo_.size() == mark.undo && generation_ == mark.generation) return;
  while (undo_.size() > mark.undo) {
    stamps_[undo_.back().id] = undo_.back().stamp;
    undo_.pop_back();
  }
  generation_ = mark.generation;
  ++epoch_;
}

void SymVarScope::SetGood(const Type* t) {
  if (t->id == 0) return;
  if (t->id >= good_.size()) good_.resize(t->id + t->id / 2 + 64, 0);
  good_[t->id] = epoch_;
}

}  // namespace iropt

#include "projected_tuples.h"

#include <numeric>

#include "iropt/ir/relax/walk.h"

namespace iropt {

class ProjectedTuples::Collector : public WalkHandler {
 public:
  explicit Collector(ProjectedTuples& tuples) : tuples_(tuples) {}

  void OnBinding(const Binding& binding) {
    const auto* bound = As<VarBinding>(&binding);
    value_ = bound ? bound->value : nullptr;
    var_ = binding.var;
  }
  void LeaveBlock(const BindingBlock&) { value_ = nullptr; }
  bool EnterItem(const TupleGetItem& item) {
    const auto* tuple = As<Var>(item.tuple);
    if (!tuple || &item != value_) return true;
    Add(tuple, kProjected);
    return false;
  }
  void OnUse(const Var* var) {
    if (var != value_) return Add(var, kOther);
    const uint32_t from = tuples_.Root(var_->id), to = tuples_.Root(var->id);
    if (from == to) return;
    tuples_.parent_[from] = to;
    tuples_.uses_[to] |= tuples_.uses_[from];
  }

 private:
  void Add(const Var* var, Use use) { tuples_.uses_[tuples_.Root(var->id)] |= use; }

  ProjectedTuples& tuples_;
  const Expr* value_ = nullptr;  // of the binding that the walk is in
  const Var* var_ = nullptr;
};

ProjectedTuples::ProjectedTuples(const Function& function, size_t num_vars) : parent_(num_vars), uses_(num_vars) {
  std::iota(parent_.begin(), parent_.end(), 0U);
  Collector collector(*this);
  Walk(function, collector);
}

bool ProjectedTuples::IsOnlyProjected(const Var* tuple) const { return uses_[Root(tuple->id)] == kProjected; }

uint32_t ProjectedTuples::Root(uint32_t var) const {
  while (parent_[var] != var) var = parent_[var];
  return var;
}

}  // namespace iropt

#include "iropt/analysis/relax/use_count.h"

#include "iropt/ir/relax/type_walk.h"
#include "iropt/ir/relax/walk.h"

namespace iropt {

namespace {

struct UseCounter : WalkHandler {
  std::vector<uint32_t>& counts;
  explicit UseCounter(std::vector<uint32_t>& c) : counts(c) {}

  void OnUse(const Var* var) { ++counts[var->id]; }
  void OnType(const Type* type) {
    ForEachShapeVar(type, [&](const Var* var) { OnUse(var); });
  }
};

}  // namespace

std::vector<uint32_t> UseCounts(const Function& function, uint32_t num_vars) {
  std::vector<uint32_t> counts(num_vars, 0);
  UseCounter counter(counts);
  Walk(function, counter);
  return counts;
}

}  // namespace iropt

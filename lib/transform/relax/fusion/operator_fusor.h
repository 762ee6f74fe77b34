// Replaces groups of bindings by calls of functions that are made of them. FuseOps, FuseOpsByPattern and
// MergeCompositeFunctions differ in how they choose the groups.
#pragma once

#include <cstdint>
#include <vector>

#include "iropt/ir/module_builder.h"

namespace iropt {

// Groups of bindings of calls and projections. A group lies in one dataflow block.
struct BindingGroups {
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t Of(const Var* var) const { return var->id < group_of.size() ? group_of[var->id] : kNone; }

  std::vector<uint32_t> group_of = {};      // by Var::id; kNone: the binding stays
  std::vector<const DictAttr*> attrs = {};  // by group: attributes of its function
};

enum class Constants : uint8_t {
  kLift,  // become parameters of the new functions
  kBind,  // stay in the new functions
};

// The function with each group replaced by one call of a private function, which `functions` gets unless it has an
// equal one. Variables that are used outside of their group stay; a group without any is dead and removed. The call is
// at the place of the first binding of the group, after what it depends on. A group that would depend on itself stays
// unfused. O(nodes * log(nodes)), and once more for each
// group that depends on itself.
const Function* FuseGroups(const Function* function, const BindingGroups& groups, Constants constants,
                           ModuleBuilder& functions, Workspace& workspace);

// Returns whether fusion leaves the function as it is: it was made by fusion, or is for an external compiler.
bool IsFusionResult(const Function& function);

// The indices of the Relax functions that fusion rewrites, in the order in which their new functions get names.
std::vector<size_t> FunctionsToFuse(const Module& module);

}  // namespace iropt

// Passes over PrimFuncs made of functions: TVM's tir.transform.Apply and tir.transform.Filter.
//
//   Pass mark = ApplyToPrimFuncs([](const PrimFunc* func, Workspace& workspace) {
//     auto* copy = workspace.New<PrimFunc>(*func);
//     copy->attrs = func->attrs->With("tir.noalias", IntAttr::Bool(true));
//     return copy;
//   });
//   Pass kernels = FilterPrimFuncs([](std::string_view name, const PrimFunc&) { return name.starts_with("kernel"); });
//
// The objects that the functions refer to must live as long as the pass; they may run on several threads at once.
#pragma once

#include <functional>
#include <string_view>

#include "iropt/ir/tir/stmt.h"
#include "iropt/pass/pass.h"

namespace iropt {

// Returns the same pointer if nothing changes.
using PrimFuncTransform = std::function<const PrimFunc*(const PrimFunc*, Workspace&)>;
// Returns whether the function of this name stays.
using PrimFuncCondition = std::function<bool(std::string_view name, const PrimFunc&)>;

// The pass 'tir.Apply', which replaces each PrimFunc. Pipelines do not have it: they would have to name the function.
Pass ApplyToPrimFuncs(PrimFuncTransform transform);
// The pass 'tir.Filter', which removes the PrimFuncs for which the condition does not hold. It fails if a function that
// stays uses one that does not.
Pass FilterPrimFuncs(PrimFuncCondition condition);

}  // namespace iropt

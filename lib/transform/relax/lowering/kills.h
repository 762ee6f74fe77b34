// Calls that free what a variable has.
#pragma once

#include "iropt/ir/module.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/memory.h"
#include "iropt/op/ops/vm.h"

namespace iropt {

inline bool IsKill(const Expr* callee) {
  return IsOp(callee, op::kMemoryKillTensor) || IsOp(callee, op::kMemoryKillStorage) || IsOp(callee, op::kVmKillObject);
}

}  // namespace iropt

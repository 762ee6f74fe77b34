#include "iropt/op/op_groups.h"

#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/shape.h"

namespace iropt {

// Their rows are adjacent.
bool IsInspection(OpId id) { return id >= op::kInspectTensorByteOffset && id <= op::kInspectTensorStrideI; }

bool IsCallTir(OpId id) { return id == op::kCallTir || id == op::kCallTirInplace || id == op::kCallTirWithGrad; }

}  // namespace iropt

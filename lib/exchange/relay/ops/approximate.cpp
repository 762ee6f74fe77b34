// Operators that TVM computes with less exact functions, and the bits of a tensor as another dtype.
#include "iropt/infer/approximate.h"

#include "iropt/infer/ops/memory.h"
#include "op_table.h"

namespace iropt::relay {

namespace {

const Expr* BuildFastExp(OpCall& call) { return ApproximateExp(call.arg(0), call.builder()); }
const Expr* BuildFastErf(OpCall& call) { return ApproximateErf(call.arg(0), call.builder()); }
const Expr* BuildFastTanh(OpCall& call) { return ApproximateTanh(call.arg(0), call.builder()); }
const Expr* BuildFastSoftmax(OpCall& call) { return ApproximateSoftmax(call.arg(0), call.Int("axis"), call.builder()); }

const Expr* BuildReinterpret(OpCall& call) {
  return op::MemoryView(call, call.arg(0), nullptr,
                        call.workspace().New<DataTypeImm>(call.Dtype("dtype"), ObjectType::Get()));
}

constexpr OperatorRow kApproximate[] = {
    {"fast_erf", "data", "", BuildFastErf},
    {"fast_exp", "data", "", BuildFastExp},
    {"fast_tanh", "data", "", BuildFastTanh},
    {"nn.fast_softmax", "data", "axis=-1", BuildFastSoftmax},
    {"reinterpret", "data", "dtype", BuildReinterpret},
};

}  // namespace

std::span<const OperatorRow> ApproximateOperators() { return kApproximate; }

}  // namespace iropt::relay

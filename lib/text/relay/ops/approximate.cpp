// Operators that TVM computes with less exact functions, and the bits of a tensor as another dtype.
#include "op_table.h"

namespace iropt::relay {

namespace {

// The exact function.
const Expr* BuildExact(OpCall& call) {
  constexpr size_t kPrefix = std::string_view("fast_").size();
  return call.Make(call.row().name.substr(kPrefix), {call.arg(0)});
}

const Expr* BuildExactSoftmax(OpCall& call) {
  return call.Make("nn.softmax", {call.arg(0)}, {{"axis", call.Int("axis")}});
}

const Expr* BuildReinterpret(OpCall& call) {
  return call.Make("memory.view", {call.arg(0)}, {{"dtype", call.attr("dtype")}});
}

constexpr OperatorRow kApproximate[] = {
    {"fast_erf", "data", "", BuildExact},
    {"fast_exp", "data", "", BuildExact},
    {"fast_tanh", "data", "", BuildExact},
    {"nn.fast_softmax", "data", "axis=-1", BuildExactSoftmax},
    {"reinterpret", "data", "dtype", BuildReinterpret},
};

}  // namespace

std::span<const OperatorRow> ApproximateOperators() { return kApproximate; }

}  // namespace iropt::relay

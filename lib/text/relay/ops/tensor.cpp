// Operators that make, move and select elements.
#include "op_table.h"

namespace iropt::relay {

namespace {

const Expr* BuildConcatenate(OpCall& call) { return call.Make("concat", {call.arg(0)}, {{"axis", call.attr("axis")}}); }

constexpr OperatorRow kTensor[] = {
    {"concatenate", "data", "axis=0", BuildConcatenate},
};

}  // namespace

std::span<const OperatorRow> TensorOperators() { return kTensor; }

}  // namespace iropt::relay

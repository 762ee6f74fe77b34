// Operators of neural networks.
#include "op_table.h"

namespace iropt::relay {

namespace {

const Expr* BuildActivation(OpCall& call) { return call.Make(call.row().name, {call.arg(0)}); }

const Expr* BuildDense(OpCall& call) {
  const Expr* weight = call.Make("permute_dims", {call.arg(1)});
  return call.Make("matmul", {call.arg(0), weight}, {{"out_dtype", call.attr("out_dtype")}});
}

constexpr OperatorRow kNn[] = {
    {"nn.dense", "data, weight", "units=None, out_dtype=\"\"", BuildDense},
    {"nn.relu", "data", "", BuildActivation},
};

}  // namespace

std::span<const OperatorRow> NnOperators() { return kNn; }

}  // namespace iropt::relay

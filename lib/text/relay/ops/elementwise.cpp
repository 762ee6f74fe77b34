// Operators of one tensor, element by element.
#include <cmath>
#include <numbers>

#include "op_table.h"

namespace iropt::relay {

namespace {

// The operator of Relax with the same name.
const Expr* BuildSame(OpCall& call) { return call.Make(call.row().name, {call.arg(0)}); }

const Expr* BuildIdentity(OpCall& call) { return call.arg(0); }

const Expr* BuildLogOfBase(OpCall& call, double base) {
  const Expr* log = call.Make("log", {call.arg(0)});
  return log ? call.Make("multiply", {log, call.Scalar(1 / std::log(base), call.DType(log))}) : nullptr;
}
const Expr* BuildLog2(OpCall& call) { return BuildLogOfBase(call, 2); }
const Expr* BuildLog10(OpCall& call) { return BuildLogOfBase(call, 10); }

const Expr* BuildClip(OpCall& call) {
  return call.Make("clip",
                   {call.arg(0), PyValue::Float(call.Float("a_min"), {}), PyValue::Float(call.Float("a_max"), {})});
}

// A constant that has the dtype already stays.
const Expr* BuildCast(OpCall& call) {
  const Expr* data = call.arg(0);
  if (Is<Constant>(data) && DataType::Parse(call.String("dtype")) == call.DType(data)) return data;
  return call.Make("astype", {data}, {{"dtype", call.attr("dtype")}});
}

const Expr* BuildCastLike(OpCall& call) {
  return call.Make("astype", {call.arg(0)}, {{"dtype", call.DTypeValue(call.DType(call.arg(1)))}});
}

constexpr OperatorRow kElementwise[] = {
    {"abs", "data", "", BuildSame},
    {"acos", "data", "", BuildSame},
    {"acosh", "data", "", BuildSame},
    {"annotation.checkpoint", "data", "", BuildIdentity},
    {"annotation.stop_fusion", "data", "", BuildIdentity},
    {"asin", "data", "", BuildSame},
    {"asinh", "data", "", BuildSame},
    {"atan", "data", "", BuildSame},
    {"atanh", "data", "", BuildSame},
    {"bitwise_not", "data", "", BuildSame},
    {"cast", "data", "dtype", BuildCast},
    {"cast_like", "data, dtype_like", "", BuildCastLike},
    {"ceil", "data", "", BuildSame},
    {"clip", "data", "a_min, a_max", BuildClip},
    {"copy", "data", "", BuildIdentity},
    {"cos", "data", "", BuildSame},
    {"cosh", "data", "", BuildSame},
    {"erf", "data", "", BuildSame},
    {"exp", "data", "", BuildSame},
    {"floor", "data", "", BuildSame},
    {"isfinite", "data", "", BuildSame},
    {"isinf", "data", "", BuildSame},
    {"isnan", "data", "", BuildSame},
    {"log", "data", "", BuildSame},
    {"log10", "data", "", BuildLog10},
    {"log2", "data", "", BuildLog2},
    {"logical_not", "data", "", BuildSame},
    {"negative", "data", "", BuildSame},
    {"round", "data", "", BuildSame},
    {"rsqrt", "data", "", BuildSame},
    {"sigmoid", "data", "", BuildSame},
    {"sign", "data", "", BuildSame},
    {"sin", "data", "", BuildSame},
    {"sinh", "data", "", BuildSame},
    {"sqrt", "data", "", BuildSame},
    {"tan", "data", "", BuildSame},
    {"tanh", "data", "", BuildSame},
    {"trunc", "data", "", BuildSame},
};

}  // namespace

std::span<const OperatorRow> ElementwiseOperators() { return kElementwise; }

}  // namespace iropt::relay

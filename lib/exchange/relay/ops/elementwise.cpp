// Operators of one tensor, element by element.
#include <cmath>
#include <numbers>

#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/datatype.h"
#include "iropt/infer/ops/exponential.h"
#include "iropt/infer/ops/roots.h"
#include "iropt/infer/ops/trigonometric.h"
#include "iropt/infer/ops/unary.h"
#include "op_table.h"

namespace iropt::relay {

namespace {

// The operator of Relax.
template <auto kOp>
const Expr* BuildSame(OpCall& call) {
  return kOp(call, call.arg(0));
}

const Expr* BuildIdentity(OpCall& call) { return call.arg(0); }

const Expr* BuildLogOfBase(OpCall& call, double base) {
  const Expr* log = op::Log(call, call.arg(0));
  return log ? op::Multiply(call, log, call.Scalar(1 / std::log(base), DTypeOf(log))) : nullptr;
}
const Expr* BuildLog2(OpCall& call) { return BuildLogOfBase(call, 2); }
const Expr* BuildLog10(OpCall& call) { return BuildLogOfBase(call, 10); }

const Expr* BuildClip(OpCall& call) {
  return op::Clip(call, call.arg(0), call.PrimFloat(call.Float("a_min")), call.PrimFloat(call.Float("a_max")));
}

// A constant that has the dtype already stays.
const Expr* BuildCast(OpCall& call) {
  const Expr* data = call.arg(0);
  if (Is<Constant>(data) && DataType::Parse(call.String("dtype")) == DTypeOf(data)) return data;
  return op::Astype(call, data, {.dtype = call.Dtype("dtype")});
}

const Expr* BuildCastLike(OpCall& call) { return op::Astype(call, call.arg(0), {.dtype = DTypeOf(call.arg(1))}); }

constexpr OperatorRow kElementwise[] = {
    {"abs", "data", "", BuildSame<op::Abs>},
    {"acos", "data", "", BuildSame<op::Acos>},
    {"acosh", "data", "", BuildSame<op::Acosh>},
    {"annotation.checkpoint", "data", "", BuildIdentity},
    {"annotation.stop_fusion", "data", "", BuildIdentity},
    {"asin", "data", "", BuildSame<op::Asin>},
    {"asinh", "data", "", BuildSame<op::Asinh>},
    {"atan", "data", "", BuildSame<op::Atan>},
    {"atanh", "data", "", BuildSame<op::Atanh>},
    {"bitwise_not", "data", "", BuildSame<op::BitwiseNot>},
    {"cast", "data", "dtype", BuildCast},
    {"cast_like", "data, dtype_like", "", BuildCastLike},
    {"ceil", "data", "", BuildSame<op::Ceil>},
    {"clip", "data", "a_min, a_max", BuildClip},
    {"copy", "data", "", BuildIdentity},
    {"cos", "data", "", BuildSame<op::Cos>},
    {"cosh", "data", "", BuildSame<op::Cosh>},
    {"erf", "data", "", BuildSame<op::Erf>},
    {"exp", "data", "", BuildSame<op::Exp>},
    {"floor", "data", "", BuildSame<op::Floor>},
    {"isfinite", "data", "", BuildSame<op::IsFinite>},
    {"isinf", "data", "", BuildSame<op::IsInf>},
    {"isnan", "data", "", BuildSame<op::IsNan>},
    {"log", "data", "", BuildSame<op::Log>},
    {"log10", "data", "", BuildLog10},
    {"log2", "data", "", BuildLog2},
    {"logical_not", "data", "", BuildSame<op::LogicalNot>},
    {"negative", "data", "", BuildSame<op::Negative>},
    {"round", "data", "", BuildSame<op::Round>},
    {"rsqrt", "data", "", BuildSame<op::Rsqrt>},
    {"sigmoid", "data", "", BuildSame<op::Sigmoid>},
    {"sign", "data", "", BuildSame<op::Sign>},
    {"sin", "data", "", BuildSame<op::Sin>},
    {"sinh", "data", "", BuildSame<op::Sinh>},
    {"sqrt", "data", "", BuildSame<op::Sqrt>},
    {"tan", "data", "", BuildSame<op::Tan>},
    {"tanh", "data", "", BuildSame<op::Tanh>},
    {"trunc", "data", "", BuildSame<op::Trunc>},
};

}  // namespace

std::span<const OperatorRow> ElementwiseOperators() { return kElementwise; }

}  // namespace iropt::relay

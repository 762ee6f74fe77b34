// Legalization of operators that make or convert tensors.
#include "iropt/op/ops/create.h"

#include <optional>
#include <string_view>
#include <vector>

#include "iropt/eval/evaluator.h"
#include "iropt/ir/ndarray.h"
#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/quantize.h"
#include "iropt/runtime/value.h"

namespace iropt::legalize {

namespace {

const Expr* LegalizeFill(LegalizeCall& call, std::string_view name, std::span<const PrimExpr* const> dims,
                         std::optional<double> value) {
  TeCall te(call, name);
  const te::Shape shape = te.Dims(dims);
  const DataType dtype = call.result()->dtype;
  const te::Operand fill = value ? te::Operand(te.Const(*value, dtype)) : te.Operand(call.arg(1), true);
  return te.Finish({topi::Full(te, shape, dtype, fill)});
}

const Expr* LegalizeFillShape(LegalizeCall& call, std::string_view name, std::optional<double> value) {
  const ShapeExpr* shape = call.ShapeArg(0);
  return shape ? LegalizeFill(call, name, shape->values.span(), value)
               : call.Unchanged("its shape is not an expression");
}

const Expr* LegalizeFillLike(LegalizeCall& call, std::string_view name, std::optional<double> value) {
  return LegalizeFill(call, name, call.TensorArg(0)->dims.span(), value);
}

const Expr* LegalizeTrilu(LegalizeCall& call, std::string_view name, bool upper) {
  TeCall te(call, name);
  const te::Tensor x = te.Arg(0);
  return te.Finish({topi::Trilu(x, std::get<te::Value>(te.Operand(call.arg(1))), upper)});
}

// The value of a call of constants, computed by the kernel of the operator; null if it has none.
const Expr* Evaluate(LegalizeCall& call) {
  std::vector<HostValue> args;
  for (const Expr* arg : call.call().args) {
    std::optional<HostValue> value = LiteralValue(arg);
    if (!value) return nullptr;
    args.push_back(std::move(*value));
  }
  const Result<HostValue> result = EvalOp(*To<Op>(call.call().op)->info, call.call().attrs, args);
  const auto* tensor = result ? std::get_if<iropt::Tensor>(&result->state) : nullptr;
  return tensor ? MakeConstant(*tensor, call.builder().workspace()) : nullptr;
}

}  // namespace

const Expr* LegalizeFull(LegalizeCall& call) { return LegalizeFillShape(call, "full", std::nullopt); }
const Expr* LegalizeFullLike(LegalizeCall& call) { return LegalizeFillLike(call, "full", std::nullopt); }
const Expr* LegalizeOnes(LegalizeCall& call) { return LegalizeFillShape(call, "ones", 1); }
const Expr* LegalizeOnesLike(LegalizeCall& call) { return LegalizeFillLike(call, "ones", 1); }
const Expr* LegalizeZeros(LegalizeCall& call) { return LegalizeFillShape(call, "zeros", 0); }
const Expr* LegalizeZerosLike(LegalizeCall& call) { return LegalizeFillLike(call, "zeros", 0); }
const Expr* LegalizeTril(LegalizeCall& call) { return LegalizeTrilu(call, "tril", false); }
const Expr* LegalizeTriu(LegalizeCall& call) { return LegalizeTrilu(call, "triu", true); }

// Since TVM 0.26. Before, a packed function does it.
const Expr* LegalizeShapeToTensor(LegalizeCall& call) {
  const auto* type = As<ShapeType>(call.arg(0)->type);
  if (call.version() < TextVersion::kV0_26) return call.Unchanged("a packed function does it");
  if (!type || !type->known) return call.Unchanged("its dimensions are not known");
  TeCall te(call, "shape_to_tensor");
  const te::Shape dims = te.Dims(type->values.span());
  const te::Value length[] = {te::Value(dims.size())};
  const auto element = [&](te::Values i) {
    te::Value value = te.Int(0);
    for (size_t k = dims.size(); k-- > 0;) value = te::IfThenElse(i[0] == te::Value(k), dims[k], value);
    return value;
  };
  return te.Finish({te.Compute("shape_to_tensor", length, element, te::PythonAxes({"i"}))});
}

namespace {

const Expr* FinishEye(TeCall& te, te::Values shape, const Expr* diagonal, DataType dtype) {
  const te::Value k = std::get<te::Value>(te.Operand(diagonal));
  const auto value = [&](te::Values i) {
    return te::IfThenElse(i[0] == i[1] - k, te.Const(1, dtype), te.Const(0, dtype));
  };
  return te.Finish({te.Compute("eye", shape, value, te::PythonAxes({"i", "j"}))});
}

// The value of a literal operand.
std::optional<double> LiteralNumber(const LegalizeCall& call, size_t i) {
  const auto* prim = As<PrimType>(call.arg(i)->type);
  if (!prim || !prim->value) return std::nullopt;
  if (const auto* real = As<tir::FloatImm>(prim->value)) return real->value;
  const int64_t* integer = arith::AsInt(prim->value);
  return integer ? std::optional(static_cast<double>(*integer)) : std::nullopt;
}

}  // namespace

const Expr* LegalizeEye(LegalizeCall& call) {
  TeCall te(call, "eye");
  const te::Shape shape = te.Dims(call.result()->dims.span());
  return FinishEye(te, shape, call.arg(2), call.result()->dtype);
}

const Expr* LegalizeEyeLike(LegalizeCall& call) {
  TeCall te(call, "eye_like");
  const te::Shape shape = te.Dims(call.result()->dims.span());
  return FinishEye(te, shape, call.arg(1), call.result()->dtype);
}

const Expr* LegalizeHammingWindow(LegalizeCall& call) {
  const auto periodic = LiteralNumber(call, 1);
  const auto alpha = LiteralNumber(call, 2);
  const auto beta = LiteralNumber(call, 3);
  if (!periodic || !alpha || !beta) return call.Unchanged("its parameters are not constants");
  const DataType dtype = call.result()->dtype;
  TeCall te(call, "hamming_window");
  const te::Shape shape = te.Dims(call.result()->dims.span());
  const te::Value size = *periodic != 0 ? shape[0] + 1 : shape[0];
  const te::Value last = te::Cast(dtype, te::Max(size - 1, 1));
  const te::Tensor window = te.Compute("hamming_window", shape, [&](te::Values i) {
    const te::Value angle = te::Div(te.Const(2 * 3.14159265358979323846, dtype) * te::Cast(dtype, i[0]), last);
    const te::Value value = te.Const(*alpha, dtype) - te.Const(*beta, dtype) * te::Call(op::kTirCos, {angle});
    return te::Select(shape[0] == 1, te.Const(1, dtype), value);
  });
  return te.Finish({window});
}

const Expr* LegalizeArange(LegalizeCall& call) {
  std::vector<const PrimExpr*> bounds;
  for (size_t i = 0; i < call.num_args(); ++i) {
    const auto* prim = As<PrimType>(call.arg(i)->type);
    if (!prim || !prim->value) return call.Unchanged("its bounds are not expressions");
    bounds.push_back(prim->value);
  }
  if (const Expr* constant = Evaluate(call)) return constant;
  TeCall te(call, "arange");
  const te::Shape scalars = te.Dims(bounds);
  const DataType dtype = InitAttrs(call.call()).dtype();
  return te.Finish({topi::Arange(te, scalars[0], scalars[1], scalars[2], dtype)});
}

const Expr* LegalizeAstype(LegalizeCall& call) {
  const auto* constant = As<Constant>(call.arg(0));
  if (constant && constant->data->shape().empty()) {
    if (const Expr* converted = Evaluate(call)) return converted;
  }
  TeCall te(call, "cast");
  return te.Finish({topi::Cast(te.Arg(0), AstypeAttrs(call.call()).dtype())});
}

// ---- Quantization

namespace {

using te::Value;

Value ClipCast(Value value, DataType dtype) {
  te::Builder& te = *value.te();
  return te::Cast(dtype, te::Max(te::Min(value, te.MaxValue(dtype)), te.MinValue(dtype)));
}

// For all elements, or for those of a place on the axis.
Value Parameter(const te::Operand& parameter, te::Values place, size_t axis) {
  const auto* tensor = std::get_if<te::Tensor>(&parameter);
  if (!tensor) return std::get<Value>(parameter);
  if (tensor->ndim() == 0) return (*tensor)(te::Values());
  return (*tensor)(tensor->shape()[0].Is(1) ? tensor->te().Int(0) : place[axis]);
}

using QuantizeFn = FunctionRef<Value(Value data, Value scale, Value zero_point)>;

const Expr* LegalizeQuantization(LegalizeCall& call, std::string_view name, std::string_view stage, QuantizeFn f) {
  TeCall te(call, name);
  const te::Tensor x = te.Arg(0);
  const te::Operand scale = te.Operand(call.arg(1), true);
  const te::Operand zero_point = te.Operand(call.arg(2), true);
  const size_t axis = x.ndim() == 0 ? 0 : topi::RealAxis(x.ndim(), QuantizeAttrs(call.call()).axis());
  const auto value = [&](te::Values i) { return f(x(i), Parameter(scale, i, axis), Parameter(zero_point, i, axis)); };
  return te.Finish({te.Compute(stage, x.shape(), value, te::PythonAxes())});
}

}  // namespace

const Expr* LegalizeQuantize(LegalizeCall& call) {
  const DataType dtype = QuantizeAttrs(call.call()).out_dtype();
  return LegalizeQuantization(call, "quantize", "quantized", [&](Value data, Value scale, Value zero_point) {
    const Value scaled = te::Div(data, scale);
    return ClipCast((dtype.is_integer() ? topi::Round(scaled) : scaled) + zero_point, dtype);
  });
}

const Expr* LegalizeDequantize(LegalizeCall& call) {
  const DataType dtype = QuantizeAttrs(call.call()).out_dtype();
  return LegalizeQuantization(call, "dequantize", "dequantized", [&](Value data, Value scale, Value zero_point) {
    const DataType wide = data.dtype().is_floating() ? DataType::Float(32) : DataType::Int(32);
    const Value result = (te::Cast(wide, data) - zero_point) * te::Cast(DataType::Float(32), scale);
    return dtype == DataType::Float(32) ? result : ClipCast(result, dtype);
  });
}

}  // namespace iropt::legalize

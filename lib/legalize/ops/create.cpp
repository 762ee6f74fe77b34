// Legalization of operators that make or convert tensors.
#include <cmath>

#include "iropt/ir/element.h"
#include "iropt/ir/ndarray.h"
#include "legalize/legalizations.h"

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

const Expr* NewConstant(LegalizeCall& call, std::shared_ptr<const NDArray> array) {
  std::vector<const PrimExpr*> dims;
  for (const int64_t dim : array->shape()) dims.push_back(arith::PrimBuilder().Int(dim));
  Workspace& workspace = call.builder().workspace();
  const Type* type = TensorType::Get(dims, array->dtype());
  const NDArray* data = array.get();
  workspace.arena().Retain(std::move(array));
  return workspace.New<Constant>(data, type);
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

namespace {

// The value of a number; nothing for other expressions.
std::optional<double> NumberOf(const PrimExpr* value) {
  if (const int64_t* integer = arith::AsInt(value)) return static_cast<double>(*integer);
  const auto* real = As<tir::FloatImm>(value);
  return real ? std::optional(real->value) : std::nullopt;
}

}  // namespace

const Expr* LegalizeArange(LegalizeCall& call) {
  std::vector<const PrimExpr*> bounds;
  for (size_t i = 0; i < call.num_args(); ++i) {
    const auto* prim = As<PrimType>(call.arg(i)->type);
    if (!prim || !prim->value) return call.Unchanged("its bounds are not expressions");
    bounds.push_back(prim->value);
  }
  const DataType dtype = InitAttrs(call.call()).dtype();
  const auto start = NumberOf(bounds[0]);
  const auto stop = NumberOf(bounds[1]);
  const auto step = NumberOf(bounds[2]);
  if (!start || !stop || !step) {
    TeCall te(call, "arange");
    const te::Shape scalars = te.Dims(bounds);
    return te.Finish({topi::Arange(te, scalars[0], scalars[1], scalars[2], dtype)});
  }
  const double length = std::max(0.0, std::ceil((*stop - *start) / *step));
  auto array = NDArray::Make(dtype, {static_cast<int64_t>(length)});
  DispatchElement(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::span<T> elements = array->MutableAs<T>();
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = Element<T>::Store(static_cast<MathOf<T>>(*start + static_cast<double>(i) * *step));
  });
  return NewConstant(call, std::move(array));
}

const Expr* LegalizeAstype(LegalizeCall& call) {
  const DataType dtype = AstypeAttrs(call.call()).dtype();
  TeCall te(call, "cast");
  const PrimExpr* scalar = AsScalarConstant(call.arg(0), te.make());
  if (!scalar) return te.Finish({topi::Cast(te.Arg(0), dtype)});
  const double value = *NumberOf(scalar);
  auto array = NDArray::Make(dtype, {});
  DispatchElement(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t* integer = arith::AsInt(scalar);
    array->MutableAs<T>()[0] =
        Element<T>::Store(integer ? static_cast<MathOf<T>>(*integer) : static_cast<MathOf<T>>(value));
  });
  return NewConstant(call, std::move(array));
}

// ---- Quantization

namespace {

using te::Value;

Value ClipCast(Value value, DataType dtype) {
  te::Builder& te = *value.te();
  return te::Cast(dtype, te::Max(te::Min(value, te.MaxValue(dtype)), te.MinValue(dtype)));
}

Value Parameter(const te::Operand& parameter, Value index) {
  const auto* tensor = std::get_if<te::Tensor>(&parameter);
  return tensor ? (*tensor)(index) : std::get<Value>(parameter);
}

using QuantizeFn = FunctionRef<Value(Value data, Value scale, Value zero_point)>;

const Expr* LegalizeQuantization(LegalizeCall& call, std::string_view name, std::string_view stage, QuantizeFn f) {
  TeCall te(call, name);
  const te::Tensor x = te.Arg(0);
  const te::Operand scale = te.Operand(call.arg(1), true);
  const te::Operand zero_point = te.Operand(call.arg(2), true);
  const size_t axis = topi::RealAxis(x.ndim(), QuantizeAttrs(call.call()).axis());
  const auto value = [&](te::Values i) { return f(x(i), Parameter(scale, i[axis]), Parameter(zero_point, i[axis])); };
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

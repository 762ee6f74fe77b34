#include "affine_type.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/element.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/number_format.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/quantize.h"
#include "iropt/op/ops/unary.h"
#include "iropt/runtime/value.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

constexpr DataType kRealDType = DataType::Float(32);
constexpr DataType kZeroDType = DataType::Int(32);

const Call* CallAt(const Expr* expr, const Definitions& definitions, OpId op) {
  const auto* call = As<Call>(DefinitionOf(expr, definitions));
  return call && IsOp(call->op, op) ? call : nullptr;
}

DataType TensorDTypeOf(const Expr* expr) {
  const TensorType* tensor = TensorTypeOf(expr);
  return tensor ? tensor->dtype : DataType::Void();
}

int RankOf(const Expr* expr) {
  const TensorType* tensor = TensorTypeOf(expr);
  return tensor ? tensor->ndim : kUnknownDim;
}

bool IsQuantizedDType(DataType dtype) { return dtype.is_integer() && dtype.bits >= 8 && dtype.bits <= 32; }

// A parameter that broadcasts along an axis of a tensor, as the parameter itself and the axis.
struct Param {
  const Expr* value = nullptr;
  std::optional<int64_t> axis;  // none for rank 0
};

// A vector whose axes after its own were folded into the constant.
std::optional<Param> FoldedParam(const Constant& constant, int rank, Workspace& workspace) {
  const std::span<const int64_t> shape = constant.data->shape();
  if (constant.data->num_elements() != shape.front() || static_cast<int>(shape.size()) > rank) return std::nullopt;
  const auto numbers = NumbersOf(&constant);
  if (!numbers) return std::nullopt;
  return Param{MakeVector(*numbers, constant.data->dtype(), workspace), rank - static_cast<int64_t>(shape.size())};
}

std::optional<Param> ParamOf(const Expr* expr, int rank, const Definitions& definitions, Workspace& workspace) {
  const Expr* param = ResolveAlias(expr, definitions);
  const int own = RankOf(param);
  if (own == 0) return Param{param, std::nullopt};
  if (rank == kUnknownDim || own == kUnknownDim) return std::nullopt;
  if (own == 1) return Param{param, rank - 1};
  if (const Call* expanded = CallAt(param, definitions, op::kExpandDims)) {
    const IntList axes = ExpandDimsAttrs(*expanded).axis();
    int64_t next = 1;
    for (const int64_t axis : axes) {
      if (axis != next++) return std::nullopt;
    }
    if (RankOf(expanded->args[0]) != 1 || own > rank) return std::nullopt;
    return Param{ResolveAlias(expanded->args[0], definitions), rank - own};
  }
  const auto* constant = As<Constant>(DefinitionOf(param, definitions));
  return constant ? FoldedParam(*constant, rank, workspace) : std::nullopt;
}

// A zero point that was converted to float32.
std::optional<Param> IntegerParam(const Expr* expr, int rank, const Definitions& definitions, Workspace& workspace) {
  if (const Call* cast = CallAt(expr, definitions, op::kAstype)) expr = cast->args[0];
  std::optional<Param> param = ParamOf(expr, rank, definitions, workspace);
  if (!param || TensorDTypeOf(param->value).is_integer()) return param;
  const auto numbers = NumbersOf(DefinitionOf(param->value, definitions));
  const auto is_whole = [](double number) {
    return number == std::trunc(number) && std::abs(number) <= std::numeric_limits<int32_t>::max();
  };
  if (!numbers || !std::ranges::all_of(*numbers, is_whole)) return std::nullopt;
  param->value =
      param->axis ? MakeVector(*numbers, kZeroDType, workspace) : MakeNumber(numbers->front(), kZeroDType, workspace);
  return param;
}

// The parameters of a tensor of `rank`; `zero_point` may be null for 0.
std::optional<AffineType> MakeAffineType(const Expr* scale, const std::optional<Param>& zero_point, DataType dtype,
                                         int rank, const Definitions& definitions, Workspace& workspace) {
  const std::optional<Param> factor = ParamOf(scale, rank, definitions, workspace);
  if (!factor || !zero_point || TensorDTypeOf(factor->value) != kRealDType) return std::nullopt;
  if (factor->axis && zero_point->axis && *factor->axis != *zero_point->axis) return std::nullopt;
  // Constants in the operands of a binding: an alias of one is the constant.
  const auto literal = [&](const Expr* value) {
    const Expr* definition = DefinitionOf(value, definitions);
    return Is<Constant>(definition) ? definition : value;
  };
  AffineType type{literal(factor->value), literal(zero_point->value), dtype};
  if (factor->axis || zero_point->axis) type.axis = factor->axis ? *factor->axis : *zero_point->axis;
  return type;
}

// The dequantization of the integers that `real` is the product of with `scale`.
std::optional<Quantization> Dequantized(const Expr* real, const Expr* scale, const Definitions& definitions,
                                        Workspace& workspace) {
  const Call* widened = CallAt(real, definitions, op::kAstype);
  if (!widened || TensorDTypeOf(widened) != kRealDType || !IsQuantizedDType(TensorDTypeOf(widened->args[0])))
    return std::nullopt;
  const int rank = RankOf(widened);
  const Expr* data = widened->args[0];
  std::optional<Param> zero_point = Param{MakeNumber(0, kZeroDType, workspace), std::nullopt};
  if (const Call* centered = CallAt(data, definitions, op::kSubtract)) {
    zero_point = ParamOf(centered->args[1], rank, definitions, workspace);
    data = centered->args[0];
  }
  const Call* cast = CallAt(data, definitions, op::kAstype);
  if (cast && TensorDTypeOf(cast) == kZeroDType && IsQuantizedDType(TensorDTypeOf(cast->args[0]))) data = cast->args[0];
  const auto type = MakeAffineType(scale, zero_point, TensorDTypeOf(data), rank, definitions, workspace);
  if (!type || RankOf(data) != rank) return std::nullopt;
  return Quantization{ResolveAlias(data, definitions), *type};
}

// A parameter of R.quantize or R.dequantize. Null if it is neither a constant nor of the dtype.
const Expr* CallParam(const Expr* operand, DataType dtype, const Definitions& definitions, Workspace& workspace) {
  const Expr* param = ResolveAlias(operand, definitions);
  const auto* constant = As<Constant>(DefinitionOf(param, definitions));
  if (constant == nullptr) return TensorDTypeOf(param) == dtype && RankOf(param) == 0 ? param : nullptr;
  if (constant->data->dtype() == dtype && RankOf(constant) == 0) return constant;
  const auto numbers = NumbersOf(constant);
  if (!numbers || numbers->empty()) return nullptr;
  return numbers->size() == 1 ? MakeNumber(numbers->front(), dtype, workspace) : MakeVector(*numbers, dtype, workspace);
}

// R.quantize or R.dequantize.
std::optional<Quantization> MatchCall(const Expr* expr, OpId op, const Definitions& definitions, Workspace& workspace) {
  const Call* call = CallAt(expr, definitions, op);
  if (!call || call->args.size() != 3) return std::nullopt;
  const bool quantizes = op == op::kQuantize;
  const DataType real = TensorDTypeOf(quantizes ? call->args[0] : call);
  const DataType integer = TensorDTypeOf(quantizes ? call : call->args[0]);
  const int rank = RankOf(call);
  if (real != kRealDType || TensorDTypeOf(call->args[1]) != kRealDType || !IsQuantizedDType(integer) ||
      rank == kUnknownDim)
    return std::nullopt;
  AffineType type{.scale = CallParam(call->args[1], kRealDType, definitions, workspace),
                  .zero_point = CallParam(call->args[2], kZeroDType, definitions, workspace),
                  .dtype = integer};
  if (type.scale == nullptr || type.zero_point == nullptr) return std::nullopt;
  const int64_t axis = QuantizeAttrs(*call).axis();
  if (RankOf(type.scale) != 0 || RankOf(type.zero_point) != 0) type.axis = axis < 0 ? axis + rank : axis;
  return Quantization{ResolveAlias(call->args[0], definitions), type};
}

bool ClipsTo(const Call& clip, DataType dtype) {
  const auto [least, most] = RangeOf(dtype);
  return clip.args.size() == 3 && NumberOfScalar(clip.args[1]) == least && NumberOfScalar(clip.args[2]) == most;
}

}  // namespace

std::pair<double, double> RangeOf(DataType dtype) {
  const NumberFormat& format = *FormatOfDType(dtype);
  return {LeastOf(format), GreatestOf(format)};
}

std::optional<double> NumberOfScalar(const Expr* scalar) {
  const auto* type = As<PrimType>(scalar->type);
  if (!type || !type->value) return std::nullopt;
  if (const int64_t* integer = arith::AsInt(type->value)) return static_cast<double>(*integer);
  const auto* real = As<tir::FloatImm>(type->value);
  return real ? std::optional(real->value) : std::nullopt;
}

std::optional<std::vector<double>> NumbersOf(const Expr* expr) {
  const auto* constant = As<Constant>(expr);
  if (constant == nullptr) return std::nullopt;
  std::vector<double> numbers;
  const bool known = DispatchElement(constant->data->dtype(), [&]<class T>(std::type_identity<T>) {
    for (const T element : constant->data->As<T>()) numbers.push_back(static_cast<double>(Element<T>::Load(element)));
  });
  return known ? std::optional(std::move(numbers)) : std::nullopt;
}

bool KeepsOrder(const AffineType& type) {
  const auto scales = NumbersOf(type.scale);
  return scales && std::ranges::all_of(*scales, [](double scale) { return scale > 0; });
}

const Constant* MakeTensor(const std::vector<double>& values, std::span<const int64_t> shape, DataType dtype,
                           Workspace& workspace) {
  const std::shared_ptr<NDArray> array = NDArray::Make(dtype, shape);
  DispatchElement(dtype, [&]<class T>(std::type_identity<T>) {
    using Loaded = decltype(Element<T>::Load(T()));
    std::ranges::transform(values, array->MutableAs<T>().begin(), [](double value) {
      // Integers wrap around, as a cast does.
      if constexpr (std::is_integral_v<Loaded>)
        return Element<T>::Store(static_cast<Loaded>(static_cast<int64_t>(value)));
      return Element<T>::Store(static_cast<Loaded>(value));
    });
  });
  return MakeConstant(array, workspace);
}

const Constant* MakeNumber(double value, DataType dtype, Workspace& workspace) {
  return MakeTensor({value}, {}, dtype, workspace);
}

const Constant* MakeVector(const std::vector<double>& values, DataType dtype, Workspace& workspace) {
  const auto size = static_cast<int64_t>(values.size());
  return MakeTensor(values, std::span(&size, 1), dtype, workspace);
}

std::optional<Quantization> MatchDequantize(const Expr* real, const Definitions& definitions, Workspace& workspace) {
  if (auto found = MatchCall(real, op::kDequantize, definitions, workspace)) return found;
  const Call* product = CallAt(real, definitions, op::kMultiply);
  if (!product) return std::nullopt;
  if (auto found = Dequantized(product->args[0], product->args[1], definitions, workspace)) return found;
  return Dequantized(product->args[1], product->args[0], definitions, workspace);
}

std::optional<Quantization> MatchQuantize(const Expr* quantized, const Definitions& definitions, Workspace& workspace) {
  if (auto found = MatchCall(quantized, op::kQuantize, definitions, workspace)) return found;
  const Call* narrowed = CallAt(quantized, definitions, op::kAstype);
  if (!narrowed || !IsQuantizedDType(TensorDTypeOf(narrowed))) return std::nullopt;
  const DataType dtype = TensorDTypeOf(narrowed);
  const Call* clip = CallAt(narrowed->args[0], definitions, op::kClip);
  if (!clip || !ClipsTo(*clip, dtype)) return std::nullopt;
  const int rank = RankOf(narrowed);
  const Expr* shifted = clip->args[0];
  std::optional<Param> zero_point = Param{MakeNumber(0, kZeroDType, workspace), std::nullopt};
  if (const Call* sum = CallAt(shifted, definitions, op::kAdd)) {
    zero_point = IntegerParam(sum->args[1], rank, definitions, workspace);
    shifted = sum->args[0];
  }
  const Call* rounded = CallAt(shifted, definitions, op::kRound);
  const Call* scaled = rounded ? CallAt(rounded->args[0], definitions, op::kDivide) : nullptr;
  if (!scaled || TensorDTypeOf(scaled) != kRealDType || RankOf(scaled->args[0]) != rank) return std::nullopt;
  const auto type = MakeAffineType(scaled->args[1], zero_point, dtype, rank, definitions, workspace);
  if (!type) return std::nullopt;
  return Quantization{ResolveAlias(scaled->args[0], definitions), *type};
}

bool AreClose(const Expr* a, const Expr* b) {
  if (a == b) return true;
  const auto of_a = NumbersOf(a);
  const auto of_b = NumbersOf(b);
  if (!of_a || !of_b || of_a->empty() || of_b->empty()) return false;
  if (of_a->size() != of_b->size() && of_a->size() != 1 && of_b->size() != 1) return false;
  constexpr double kRelative = 1e-5;
  constexpr double kAbsolute = 1e-8;
  for (size_t i = 0; i < std::max(of_a->size(), of_b->size()); ++i) {
    const double x = (*of_a)[of_a->size() == 1 ? 0 : i];
    const double y = (*of_b)[of_b->size() == 1 ? 0 : i];
    if (!(std::abs(x - y) <= kAbsolute + kRelative * std::abs(y))) return false;
  }
  return true;
}

bool AreClose(const AffineType& a, const AffineType& b) {
  return a.dtype == b.dtype && AreClose(a.scale, b.scale) && AreClose(a.zero_point, b.zero_point);
}

bool AreEqual(const AffineType& a, const AffineType& b) {
  const auto same = [](const Expr* x, const Expr* y) {
    const auto* of_x = As<Constant>(x);
    const auto* of_y = As<Constant>(y);
    return x == y || (of_x && of_y && *of_x->data == *of_y->data);
  };
  return a.dtype == b.dtype && a.axis == b.axis && same(a.scale, b.scale) && same(a.zero_point, b.zero_point);
}

}  // namespace iropt

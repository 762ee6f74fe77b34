#include "exchange/onnx/ops/scalar_elements.h"

#include <algorithm>

#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/ops/common.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/const_fold.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/context.h"

namespace iropt::onnx {

namespace {

using arith::PrimBuilder;

constexpr PrimBuilder kBuilder;

// The elements of all inputs; empty if one is unknown. Tensors of one element repeat it.
struct Operands {
  std::vector<const Elements*> inputs;
  size_t count = 0;
  bool is_scalar = true;
};

std::optional<Operands> OperandsOf(OpImport& op) {
  Operands operands;
  for (size_t i = 0; i < op.num_inputs(); ++i) {
    const Elements* elements = op.ElementsOf(i);
    if (elements == nullptr) return std::nullopt;
    operands.inputs.push_back(elements);
    operands.is_scalar &= elements->is_scalar;
    operands.count = std::max(operands.count, elements->values.size());
  }
  for (const Elements* elements : operands.inputs) {
    const size_t size = elements->values.size();
    if (size != operands.count && size != 1) return std::nullopt;
  }
  return operands;
}

const PrimExpr* At(const Elements& elements, size_t i) { return elements.values[elements.values.size() == 1 ? 0 : i]; }

// Folds two operands, element by element. `fold` gives null if it has no expression for them.
template <class F>
Value Fold(OpImport& op, std::optional<DataType> dtype, F&& fold) {
  const std::optional<Operands> operands = OperandsOf(op);
  if (!operands || operands->inputs.empty()) return {};
  Elements result{.is_scalar = operands->is_scalar, .dtype = dtype.value_or(operands->inputs[0]->dtype)};
  for (size_t i = 0; i < operands->count; ++i) {
    const PrimExpr* value = At(*operands->inputs[0], i);
    for (size_t k = 1; value != nullptr && k < operands->inputs.size(); ++k)
      value = fold(value, At(*operands->inputs[k], i));
    if (value == nullptr) return {};
    result.values.push_back(value);
  }
  return result;
}

std::optional<int64_t> Number(const PrimExpr* expr) {
  const auto* number = As<tir::IntImm>(expr);
  return number ? std::optional(number->value) : std::nullopt;
}

const PrimExpr* Int(int64_t value) { return IRContext::Current().Int(value); }

// Comparisons have a value for numbers, and for expressions that are the same.
template <class F>
Value Compare(OpImport& op, bool if_same, F&& compare) {
  return Fold(op, DataType::Bool(), [&](const PrimExpr* a, const PrimExpr* b) -> const PrimExpr* {
    if (a == b) return Int(if_same ? 1 : 0);
    const std::optional<int64_t> left = Number(a);
    const std::optional<int64_t> right = Number(b);
    return left && right ? Int(compare(*left, *right) ? 1 : 0) : nullptr;
  });
}

const PrimExpr* Divided(const PrimExpr* a, const PrimExpr* b) {
  const std::optional<int64_t> divisor = Number(b);
  if (!divisor || *divisor == 0) return nullptr;
  const std::optional<int64_t> dividend = Number(a);
  if (dividend && *divisor != -1) return Int(*dividend / *divisor);
  if (*divisor < 1) return nullptr;
  // ONNX divides towards zero, which is down where nothing is negative, as dimensions are. Differences of them may be.
  return arith::Analyzer().CanProveGreaterEqual(a, 0) ? kBuilder.FloorDiv(a, b) : kBuilder.TruncDiv(a, b);
}

}  // namespace

Value EvaluateAdd(OpImport& op) {
  return Fold(op, {}, [](const PrimExpr* a, const PrimExpr* b) { return kBuilder.Add(a, b); });
}
Value EvaluateSub(OpImport& op) {
  return Fold(op, {}, [](const PrimExpr* a, const PrimExpr* b) { return kBuilder.Sub(a, b); });
}
Value EvaluateMul(OpImport& op) {
  return Fold(op, {}, [](const PrimExpr* a, const PrimExpr* b) { return kBuilder.Mul(a, b); });
}
Value EvaluateMax(OpImport& op) {
  return Fold(op, {}, [](const PrimExpr* a, const PrimExpr* b) { return kBuilder.Max(a, b); });
}
Value EvaluateMin(OpImport& op) {
  return Fold(op, {}, [](const PrimExpr* a, const PrimExpr* b) { return kBuilder.Min(a, b); });
}
Value EvaluateDiv(OpImport& op) { return Fold(op, {}, Divided); }

Value EvaluateMod(OpImport& op) {
  if (op.Int("fmod") != 0) return {};
  return Fold(op, {}, [](const PrimExpr* a, const PrimExpr* b) -> const PrimExpr* {
    const std::optional<int64_t> divisor = Number(b);
    return divisor && *divisor > 0 ? kBuilder.FloorMod(a, b) : nullptr;
  });
}

Value EvaluateNeg(OpImport& op) {
  const Elements* x = op.ElementsOf(0);
  if (x == nullptr) return {};
  Elements result = *x;
  for (const PrimExpr*& value : result.values) value = kBuilder.Sub(Int(0), value);
  return result;
}

Value EvaluateEqual(OpImport& op) { return Compare(op, true, std::equal_to<>()); }
Value EvaluateGreater(OpImport& op) { return Compare(op, false, std::greater<>()); }
Value EvaluateGreaterOrEqual(OpImport& op) { return Compare(op, true, std::greater_equal<>()); }
Value EvaluateLess(OpImport& op) { return Compare(op, false, std::less<>()); }
Value EvaluateLessOrEqual(OpImport& op) { return Compare(op, true, std::less_equal<>()); }

Value EvaluateAnd(OpImport& op) {
  return Fold(op, DataType::Bool(), [](const PrimExpr* a, const PrimExpr* b) { return kBuilder.Min(a, b); });
}
Value EvaluateOr(OpImport& op) {
  return Fold(op, DataType::Bool(), [](const PrimExpr* a, const PrimExpr* b) { return kBuilder.Max(a, b); });
}
Value EvaluateNot(OpImport& op) {
  const Elements* x = op.ElementsOf(0);
  if (x == nullptr) return {};
  Elements result = *x;
  for (const PrimExpr*& value : result.values) value = kBuilder.Sub(Int(1), value);
  return result;
}

Value EvaluateWhere(OpImport& op) {
  const std::optional<Operands> operands = OperandsOf(op);
  if (!operands) return {};
  const std::optional<std::vector<int64_t>> conditions = operands->inputs[0]->Numbers();
  if (!conditions) return {};
  Elements result{.is_scalar = operands->is_scalar, .dtype = operands->inputs[1]->dtype};
  for (size_t i = 0; i < operands->count; ++i) {
    const bool condition = (*conditions)[conditions->size() == 1 ? 0 : i] != 0;
    result.values.push_back(At(*operands->inputs[condition ? 1 : 2], i));
  }
  return result;
}

Value EvaluateCast(OpImport& op) {
  const Elements* x = op.ElementsOf(0);
  const std::optional<DataType> to = DataTypeOf(static_cast<ElementType>(op.Int("to")));
  if (x == nullptr || (to != DataType::Int(64) && to != DataType::Int(32))) return {};
  Elements result = *x;
  result.dtype = *to;
  return result;
}

Value EvaluateConcat(OpImport& op) {
  Elements result;
  for (size_t i = 0; i < op.num_inputs(); ++i) {
    const Elements* part = op.ElementsOf(i);
    if (part == nullptr || part->is_scalar) return {};
    result.dtype = part->dtype;
    result.values.insert(result.values.end(), part->values.begin(), part->values.end());
  }
  if (result.values.size() > Elements::kMost) return {};
  return result;
}

Value EvaluateConstantOfShape(OpImport& op) {
  const std::optional<std::vector<int64_t>> shape = op.Numbers(0);
  const AttributeProto* value = op.FindAttr("value");
  if (!shape || shape->size() > 1 || value == nullptr || value->tensors.empty()) return {};
  const int64_t count = shape->empty() ? 1 : (*shape)[0];
  const TensorProto& tensor = value->tensors[0];
  if (tensor.type != ElementType::kInt64 || count < 0 || count > static_cast<int64_t>(Elements::kMost)) return {};
  const std::optional<Elements> element = op.ElementsIn(tensor);
  if (!element || element->values.size() != 1) return {};
  return Elements{.values = std::vector(static_cast<size_t>(count), element->values[0]), .is_scalar = shape->empty()};
}

Value EvaluateGather(OpImport& op) {
  const Elements* data = op.ElementsOf(0);
  const Elements* indices = op.ElementsOf(1);
  if (data == nullptr || indices == nullptr || data->is_scalar) return {};
  const std::optional<std::vector<int64_t>> numbers = indices->Numbers();
  if (!numbers) return {};
  Elements result{.is_scalar = indices->is_scalar, .dtype = data->dtype};
  const auto size = static_cast<int64_t>(data->values.size());
  for (const int64_t index : *numbers) {
    if (index < -size || index >= size)
      return op.Error(fmt::format("index {} is out of range: there are {}", index, size));
    result.values.push_back(data->values[static_cast<size_t>(index < 0 ? index + size : index)]);
  }
  return result;
}

Value EvaluateRange(OpImport& op) {
  const auto start = op.Numbers(0);
  const auto limit = op.Numbers(1);
  const auto delta = op.Numbers(2);
  if (!start || !limit || !delta || (*delta)[0] == 0) return {};
  Elements result{.dtype = op.ElementsOf(0)->dtype};
  const auto within = [&](int64_t i) { return (*delta)[0] > 0 ? i < (*limit)[0] : i > (*limit)[0]; };
  for (std::optional<int64_t> i = (*start)[0]; i && within(*i); i = arith::CheckedAdd(*i, (*delta)[0])) {
    if (result.values.size() == Elements::kMost) return {};
    result.values.push_back(Int(*i));
  }
  return result;
}

Value EvaluateReduceProd(OpImport& op) {
  const Elements* x = op.ElementsOf(0);
  if (x == nullptr || x->is_scalar) return {};
  const PrimExpr* product = Int(1);
  for (const PrimExpr* value : x->values) product = kBuilder.Mul(product, value);
  return Elements{.values = {product}, .is_scalar = op.Int("keepdims", 1) == 0, .dtype = x->dtype};
}

Value EvaluateReshape(OpImport& op) {
  const Elements* x = op.ElementsOf(0);
  const std::optional<std::vector<int64_t>> shape = op.AttrOrInput("shape", 1);
  if (x == nullptr || !shape || shape->size() > 1) return {};
  const bool fits = shape->empty() ? x->values.size() == 1
                                   : (*shape)[0] == -1 || (*shape)[0] == static_cast<int64_t>(x->values.size());
  if (!fits) return {};
  Elements result = *x;
  result.is_scalar = shape->empty();
  return result;
}

Value EvaluateSlice(OpImport& op) {
  const Elements* x = op.ElementsOf(0);
  const auto starts = op.AttrOrInput("starts", 1);
  const auto ends = op.AttrOrInput("ends", 2);
  const auto steps = op.Has(4) ? op.Numbers(4) : std::vector<int64_t>{1};
  if (x == nullptr || x->is_scalar || !starts || !ends || !steps || starts->size() != 1 || ends->size() != 1 ||
      steps->size() != 1 || (*steps)[0] == 0)
    return {};
  if (op.importer().context().count_nodes && IsAmbiguousEnd((*ends)[0], (*steps)[0])) return {};
  const auto size = static_cast<int64_t>(x->values.size());
  const int64_t step = (*steps)[0];
  const int64_t end = ClampedBound((*ends)[0], size, step, true);
  Elements result{.dtype = x->dtype};
  const auto within = [&](int64_t i) { return step > 0 ? i < end : i > end; };
  for (std::optional<int64_t> i = ClampedBound((*starts)[0], size, step, false); i && within(*i);
       i = arith::CheckedAdd(*i, step))
    result.values.push_back(x->values[static_cast<size_t>(*i)]);
  return result;
}

Value EvaluateSqueeze(OpImport& op) {
  const Elements* x = op.ElementsOf(0);
  if (x == nullptr || x->is_scalar || x->values.size() != 1) return {};
  const auto axes = op.AttrOrInput("axes", 1);
  if (!axes) return {};
  Elements result = *x;
  result.is_scalar = true;
  return result;
}

Value EvaluateUnsqueeze(OpImport& op) {
  const Elements* x = op.ElementsOf(0);
  const auto axes = op.AttrOrInput("axes", 1);
  if (x == nullptr || !x->is_scalar || !axes || axes->size() != 1) return {};
  Elements result = *x;
  result.is_scalar = false;
  return result;
}

}  // namespace iropt::onnx

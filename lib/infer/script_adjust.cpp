// Rules for single script functions that the columns of the table cannot express.
#include <fmt/format.h>

#include <optional>
#include <vector>

#include "iropt/ir/context.h"
#include "iropt/ir/location.h"
#include "iropt/op/ops/call.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/image.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/pooling.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/reshape.h"
#include "literals.h"
#include "script_call.h"
#include "type_util.h"

namespace iropt {

using Kind = PyValue::Kind;

namespace {

PyValue Integer(int64_t value, Span span) {
  PyValue result;
  result.kind = Kind::kInt;
  result.span = span;
  result.integer = value;
  return result;
}

PyValue Float(double value, DataType dtype, Span span) {
  const tir::FloatImm node(dtype, value);
  PyValue result;
  result.kind = Kind::kPrim;
  result.span = span;
  result.prim = IRContext::Current().Intern(&node);
  return result;
}

PyValue Text(const char* text, Span span) {
  PyValue result;
  result.kind = Kind::kString;
  result.span = span;
  result.text = {text, static_cast<uint32_t>(std::char_traits<char>::length(text))};
  return result;
}

// Returns whether a scalar operand is an integer. For a variable of scalar type, its type decides.
bool IsInteger(const PyValue* value) {
  if (!value || value->kind == Kind::kInt || value->kind == Kind::kBool) return true;
  if (const PrimExpr* prim = ToPrimExpr(*value)) return prim->dtype.is_int();
  const auto* type = value->kind == Kind::kExpr ? As<PrimType>(value->expr->type) : nullptr;
  return type && type->dtype.is_int();
}

// arange(n) counts from 0 to n. If all bounds are integers the result is int64, otherwise the bounds and the result are
// float32.
bool AdjustArange(BoundArguments& bound) {
  const PyValue*& start = bound["start"];
  const PyValue*& end = bound["end"];
  if (!BoundArguments::Given(end)) {
    end = start;
    start = bound.Keep(Integer(0, end->span));
  }
  for (const PyValue** bounding : {&start, &end, &bound["step"]}) {
    if (*bounding && (*bounding)->kind == Kind::kFloat)
      *bounding = bound.Keep(Float((*bounding)->real, DataType::Float(32), (*bounding)->span));
  }
  const PyValue*& dtype = bound["dtype"];
  if (BoundArguments::Given(dtype)) return true;
  const bool integers = IsInteger(start) && IsInteger(end) && IsInteger(bound["step"]);
  dtype = bound.Keep(Text(integers ? "int64" : "float32", bound.span));
  return true;
}

// assert_op(c, [a, b]) is assert_op(c, a, b).
bool AdjustAssertOp(BoundArguments& bound) {
  const bool list = bound.rest.size() == 1 && IsSequence(bound.rest[0]);
  if (list) bound.rest = bound.rest[0].items();
  return true;
}

// A number as padding takes the element type of the tensor.
bool AdjustLayoutTransform(BoundArguments& bound) {
  const PyValue*& pad = bound["pad_value"];
  if (!pad || (pad->kind != Kind::kInt && pad->kind != Kind::kFloat)) return true;
  const PyValue* x = bound["x"];
  const auto* type = x->kind == Kind::kExpr ? As<TensorType>(x->expr->type) : nullptr;
  if (!type) return true;
  PyValue typed;
  if (type->dtype.is_integer() && pad->kind == Kind::kInt) {
    typed.kind = Kind::kPrim;
    typed.span = pad->span;
    typed.prim = IRContext::Current().Int(pad->integer, type->dtype);
  } else if (type->dtype.is_floating()) {
    typed = Float(pad->kind == Kind::kInt ? static_cast<double>(pad->integer) : pad->real, type->dtype, pad->span);
  } else {
    return true;
  }
  pad = bound.Keep(typed);
  return true;
}

// TVM 0.20 and newer have the mode before the value.
bool AdjustPad(BoundArguments& bound) {
  if (bound["pad_value"] && bound["pad_value"]->is(Kind::kString)) std::swap(bound["pad_value"], bound["pad_mode"]);
  return true;
}

// Sets an argument that a text of TVM 0.21 or newer leaves out, and that has another value there than in older ones.
void SetNewerDefault(BoundArguments& bound, std::string_view name, const PyValue& value) {
  const PyValue*& argument = bound[name];
  const bool is_newer =
      bound.module && bound.module->text_version().value_or(TextVersion::kV0_18) >= TextVersion::kV0_21;
  if (is_newer && !BoundArguments::Given(argument)) argument = bound.Keep(value);
}

bool AdjustAvgPool(BoundArguments& bound) {
  SetNewerDefault(bound, "count_include_pad", PyValue::Bool(true, bound.span));
  return true;
}

bool AdjustResize2d(BoundArguments& bound) {
  SetNewerDefault(bound, "cubic_alpha", PyValue::Float(-0.75, bound.span));
  return true;
}

// The dimensions that a script gives as a list or as R.shape([...]); nothing for other expressions.
std::optional<std::vector<const PrimExpr*>> LiteralDims(const PyValue& value) {
  std::vector<const PrimExpr*> dims;
  if (IsSequence(value)) {
    for (const PyValue& item : value.items()) {
      const bool number = item.kind == Kind::kInt || item.kind == Kind::kPrim;
      dims.push_back(number ? ToPrimExpr(item) : nullptr);
      if (!dims.back()) return std::nullopt;
    }
    return dims;
  }
  const auto* shape = value.kind == Kind::kExpr ? As<ShapeExpr>(value.expr) : nullptr;
  if (!shape) return std::nullopt;
  dims.assign(shape->values.begin(), shape->values.end());
  return dims;
}

bool ReshapeError(const BoundArguments& bound, const PyValue& shape, std::string message) {
  bound.diagnostics.Error(Location(shape.span.known() ? shape.span : bound.span), "bad-argument",
                          fmt::format("R.reshape: {}", message));
  return false;
}

// The dimension -1: the remaining elements.
const PrimExpr* MissingDim(std::span<const PrimExpr* const> data, std::span<const PrimExpr* const> dims) {
  const arith::PrimBuilder make;
  const PrimExpr* elements = rules::Product(data);
  const PrimExpr* others = make.Int(1);
  for (const PrimExpr* dim : dims) {
    const int64_t* value = arith::AsInt(dim);
    if (!value || *value > 0) others = make.Mul(others, dim);
  }
  return arith::Simplify(make.FloorDiv(elements, others));
}

// Returns whether the data has no elements, but would have some with dimensions copied for zeros: these are sizes then,
// such as the one that -1 stands for in a new shape [-1] of (2, 0).
bool HasZeroSizes(std::span<const PrimExpr* const> data, std::span<const size_t> copied) {
  const auto is_zero = [&](size_t i) { return i < data.size() && arith::IsInt(data[i], 0); };
  return arith::IsInt(rules::Product(data), 0) && std::ranges::none_of(copied, is_zero);
}

// In a new shape, 0 stands for the dimension of the data at the same position, and a single -1 for the remaining
// elements.
bool AdjustReshape(BoundArguments& bound) {
  const PyValue*& shape = bound["shape"];
  const PyValue* x = bound["x"];
  auto dims = shape && x ? LiteralDims(*shape) : std::nullopt;
  if (!dims) return true;
  const PrimExpr** missing = nullptr;
  std::vector<size_t> copied;
  for (size_t i = 0; i < dims->size(); ++i) {
    const int64_t* value = arith::AsInt((*dims)[i]);
    if (!value || *value > 0) continue;
    if (*value < -1) return ReshapeError(bound, *shape, fmt::format("invalid dimension {}", *value));
    if (*value == -1 && missing) return ReshapeError(bound, *shape, "more than one dimension is -1");
    if (*value == 0) copied.push_back(i);
    if (*value == -1) missing = &(*dims)[i];
  }
  if (!missing && copied.empty()) return true;
  const auto* type = x->kind == Kind::kExpr ? As<TensorType>(x->expr->type) : nullptr;
  const List<const PrimExpr*>* data = type ? rules::ShapeValues(type) : nullptr;
  if (!data) return ReshapeError(bound, *shape, "0 and -1 require data of a known shape");
  if (!missing && HasZeroSizes(*data, copied)) return true;
  for (const size_t i : copied) {
    if (i >= data->size())
      return ReshapeError(bound, *shape, fmt::format("0 at index {}, but the data has rank {}", i, data->size()));
    (*dims)[i] = (*data)[static_cast<uint32_t>(i)];
  }
  if (missing) *missing = MissingDim(*data, *dims);
  PyValue result;
  result.kind = Kind::kExpr;
  result.span = shape->span;
  result.expr = MakeShapeExpr(*dims, shape->span, bound.workspace);
  shape = bound.Keep(result);
  return true;
}

}  // namespace

bool AdjustArguments(BoundArguments& bound) {
  struct Row {
    OpId op;
    bool (*adjust)(BoundArguments& bound);
  };
  static constexpr Row kRows[] = {{op::kArange, AdjustArange},
                                  {op::kAssertOp, AdjustAssertOp},
                                  {op::kImageResize2d, AdjustResize2d},
                                  {op::kLayoutTransform, AdjustLayoutTransform},
                                  {op::kNnAvgPool1d, AdjustAvgPool},
                                  {op::kNnAvgPool3d, AdjustAvgPool},
                                  {op::kNnPad, AdjustPad},
                                  {op::kReshape, AdjustReshape}};
  for (const Row& row : kRows) {
    if (bound.op->id == row.op) return row.adjust(bound);
  }
  return true;
}

}  // namespace iropt

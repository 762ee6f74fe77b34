// Rules of single script functions that no column of the table expresses.
#include "iropt/ir/context.h"
#include "literals.h"
#include "script_call.h"

namespace iropt {

using Kind = ScriptValue::Kind;

namespace {

ScriptValue Integer(int64_t value, Span span) {
  ScriptValue result;
  result.kind = Kind::kInt;
  result.span = span;
  result.integer = value;
  return result;
}

ScriptValue Float(double value, DataType dtype, Span span) {
  const tir::FloatImm node(dtype, value);
  ScriptValue result;
  result.kind = Kind::kPrim;
  result.span = span;
  result.prim = IRContext::Current().Intern(&node);
  return result;
}

ScriptValue Text(const char* text, Span span) {
  ScriptValue result;
  result.kind = Kind::kString;
  result.span = span;
  result.text = {text, static_cast<uint32_t>(std::char_traits<char>::length(text))};
  return result;
}

// Whether a scalar operand is an integer. A variable of scalar type is one if its type says so.
bool IsInteger(const ScriptValue* value) {
  if (!value || value->kind == Kind::kInt || value->kind == Kind::kBool) return true;
  if (const PrimExpr* prim = ToPrimExpr(*value)) return prim->dtype.is_int();
  const auto* type = value->kind == Kind::kExpr ? As<PrimType>(value->expr->type) : nullptr;
  return type && type->dtype.is_int();
}

}  // namespace

// arange(n) counts from 0 to n. Bounds that are no integers are float32, and so is the result; it is int64 where all
// are integers.
bool AdjustArange(BoundArguments& bound) {
  const ScriptValue*& start = bound["start"];
  const ScriptValue*& end = bound["end"];
  if (!BoundArguments::Given(end)) {
    end = start;
    start = bound.Keep(Integer(0, end->span));
  }
  for (const ScriptValue** bounding : {&start, &end, &bound["step"]}) {
    if (*bounding && (*bounding)->kind == Kind::kFloat)
      *bounding = bound.Keep(Float((*bounding)->real, DataType::Float(32), (*bounding)->span));
  }
  const ScriptValue*& dtype = bound["dtype"];
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
  const ScriptValue*& pad = bound["pad_value"];
  if (!pad || (pad->kind != Kind::kInt && pad->kind != Kind::kFloat)) return true;
  const ScriptValue* x = bound["x"];
  const auto* type = x->kind == Kind::kExpr ? As<TensorType>(x->expr->type) : nullptr;
  if (!type) return true;
  ScriptValue typed;
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

}  // namespace iropt

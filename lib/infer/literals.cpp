#include "literals.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "iropt/infer/infer.h"
#include "iropt/ir/context.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/stack.h"

namespace iropt {

using Kind = PyValue::Kind;

namespace {

// Node types whose constructors take the type last.
template <class T, class... Args>
const Expr* NewLeaf(Workspace& workspace, Span span, Args&&... args) {
  T* node = workspace.New<T>(std::forward<Args>(args)...);
  node->set_span(span);
  return node;
}

template <class T>
std::shared_ptr<NDArray> ScalarArray(DataType dtype, T value) {
  std::shared_ptr<NDArray> array = NDArray::Make(dtype, {});
  std::memcpy(array->mutable_data(), &value, sizeof value);
  return array;
}

// The scalar expression within R.prim_value(...) or a scalar literal; null for other values.
const PrimExpr* PrimOf(const PyValue& value) {
  if (value.kind == Kind::kPrim) return value.prim;
  if (value.kind != Kind::kExpr) return nullptr;
  const auto* prim_value = As<PrimValue>(value.expr);
  return prim_value ? prim_value->value : nullptr;
}

}  // namespace

const Expr* MakePrimValue(const PrimExpr* value, Span span, Workspace& workspace) {
  const PrimExpr* canonical = IRContext::Current().Intern(value);
  return NewLeaf<PrimValue>(workspace, span, canonical, PrimType::Get(canonical));
}

const Expr* MakeShapeExpr(std::span<const PrimExpr* const> dims, Span span, Workspace& workspace) {
  return NewLeaf<ShapeExpr>(workspace, span, workspace.Copy(dims), ShapeType::Get(dims));
}

const Expr* MakeStringImm(std::string_view text, Span span, Workspace& workspace) {
  return NewLeaf<StringImm>(workspace, span, workspace.arena().CopyString(text), ObjectType::Get());
}

const Expr* MakeDataTypeImm(DataType dtype, Span span, Workspace& workspace) {
  return NewLeaf<DataTypeImm>(workspace, span, dtype, ObjectType::Get());
}

const Expr* MakeExternFunc(std::string_view symbol, Span span, Workspace& workspace) {
  return NewLeaf<ExternFunc>(workspace, span, workspace.arena().CopyString(symbol), DictAttr::Empty(),
                             PackedFuncType());
}

const Expr* MakeTuple(std::span<const Expr* const> fields, Span span, Workspace& workspace) {
  // The operands of call_tir are converted here by the thousand, so the common sizes avoid the heap.
  std::array<const Type*, 16> few;
  std::vector<const Type*> many(fields.size() > few.size() ? fields.size() : 0);
  const std::span<const Type*> types(many.empty() ? few.data() : many.data(), fields.size());
  bool typed = true;
  for (size_t i = 0; i < fields.size(); ++i) {
    types[i] = fields[i]->type;
    typed = typed && types[i];
  }
  const Type* type = typed ? TupleType::Get(workspace.arena(), types) : nullptr;
  return NewLeaf<Tuple>(workspace, span, workspace.Copy(fields), type);
}

const Expr* MakeScalarConstant(const PyValue& value, Workspace& workspace) {
  std::shared_ptr<NDArray> array;
  if (value.kind == Kind::kBool) {
    array = ScalarArray<uint8_t>(DataType::Bool(), value.boolean);
  } else if (value.kind == Kind::kInt && value.integer == static_cast<int32_t>(value.integer)) {
    array = ScalarArray(DataType::Int(32), static_cast<int32_t>(value.integer));
  } else if (value.kind == Kind::kFloat) {
    array = ScalarArray(DataType::Float(32), static_cast<float>(value.real));
  } else {
    return nullptr;
  }
  workspace.arena().Retain(array);
  const Type* type = TensorType::Get(std::span<const PrimExpr* const>(), array->dtype());
  return NewLeaf<Constant>(workspace, value.span, array.get(), type);
}

const PrimExpr* ToPrimExpr(const PyValue& value) {
  IRContext& context = IRContext::Current();
  switch (value.kind) {
    case Kind::kBool: return context.Int(value.boolean);
    case Kind::kInt: return context.Int(value.integer);
    case Kind::kFloat: {
      const tir::FloatImm node(DataType::Float(64), value.real);
      return context.Intern(&node);
    }
    default: {
      const PrimExpr* prim = PrimOf(value);
      return prim ? context.Intern(prim) : nullptr;
    }
  }
}

std::optional<int64_t> ToInteger(const PyValue& value) {
  if (value.kind == Kind::kInt) return value.integer;
  const auto* imm = As<tir::IntImm>(PrimOf(value));
  return imm && !imm->dtype.is_bool() ? std::optional(imm->value) : std::nullopt;
}

std::optional<double> ToDouble(const PyValue& value) {
  if (value.kind == Kind::kFloat) return value.real;
  if (const auto* imm = As<tir::FloatImm>(PrimOf(value))) return imm->value;
  const std::optional<int64_t> integer = ToInteger(value);
  return integer ? std::optional(static_cast<double>(*integer)) : std::nullopt;
}

std::optional<double> SpecialFloat(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const double sign = negative ? -1 : 1;
  if (text == "inf" || text == "infinity") return sign * std::numeric_limits<double>::infinity();
  if (text == "nan") return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  return std::nullopt;
}

std::optional<bool> ToBool(const PyValue& value) {
  if (value.kind == Kind::kBool) return value.boolean;
  const auto* imm = As<tir::IntImm>(PrimOf(value));
  if (imm && imm->dtype.is_bool()) return imm->value != 0;
  const std::optional<int64_t> integer = ToInteger(value);
  if (!integer || *integer < 0 || *integer > 1) return std::nullopt;
  return *integer == 1;
}

std::optional<std::string_view> ToText(const PyValue& value) {
  if (value.kind == Kind::kString) return value.string();
  const auto* imm = value.kind == Kind::kExpr ? As<StringImm>(value.expr) : nullptr;
  return imm ? std::optional(imm->value) : std::nullopt;
}

std::optional<DataType> ToDataType(const PyValue& value) {
  if (value.kind == Kind::kNone) return DataType::Void();
  if (value.kind == Kind::kString) return DataType::Parse(value.string());
  const auto* imm = value.kind == Kind::kExpr ? As<DataTypeImm>(value.expr) : nullptr;
  return imm ? std::optional(imm->value) : std::nullopt;
}

PyValue DefaultLiteral(const OpDefault& fallback) {
  PyValue value;
  switch (fallback.kind) {
    case OpDefault::Kind::kNone: value.kind = Kind::kNone; break;
    case OpDefault::Kind::kBool:
      value.kind = Kind::kBool;
      value.boolean = fallback.integer != 0;
      break;
    case OpDefault::Kind::kInt:
      value.kind = Kind::kInt;
      value.integer = fallback.integer;
      break;
    case OpDefault::Kind::kFloat:
      value.kind = Kind::kFloat;
      value.real = fallback.real;
      break;
    case OpDefault::Kind::kString:
      value.kind = Kind::kString;
      value.text = {fallback.text.data(), static_cast<uint32_t>(fallback.text.size())};
      break;
    case OpDefault::Kind::kRequired:
    case OpDefault::Kind::kSameAs: IROPT_UNREACHABLE("a default that is not a literal");
  }
  return value;
}

std::string_view DescribeValue(const PyValue& value) {
  switch (value.kind) {
    case Kind::kNone: return "None";
    case Kind::kBool: return "a boolean";
    case Kind::kInt: return "an integer";
    case Kind::kFloat: return "a number";
    case Kind::kString: return "a string";
    case Kind::kExpr: return "an expression";
    case Kind::kPrim: return "a scalar expression";
    case Kind::kType: return "a type";
    case Kind::kAttr: return "an attribute";
    case Kind::kDType: return "a data type";
    case Kind::kPointerType: return "the type of a pointer";
    case Kind::kBuffer: return "a buffer";
    case Kind::kRegion: return "a region";
    case Kind::kIterVar: return "an iteration variable";
    case Kind::kRange: return "a range";
    case Kind::kReducer: return "a reducer";
    case Kind::kList: return "a list";
    case Kind::kTuple: return "a tuple";
    case Kind::kTvmArray: return "a list";
  }
  return "a value";
}

const Expr* ToRelaxExpr(const PyValue& value, Workspace& workspace) {
  switch (value.kind) {
    case Kind::kExpr: return value.expr;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
    case Kind::kPrim: return MakePrimValue(ToPrimExpr(value), value.span, workspace);
    case Kind::kString: return MakeStringImm(value.string(), value.span, workspace);
    case Kind::kList:
    case Kind::kTuple: {
      std::vector<const Expr*> fields;
      for (const PyValue& item : value.items()) {
        const Expr* field = WithStack([&] { return ToRelaxExpr(item, workspace); });
        if (!field) return nullptr;
        fields.push_back(field);
      }
      return MakeTuple(fields, value.span, workspace);
    }
    default: return nullptr;
  }
}

}  // namespace iropt

// Conversion of literals of scripts to nodes. Conversions return null (nullopt, false) if the literal does not fit; the
// caller reports the error.
#pragma once

#include <optional>
#include <string>

#include "iropt/infer/py_value.h"

namespace iropt {

// Leaves of Relax with their types, placed at `span`.
const Expr* MakePrimValue(const PrimExpr* value, Span span, Workspace& workspace);
const Expr* MakeShapeExpr(std::span<const PrimExpr* const> dims, Span span, Workspace& workspace);
const Expr* MakeStringImm(std::string_view text, Span span, Workspace& workspace);
const Expr* MakeDataTypeImm(DataType dtype, Span span, Workspace& workspace);
const Expr* MakeExternFunc(std::string_view symbol, Span span, Workspace& workspace);
// With a type if all fields have one.
const Expr* MakeTuple(std::span<const Expr* const> fields, Span span, Workspace& workspace);
// A constant of rank 0: bool, int32 or float32, by the kind of the literal. Null if it is not a number.
const Expr* MakeScalarConstant(const PyValue& value, Workspace& workspace);

// A scalar expression: numbers (int64, float64), booleans (as int64), typed literals such as T.float16(1),
// R.prim_value(...).
const PrimExpr* ToPrimExpr(const PyValue& value);
// A constant integer.
std::optional<int64_t> ToInteger(const PyValue& value);
std::optional<double> ToDouble(const PyValue& value);
std::optional<bool> ToBool(const PyValue& value);
std::optional<std::string_view> ToText(const PyValue& value);
// "float32", R.dtype("float32"), None for void.
std::optional<DataType> ToDataType(const PyValue& value);

inline bool IsSequence(const PyValue& value) {
  return value.kind == PyValue::Kind::kList || value.kind == PyValue::Kind::kTuple;
}
// The default as a literal; not for kRequired and kSameAs.
PyValue DefaultLiteral(const OpDefault& fallback);
// The kind of a value, for messages: "a string", "a list", "None".
std::string_view DescribeValue(const PyValue& value);

// ---- lib/infer/op_attrs.cpp

// The attribute of a literal; names of devices and meshes are looked up in `module`. Null if the literal does not fit;
// ExpectedLiteral describes those that do.
const Attr* ToAttr(const OpAttr& attr, const PyValue& value, const Module* module);
std::string ExpectedLiteral(const OpAttr& attr);
// Returns whether such an attribute may be absent.
bool IsOptional(AttrKind kind);

}  // namespace iropt

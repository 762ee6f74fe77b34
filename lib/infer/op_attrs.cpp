// Attribute values from literals and defaults.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "iropt/infer/global_infos.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"
#include "literals.h"

namespace iropt {

using Kind = PyValue::Kind;

namespace {

// Also one that is written as a string.
std::optional<double> NumberOf(const PyValue& value) {
  return value.is(Kind::kString) ? SpecialFloat(value.string()) : ToDouble(value);
}

const Attr* FloatOf(const PyValue& value) {
  const auto* imm = value.kind == Kind::kPrim ? As<tir::FloatImm>(value.prim) : nullptr;
  if (imm) return FloatAttr::Get(imm->value, imm->dtype);
  const std::optional<double> number = NumberOf(value);
  return number ? FloatAttr::Get(*number, DataType::Float(32)) : nullptr;
}

const Attr* DoubleOf(const PyValue& value) {
  const std::optional<double> number = NumberOf(value);
  return number ? FloatAttr::Get(*number) : nullptr;
}

const Attr* IntOf(const PyValue& value) {
  const std::optional<int64_t> integer = ToInteger(value);
  return integer ? IntAttr::Get(*integer) : nullptr;
}

const Attr* TextOf(const PyValue& value) {
  const std::optional<std::string_view> text = ToText(value);
  return text ? StrAttr::Get(*text) : nullptr;
}

// Converts a list item by item, with the short forms that the attribute allows.
const Attr* ListOf(const OpAttr& attr, const PyValue& value, const Attr* (*convert)(const PyValue&)) {
  std::vector<const Attr*> items;
  const std::span<const PyValue> given = IsSequence(value) ? value.items() : std::span(&value, 1);
  for (const PyValue& item : given) {
    items.push_back(convert(item));
    if (!items.back()) return nullptr;
  }
  if (attr.copies == 0 || items.size() == attr.copies) return ListAttr::Get(items);
  const bool halves = attr.padding && items.size() * 2 == attr.copies;
  if (items.size() != 1 && !halves) return nullptr;
  const std::vector<const Attr*> once = items;
  while (items.size() < attr.copies) items.insert(items.end(), once.begin(), once.end());
  return ListAttr::Get(items);
}

template <class T>
const Attr* NodeOf(const PyValue& value) {
  return value.kind == Kind::kAttr ? As<T>(value.attr) : nullptr;
}

// The attributes with a node class of their own.
const Attr* ObjectOf(const OpAttr& attr, const PyValue& value, const Module* module) {
  switch (attr.kind) {
    case AttrKind::kIndexMap: return NodeOf<IndexMapAttr>(value);
    case AttrKind::kVDevice:
      return value.kind == Kind::kString ? FindVDevice(module, value.string()) : NodeOf<VDeviceAttr>(value);
    case AttrKind::kDeviceMesh:
      return value.kind == Kind::kString ? FindDeviceMesh(module, value.string()) : NodeOf<DeviceMeshAttr>(value);
    case AttrKind::kDict: return value.kind == Kind::kNone ? DictAttr::Empty() : NodeOf<DictAttr>(value);
    case AttrKind::kOptPrimValue: {
      const PrimExpr* prim = ToPrimExpr(value);
      return prim ? ExprAttr::Get(prim) : nullptr;
    }
    default: IROPT_UNREACHABLE("attribute '{}' is not an object", attr.name);
  }
}

}  // namespace

bool IsOptional(AttrKind kind) {
  switch (kind) {
    case AttrKind::kOptInt:
    case AttrKind::kOptFloat:
    case AttrKind::kOptString:
    case AttrKind::kOptIntList:
    case AttrKind::kOptBool:
    case AttrKind::kOptPrimValue: return true;
    default: return false;
  }
}

const Attr* ToAttr(const OpAttr& attr, const PyValue& value, const Module* module) {
  if (value.kind == Kind::kNone && IsOptional(attr.kind)) return NoneAttr::Get();
  switch (attr.kind) {
    case AttrKind::kBool:
    case AttrKind::kOptBool: {
      const std::optional<bool> boolean = ToBool(value);
      return boolean ? IntAttr::Bool(*boolean) : nullptr;
    }
    case AttrKind::kInt:
    case AttrKind::kOptInt: return IntOf(value);
    case AttrKind::kDouble: return DoubleOf(value);
    case AttrKind::kOptFloat: return FloatOf(value);
    case AttrKind::kString:
    case AttrKind::kOptString:
    case AttrKind::kPlacement: return TextOf(value);
    case AttrKind::kDataType: {
      const std::optional<DataType> dtype = ToDataType(value);
      return dtype ? DTypeAttr::Get(*dtype) : nullptr;
    }
    case AttrKind::kIntList:
      if (value.kind == Kind::kNone) return ListAttr::Get({});
      return ListOf(attr, value, &IntOf);
    case AttrKind::kOptIntList: return ListOf(attr, value, &IntOf);
    case AttrKind::kIntOrIntList: return IsSequence(value) ? ListOf(attr, value, &IntOf) : IntOf(value);
    case AttrKind::kFloatList: return ListOf(attr, value, &FloatOf);
    case AttrKind::kDoubleList: return ListOf(attr, value, &DoubleOf);
    case AttrKind::kStringList: return ListOf(attr, value, &TextOf);
    default: return ObjectOf(attr, value, module);
  }
}

std::string ExpectedLiteral(const OpAttr& attr) {
  const auto list = [&](std::string_view item) {
    if (attr.padding) return fmt::format("1, {} or {} {}s", attr.copies / 2, attr.copies, item);
    if (attr.copies > 1) return fmt::format("1 or {} {}s", attr.copies, item);
    return fmt::format("a list of {}s", item);
  };
  switch (attr.kind) {
    case AttrKind::kBool: return "True or False";
    case AttrKind::kOptBool: return "True, False or None";
    case AttrKind::kInt: return "an integer";
    case AttrKind::kOptInt: return "an integer or None";
    case AttrKind::kDouble: return "a number";
    case AttrKind::kOptFloat: return "a number or None";
    case AttrKind::kString: return "a string";
    case AttrKind::kOptString: return "a string or None";
    case AttrKind::kDataType: return "the name of a data type";
    case AttrKind::kIntList: return list("integer");
    case AttrKind::kOptIntList: return list("integer") + " or None";
    case AttrKind::kIntOrIntList: return "an integer or a list of integers";
    case AttrKind::kFloatList:
    case AttrKind::kDoubleList: return list("number");
    case AttrKind::kStringList: return list("string");
    case AttrKind::kOptPrimValue: return "a scalar or None";
    case AttrKind::kIndexMap: return "an index map";
    case AttrKind::kVDevice: return "a device of the module, such as \"cuda:0\"";
    case AttrKind::kDeviceMesh: return "a device mesh of the module, such as \"mesh[0]\"";
    case AttrKind::kPlacement: return "a placement, such as \"S[0], R\"";
    case AttrKind::kDict: return "a dictionary";
  }
  return "another value";
}

const Attr* ToLiteralAttr(const PyValue& value) {
  switch (value.kind) {
    case Kind::kNone: return NoneAttr::Get();
    case Kind::kBool: return IntAttr::Bool(value.boolean);
    case Kind::kInt: return IntAttr::Get(value.integer);
    case Kind::kFloat: return FloatAttr::Get(value.real);
    case Kind::kString: return StrAttr::Get(value.string());
    case Kind::kAttr: return value.attr;
    case Kind::kType: return TypeAttr::Get(value.type);
    case Kind::kPrim: return ExprAttr::Get(IRContext::Current().Intern(value.prim));
    case Kind::kExpr: {
      if (const auto* text = As<StringImm>(value.expr)) return StrAttr::Get(text->value);
      if (const auto* dtype = As<DataTypeImm>(value.expr)) return DTypeAttr::Get(dtype->value);
      const auto* prim = As<PrimValue>(value.expr);
      return prim ? ExprAttr::Get(prim->value) : nullptr;
    }
    case Kind::kList:
    case Kind::kTuple: {
      std::vector<const Attr*> items;
      for (const PyValue& item : value.items()) {
        items.push_back(WithStack([&] { return ToLiteralAttr(item); }));
        if (!items.back()) return nullptr;
      }
      return ListAttr::Get(items);
    }
    default: return nullptr;
  }
}

}  // namespace iropt

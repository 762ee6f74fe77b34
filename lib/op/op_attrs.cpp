#include "iropt/op/op_attrs.h"

#include <algorithm>

namespace iropt {

namespace {

const tir::IntImm* LiteralInt(const Attr* value) {
  const auto* expr = As<ExprAttr>(value);
  return expr ? As<tir::IntImm>(expr->value) : nullptr;
}

}  // namespace

int64_t IntList::operator[](size_t i) const {
  return op_attrs::ToInt(list_ ? list_->values[static_cast<uint32_t>(i)] : value_);
}

namespace op_attrs {

int64_t ToInt(const Attr* value) {
  if (const auto* number = As<IntAttr>(value)) return number->value;
  const tir::IntImm* literal = LiteralInt(value);
  return literal ? literal->value : 0;
}

double ToDouble(const Attr* value) {
  if (const auto* number = As<FloatAttr>(value)) return number->value;
  const auto* expr = As<ExprAttr>(value);
  const auto* literal = expr ? As<tir::FloatImm>(expr->value) : nullptr;
  return literal ? literal->value : static_cast<double>(ToInt(value));
}

const Attr* FromInts(std::span<const int64_t> values) {
  std::vector<const Attr*> items;
  for (const int64_t value : values) items.push_back(IntAttr::Get(value));
  return ListAttr::Get(items);
}

const Attr* FromFloats(std::span<const double> values) {
  std::vector<const Attr*> items;
  for (const double value : values) items.push_back(FloatAttr::Get(value, DataType::Float(32)));
  return ListAttr::Get(items);
}

const Attr* Doubles::Make(std::span<const double> values) {
  std::vector<const Attr*> items;
  for (const double value : values) items.push_back(FloatAttr::Get(value));
  return ListAttr::Get(items);
}

std::vector<double> Floats::Read(const Attr* value) {
  std::vector<double> values;
  const auto* list = As<ListAttr>(value);
  if (!list) return values;
  for (const Attr* item : list->values) values.push_back(ToDouble(item));
  return values;
}

}  // namespace op_attrs

namespace {

// `copies` of a number, at least one.
template <class T>
std::vector<T> CopiesOf(const OpAttr& attr, T number) {
  return std::vector<T>(std::max<size_t>(attr.copies, 1), number);
}

const Attr* NoneOf(AttrKind kind) {
  switch (kind) {
    case AttrKind::kDataType: return DTypeAttr::Get(DataType::Void());
    case AttrKind::kIntList: return ListAttr::Get({});
    case AttrKind::kDict: return DictAttr::Empty();
    default: return NoneAttr::Get();
  }
}

const Attr* NumberOf(const OpAttr& attr, double number) {
  switch (attr.kind) {
    case AttrKind::kIntList:
    case AttrKind::kOptIntList: return op_attrs::FromInts(CopiesOf(attr, static_cast<int64_t>(number)));
    case AttrKind::kFloatList: return op_attrs::FromFloats(CopiesOf(attr, number));
    case AttrKind::kDoubleList: return op_attrs::Doubles::Make(CopiesOf(attr, number));
    case AttrKind::kDouble: return FloatAttr::Get(number);
    case AttrKind::kOptFloat: return FloatAttr::Get(number, DataType::Float(32));
    default: return IntAttr::Get(static_cast<int64_t>(number));
  }
}

const Attr* TextOf(const OpAttr& attr, std::string_view text) {
  if (attr.kind == AttrKind::kDataType) return DTypeAttr::Get(*DataType::Parse(text));
  return StrAttr::Get(text);
}

bool IsListOf(const Attr* value, NodeKind kind) {
  const auto* list = As<ListAttr>(value);
  return list && std::ranges::all_of(list->values, [&](const Attr* item) { return item->kind == kind; });
}

// Numbers come as plain attributes or as literals of TIR.
bool IsNumber(const Attr* value) {
  const auto* expr = As<ExprAttr>(value);
  return Is<IntAttr>(value) || Is<FloatAttr>(value) ||
         (expr && (Is<tir::IntImm>(expr->value) || Is<tir::FloatImm>(expr->value)));
}
bool IsInteger(const Attr* value) { return Is<IntAttr>(value) || LiteralInt(value); }
bool IsIntegers(const Attr* value) {
  const auto* list = As<ListAttr>(value);
  return list && std::ranges::all_of(list->values, IsInteger);
}

bool IsOfKind(AttrKind kind, const Attr* value) {
  const bool none = Is<NoneAttr>(value);
  switch (kind) {
    case AttrKind::kBool:
    case AttrKind::kInt: return IsInteger(value);
    case AttrKind::kOptBool:
    case AttrKind::kOptInt: return none || IsInteger(value);
    case AttrKind::kDouble: return IsNumber(value);
    case AttrKind::kOptFloat: return none || IsNumber(value);
    case AttrKind::kString:
    case AttrKind::kPlacement: return Is<StrAttr>(value);
    case AttrKind::kOptString: return none || Is<StrAttr>(value);
    case AttrKind::kDataType: return Is<DTypeAttr>(value);
    case AttrKind::kIntList: return IsIntegers(value);
    case AttrKind::kOptIntList: return none || IsIntegers(value);
    case AttrKind::kIntOrIntList: return IsInteger(value) || IsIntegers(value);
    case AttrKind::kFloatList:
    case AttrKind::kDoubleList:
      return Is<ListAttr>(value) && std::ranges::all_of(To<ListAttr>(value)->values, IsNumber);
    case AttrKind::kStringList: return IsListOf(value, NodeKind::kStrAttr);
    case AttrKind::kOptPrimValue: return none || Is<ExprAttr>(value);
    case AttrKind::kIndexMap: return Is<IndexMapAttr>(value);
    case AttrKind::kVDevice: return Is<VDeviceAttr>(value);
    case AttrKind::kDeviceMesh: return Is<DeviceMeshAttr>(value);
    case AttrKind::kDict: return Is<DictAttr>(value);
  }
  return false;
}

}  // namespace

const Attr* DefaultOf(const OpInfo& op, const OpAttr& attr) {
  const OpDefault& fallback = attr.fallback;
  switch (fallback.kind) {
    case OpDefault::Kind::kRequired: return nullptr;
    case OpDefault::Kind::kNone: return NoneOf(attr.kind);
    case OpDefault::Kind::kBool: return IntAttr::Bool(fallback.integer != 0);
    case OpDefault::Kind::kInt: return NumberOf(attr, static_cast<double>(fallback.integer));
    case OpDefault::Kind::kFloat: return NumberOf(attr, fallback.real);
    case OpDefault::Kind::kString: return TextOf(attr, fallback.text);
    case OpDefault::Kind::kSameAs: {
      const OpAttr* source = op.FindAttr(fallback.text);
      return source ? DefaultOf(op, *source) : nullptr;
    }
  }
  return nullptr;
}

const ObjectAttr* MakeOpAttrs(const OpInfo& op, std::span<const Attr* const> values) {
  IROPT_CHECK(values.size() == op.attrs.size(), "{} has {} attributes, not {}", op.name, op.attrs.size(),
              values.size());
  std::vector<std::string_view> names;
  std::vector<const Attr*> fields;
  for (size_t i = 0; i < values.size(); ++i) {
    const OpAttr& attr = op.attrs[i];
    const Attr* field = values[i];
    // A default that copies another attribute copies the value given for it.
    if (!field && attr.fallback.kind == OpDefault::Kind::kSameAs) {
      const OpAttr* source = op.FindAttr(attr.fallback.text);
      field = source ? values[static_cast<size_t>(source - op.attrs.data())] : nullptr;
    }
    if (!field) field = DefaultOf(op, attr);
    IROPT_CHECK(field != nullptr, "{} needs '{}'", op.name, attr.name);
    names.push_back(attr.name);
    fields.push_back(field);
  }
  return ObjectAttr::Get(op.attrs_key, names, fields);
}

bool IsWritten(const OpInfo& op, const OpAttr& attr, const Attr* value, TextVersion version) {
  if (!attr.unwritten && version >= attr.since && (!attr.until || version <= *attr.until)) return true;
  return value != DefaultOf(op, attr);
}

bool HasRecordOf(const OpInfo& op, const Attr* attrs) {
  if (op.attrs_key.empty()) return attrs == nullptr;
  const auto* record = As<ObjectAttr>(attrs);
  if (!record || record->type_key != op.attrs_key || record->values.size() != op.attrs.size()) return false;
  for (uint32_t i = 0; i < record->values.size(); ++i) {
    if (record->names[i] != op.attrs[i].name || !IsOfKind(op.attrs[i].kind, record->values[i])) return false;
  }
  return true;
}

}  // namespace iropt

// Typed views of the attribute records of calls: what the classes have in common that scripts/tables makes, one
// for each IROPT_ATTRS row. ConvAttrs is in iropt/op/ops/convolution.h, from the rows of ops/convolution.def:
//
//   const ConvAttrs attrs(call);
//   if (attrs.groups() == 1 && attrs.data_layout() == "NHWC") ...
//   for (const int64_t stride : attrs.strides()) ...
//
//   MakeOpAttrs(op::kAstype, AstypeAttrs::Values{.dtype = DataType::Float(16)})
//
// The struct Field of a class has the indices of the fields in the record; Values a value for each, to make a record. A
// field is read by its index in the record, in O(1). The verifier makes sure that calls have the record of their
// operator. For a call with another record, and for a value of another kind, a view returns the zero of the type: 0,
// false, the empty list or text, the void dtype, null, nullopt.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "iropt/ir/attr.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/op/op.h"

namespace iropt {

// The integers of a list; a single integer counts as a list of one. As cheap to copy as a pointer.
class IntList {
 public:
  explicit IntList(const Attr* value) : value_(value), list_(As<ListAttr>(value)) {}

  size_t size() const { return list_ ? list_->values.size() : value_ ? 1 : 0; }
  bool empty() const { return size() == 0; }
  int64_t operator[](size_t i) const;
  std::vector<int64_t> vector() const { return {begin(), end()}; }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = int64_t;
    using difference_type = ptrdiff_t;
    using pointer = const int64_t*;
    using reference = int64_t;
    Iterator(const IntList& list, size_t at) : list_(&list), at_(at) {}
    int64_t operator*() const { return (*list_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++at_;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    const IntList* list_;
    size_t at_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  const Attr* value_;
  const ListAttr* list_;
};

namespace op_attrs {

// A TIR literal counts as a number.
int64_t ToInt(const Attr* value);
double ToDouble(const Attr* value);
const Attr* FromInts(std::span<const int64_t> values);
const Attr* FromFloats(std::span<const double> values);

// Conversions of each AttrKind to and from C++ values. `value` can be null.
struct Int {
  using Type = int64_t;
  static Type Read(const Attr* value) { return ToInt(value); }
  static const Attr* Make(Type value) { return IntAttr::Get(value); }
};
struct Bool {
  using Type = bool;
  static Type Read(const Attr* value) { return ToInt(value) != 0; }
  static const Attr* Make(Type value) { return IntAttr::Bool(value); }
};
struct Double {
  using Type = double;
  static Type Read(const Attr* value) { return ToDouble(value); }
  static const Attr* Make(Type value) { return FloatAttr::Get(value); }
};
struct Float : Double {
  static const Attr* Make(Type value) { return FloatAttr::Get(value, DataType::Float(32)); }
};
struct Text {
  using Type = std::string_view;
  static Type Read(const Attr* value) {
    const auto* text = As<StrAttr>(value);
    return text ? text->value : Type();
  }
  static const Attr* Make(Type value) { return StrAttr::Get(value); }
};
struct Dtype {
  using Type = DataType;
  static Type Read(const Attr* value) {
    const auto* dtype = As<DTypeAttr>(value);
    return dtype ? dtype->value : DataType::Void();
  }
  static const Attr* Make(Type value) { return DTypeAttr::Get(value); }
};
struct Ints {
  using Type = IntList;
  static Type Read(const Attr* value) { return IntList(value); }
  static const Attr* Make(std::span<const int64_t> values) { return FromInts(values); }
};
struct Floats {
  using Type = std::vector<double>;
  static Type Read(const Attr* value);
  static const Attr* Make(std::span<const double> values) { return FromFloats(values); }
};
struct Doubles : Floats {
  static const Attr* Make(std::span<const double> values);
};
struct IntOrInts {
  struct Type : IntList {
    using IntList::IntList;
    bool is_list = false;
  };
  static Type Read(const Attr* value) {
    Type ints(value);
    ints.is_list = As<ListAttr>(value) != nullptr;
    return ints;
  }
  static const Attr* Make(int64_t value) { return IntAttr::Get(value); }
  static const Attr* Make(std::span<const int64_t> values) { return FromInts(values); }
};
struct Prim {
  using Type = const PrimExpr*;
  static Type Read(const Attr* value) {
    const auto* prim = As<ExprAttr>(value);
    return prim ? prim->value : nullptr;
  }
  static const Attr* Make(Type value) {
    return value ? static_cast<const Attr*>(ExprAttr::Get(value)) : NoneAttr::Get();
  }
};
template <class T>
struct Node {
  using Type = const T*;
  static Type Read(const Attr* value) { return As<T>(value); }
  static const Attr* Make(Type value) { return value; }
};
template <class T>
struct Optional : T {
  using Type = std::optional<typename T::Type>;
  static Type Read(const Attr* value) {
    return value && value->kind != NodeKind::kNoneAttr ? Type(T::Read(value)) : std::nullopt;
  }
  using T::Make;
  static const Attr* Make(std::nullopt_t) { return NoneAttr::Get(); }
};

template <AttrKind>
struct Field;
// clang-format off
template <> struct Field<AttrKind::kBool> : Bool {};
template <> struct Field<AttrKind::kInt> : Int {};
template <> struct Field<AttrKind::kDouble> : Double {};
template <> struct Field<AttrKind::kString> : Text {};
template <> struct Field<AttrKind::kDataType> : Dtype {};
template <> struct Field<AttrKind::kIntList> : Ints {};
template <> struct Field<AttrKind::kFloatList> : Floats {};
template <> struct Field<AttrKind::kDoubleList> : Doubles {};
template <> struct Field<AttrKind::kOptInt> : Optional<Int> {};
template <> struct Field<AttrKind::kOptFloat> : Optional<Float> {};
template <> struct Field<AttrKind::kOptString> : Optional<Text> {};
template <> struct Field<AttrKind::kOptIntList> : Optional<Ints> {};
template <> struct Field<AttrKind::kOptBool> : Optional<Bool> {};
template <> struct Field<AttrKind::kIntOrIntList> : IntOrInts {};
template <> struct Field<AttrKind::kOptPrimValue> : Prim {};
template <> struct Field<AttrKind::kIndexMap> : Node<IndexMapAttr> {};
template <> struct Field<AttrKind::kVDevice> : Node<VDeviceAttr> {};
template <> struct Field<AttrKind::kDeviceMesh> : Node<DeviceMeshAttr> {};
template <> struct Field<AttrKind::kPlacement> : Text {};
template <> struct Field<AttrKind::kDict> : Node<DictAttr> {};
// clang-format on

// A value for a field; nothing stands for the operator's default.
template <AttrKind kKind>
struct Value {
  const Attr* attr = nullptr;

  constexpr Value() = default;
  template <class T>
  requires requires(const T& v) { Field<kKind>::Make(v); }
  constexpr Value(const T& value) : attr(Field<kKind>::Make(value)) {}  // NOLINT: stands for the value
};

class View {
 public:
  // Returns whether there is a record of this many fields.
  bool exists() const { return record_ != nullptr; }

 protected:
  View(const Attr* attrs, size_t num_fields) : record_(As<ObjectAttr>(attrs)) {
    if (record_ && record_->values.size() != num_fields) record_ = nullptr;
  }
  template <AttrKind kKind>
  typename Field<kKind>::Type Read(uint32_t i) const {
    return Field<kKind>::Read(record_ ? record_->values[i] : nullptr);
  }

 private:
  const ObjectAttr* record_;
};

}  // namespace op_attrs

// The attribute record of an operator from a value for each field, in order; null stands for the default, which must
// exist then.
const ObjectAttr* MakeOpAttrs(const OpInfo& op, std::span<const Attr* const> values);
template <class Values>
const ObjectAttr* MakeOpAttrs(OpId op, const Values& values) {
  return MakeOpAttrs(OpInfoOf(op), values.list());
}
// The default of the attribute; null if the script must give it.
const Attr* DefaultOf(const OpInfo& op, const OpAttr& attr);

// Returns whether texts of the version write the attribute of this value: the version has it, or the value is not what
// a version without it means.
bool IsWritten(const OpInfo& op, const OpAttr& attr, const Attr* value, TextVersion version);

// Returns whether it is the record of the operator (or none for an operator without one), with a value of its kind for
// each attribute. O(attributes).
bool HasRecordOf(const OpInfo& op, const Attr* attrs);

}  // namespace iropt

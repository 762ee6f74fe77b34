// The functions and constants that rows of ops.def call, and the static data that they make. Everything is evaluated at
// compile time: a row that contradicts itself does not compile.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "iropt/op/op.h"

namespace iropt::op_dsl {

// The constants are words of the rows. NOLINTBEGIN(readability-identifier-naming)

using std::string_view;
using enum TextVersion;

// ---- Defaults

struct NoneWord {};
inline constexpr NoneWord None;
struct SameAs {
  string_view parameter;
  explicit constexpr SameAs(string_view name) : parameter(name) {}
};

constexpr OpDefault Default(NoneWord) { return {OpDefault::Kind::kNone, 0, 0, {}}; }
constexpr OpDefault Default(bool v) { return {OpDefault::Kind::kBool, v, 0, {}}; }
constexpr OpDefault Default(int v) { return {OpDefault::Kind::kInt, v, 0, {}}; }
constexpr OpDefault Default(double v) { return {OpDefault::Kind::kFloat, 0, v, {}}; }
constexpr OpDefault Default(const char* v) { return {OpDefault::Kind::kString, 0, 0, v}; }
constexpr OpDefault Default(SameAs v) { return {OpDefault::Kind::kSameAs, 0, 0, v.parameter}; }

// ---- Operands

struct ArgRow {
  OpArg arg;
  OpDefault fallback;
  bool rest = false;

  constexpr ArgRow(string_view name, ArgKind kind) : arg{name, name, kind} {}
  constexpr ArgRow As(string_view name) const {
    ArgRow copy = *this;
    copy.arg.name = name;
    return copy;
  }
  constexpr ArgRow Keyword() const {
    ArgRow copy = *this;
    copy.arg.keyword = true;
    return copy;
  }
  constexpr ArgRow Since(TextVersion version) const {
    ArgRow copy = *this;
    copy.arg.since = version;
    copy.arg.absence = ArgAbsence::kOmitted;
    return copy;
  }
  constexpr ArgRow Until(TextVersion version) const {
    ArgRow copy = *this;
    copy.arg.until = version;
    return copy;
  }
  constexpr ArgRow AttrSince(TextVersion version, int place) const {
    ArgRow copy = *this;
    copy.arg.attr_since = version;
    copy.arg.attr_place = static_cast<uint8_t>(place);
    return copy;
  }
  constexpr ArgRow Copies(int n) const {
    ArgRow copy = *this;
    copy.arg.copies = static_cast<uint8_t>(n);
    return copy;
  }
  template <class T>
  constexpr ArgRow Or(T value) const {
    ArgRow copy = *this;
    copy.fallback = Default(value);
    return copy;
  }
  constexpr ArgRow Optional() const { return Absent(ArgAbsence::kOmitted); }
  constexpr ArgRow OrVoid() const { return Absent(ArgAbsence::kVoid); }
  constexpr ArgRow Absent(ArgAbsence absence) const {
    ArgRow copy = Or(None);
    copy.arg.absence = absence;
    return copy;
  }
};

constexpr ArgRow Any(string_view name) { return {name, ArgKind::kExpr}; }
constexpr ArgRow Tensor(string_view name) { return {name, ArgKind::kTensor}; }
constexpr ArgRow Scalar(string_view name) { return {name, ArgKind::kScalar}; }
constexpr ArgRow Shape(string_view name) { return {name, ArgKind::kShape}; }
constexpr ArgRow Prim(string_view name) { return {name, ArgKind::kPrimValue}; }
constexpr ArgRow TupleOf(string_view name) { return {name, ArgKind::kTuple}; }
constexpr ArgRow CallArgs(string_view name) { return {name, ArgKind::kCallArgs}; }
constexpr ArgRow TextArg(string_view name) { return {name, ArgKind::kString}; }
constexpr ArgRow DtypeArg(string_view name) { return {name, ArgKind::kDataType}; }
constexpr ArgRow Func(string_view name) { return {name, ArgKind::kFunc}; }
constexpr ArgRow Rest(string_view name) {
  ArgRow row{name, ArgKind::kExpr};
  row.rest = true;
  return row;
}

template <size_t N>
struct ArgRows {
  std::array<ArgRow, N> rows;
};
template <class... Rows>
constexpr ArgRows<sizeof...(Rows)> Args(Rows... rows) {
  return {{rows...}};
}

// ---- Attributes

// The number of copies of one number in a list.
struct CopiesOf {
  enum class What : uint8_t { kNumber, kAxes, kSides };
  What what = What::kNumber;
  int number = 0;
  constexpr void Apply(auto& field) const { field.copies = *this; }
};
constexpr CopiesOf Copies(int n) { return {CopiesOf::What::kNumber, n}; }
inline constexpr CopiesOf PerAxis{CopiesOf::What::kAxes, 0};
inline constexpr CopiesOf PerSide{CopiesOf::What::kSides, 0};

struct AttrField {
  OpAttr attr;
  CopiesOf copies;

  constexpr AttrField(AttrKind kind, string_view name) : attr{name, kind, {}} {}
  template <class T, class... Property>
  constexpr AttrField(AttrKind kind, string_view name, T fallback, Property... property)
      : attr{name, kind, Default(fallback)} {
    (property.Apply(*this), ...);
  }
};

// Versions of TVM: of an attribute, the first also of an operator.
struct Since {
  TextVersion version;
  explicit constexpr Since(TextVersion v) : version(v) {}
  constexpr void Apply(AttrField& field) const { field.attr.since = version; }
  constexpr void Apply(auto& properties) const { properties.since = version; }
};
struct Until {
  TextVersion version;
  explicit constexpr Until(TextVersion v) : version(v) {}
  constexpr void Apply(AttrField& field) const { field.attr.until = version; }
};
struct Renamed {
  string_view name;
  TextVersion version;
  constexpr Renamed(string_view n, TextVersion v) : name(n), version(v) {}
  constexpr void Apply(AttrField& field) const {
    field.attr.renamed = name;
    field.attr.renamed_since = version;
  }
};

template <size_t N>
struct AttrRecord {
  string_view key;
  std::array<AttrField, N> fields;
  int axes = 0;

  constexpr OpAttr& Find(string_view name) {
    for (AttrField& field : fields) {
      if (field.attr.name == name) return field.attr;
    }
    throw "With() or Required() names an unknown attribute";
  }
};
template <class... Fields>
constexpr AttrRecord<sizeof...(Fields)> MakeRecord(string_view key, Fields... fields) {
  return {key, {fields...}};
}

// The changes of an operator to the record.
struct Key {
  string_view key;
  explicit constexpr Key(string_view k) : key(k) {}
  constexpr void Apply(auto& record) const { record.key = key; }
};
struct Axes {
  int number;
  explicit constexpr Axes(int n) : number(n) {}
  constexpr void Apply(auto& record) const { record.axes = number; }
};
struct With {
  string_view name;
  OpDefault fallback;
  template <class T>
  constexpr With(string_view n, T value) : name(n), fallback(Default(value)) {}
  constexpr void Apply(auto& record) const { record.Find(name).fallback = fallback; }
};
struct Required {
  string_view name;
  explicit constexpr Required(string_view n) : name(n) {}
  constexpr void Apply(auto& record) const { record.Find(name).fallback = {}; }
};

struct Unwritten {
  string_view name;
  explicit constexpr Unwritten(string_view n) : name(n) {}
  constexpr void Apply(auto& record) const { record.Find(name).unwritten = true; }
};

template <size_t N>
struct AttrRows {
  string_view key;
  std::array<OpAttr, N> rows;
};
template <size_t N, class... Change>
constexpr AttrRows<N> Attrs(AttrRecord<N> record, Change... change) {
  (change.Apply(record), ...);
  AttrRows<N> result{record.key, {}};
  for (size_t i = 0; i < N; ++i) {
    const CopiesOf copies = record.fields[i].copies;
    const bool counted = copies.what == CopiesOf::What::kNumber;
    if (!counted && record.axes == 0) throw "the operator must say Axes()";
    result.rows[i] = record.fields[i].attr;
    result.rows[i].padding = copies.what == CopiesOf::What::kSides;
    result.rows[i].copies =
        static_cast<uint8_t>(counted ? copies.number : record.axes * (result.rows[i].padding ? 2 : 1));
  }
  return result;
}
inline constexpr AttrRows<0> NoAttrs{};

// ---- Properties

struct PropertySet {
  bool pure = true;
  ScriptForm form = ScriptForm::kDefault;
  string_view params;  // explicit order, by names separated by blanks
  string_view types;   // parameter for explicit result types
  OpDefault types_fallback;
  string_view device;  // parameter for a device
  string_view extra;   // parameter that selects another operator
  string_view extended;
  string_view packed;
  string_view alias;
  std::array<string_view, 3> layout_axes{};
  size_t num_layouts = 0;
  size_t required_layouts = 0;
  bool tvm_lacks_layout = false;
  TextVersion since = kV0_18;
};

struct ImpureWord {
  constexpr void Apply(PropertySet& p) const { p.pure = false; }
};
inline constexpr ImpureWord Impure;
struct OutTypesWord {
  constexpr void Apply(PropertySet& p) const {
    p.form = ScriptForm::kOutTypes;
    p.types = "out_sinfo";
  }
};
inline constexpr OutTypesWord OutTypes;
struct Params {
  string_view order;
  explicit constexpr Params(string_view names) : order(names) {}
  constexpr void Apply(PropertySet& p) const { p.params = order; }
};
struct Types {
  string_view name;
  OpDefault fallback;
  explicit constexpr Types(string_view n) : name(n) {}
  constexpr Types(string_view n, NoneWord) : name(n), fallback(Default(None)) {}
  constexpr void Apply(PropertySet& p) const {
    p.types = name;
    p.types_fallback = fallback;
  }
};
struct Device {
  string_view name;
  explicit constexpr Device(string_view n) : name(n) {}
  constexpr void Apply(PropertySet& p) const {
    p.device = name;
    p.form = ScriptForm::kDevice;
  }
};
template <ScriptForm kValue>
struct FormWord {
  constexpr void Apply(PropertySet& p) const { p.form = kValue; }
};
inline constexpr FormWord<ScriptForm::kVDevice> VDeviceForm;
struct Extra {
  string_view name;
  string_view op;
  constexpr Extra(string_view n, string_view o) : name(n), op(o) {}
  constexpr void Apply(PropertySet& p) const {
    p.extra = name;
    p.extended = op;
  }
};
struct Packed {
  string_view name;
  explicit constexpr Packed(string_view n) : name(n) {}
  constexpr void Apply(PropertySet& p) const { p.packed = name; }
};
struct Alias {
  string_view name;
  explicit constexpr Alias(string_view n) : name(n) {}
  constexpr void Apply(PropertySet& p) const { p.alias = name; }
};
struct LayoutChoices {
  size_t required;
  std::array<string_view, 3> axes;
  size_t number;
  template <class... Axes>
  explicit constexpr LayoutChoices(int n, Axes... a)
      : required(static_cast<size_t>(n)), axes{a...}, number(sizeof...(Axes)) {}
  constexpr void Apply(PropertySet& p) const {
    p.layout_axes = axes;
    p.num_layouts = number;
    p.required_layouts = required;
  }
};
struct TvmLacksLayoutWord {
  constexpr void Apply(PropertySet& p) const { p.tvm_lacks_layout = true; }
};
inline constexpr TvmLacksLayoutWord TvmLacksLayout;

// ---- Rows

template <size_t N, size_t M>
struct OpRow {
  std::array<OpArg, N> args{};
  std::array<OpAttr, M> attrs{};
  std::array<uint8_t, N> arg_order{};
  bool reordered = false;                   // arg_order is not the identity
  std::array<OpParam, N + M + 1> params{};  // one more for the result types, a device or an extra operand
  size_t num_params = 0;
  string_view alias;
  std::array<string_view, 3> layout_axes{};
  size_t num_layouts = 0;
  OpInfo info;  // all but what refers to the arrays

  constexpr void Add(const OpParam& param) {
    if (num_params == params.size()) throw "more parameters than operands and attributes";
    params[num_params++] = param;
  }
  constexpr const OpParam* Find(string_view name) const {
    for (size_t i = 0; i < num_params; ++i) {
      if (params[i].name == name) return &params[i];
    }
    return nullptr;
  }
};

// Brings the parameters into the order of `names`, which must be a permutation of theirs.
template <size_t N, size_t M>
constexpr void Reorder(OpRow<N, M>& row, string_view names) {
  OpRow<N, M> ordered = row;
  ordered.num_params = 0;
  while (!names.empty()) {
    const size_t blank = names.find(' ');
    const string_view name = names.substr(0, blank);
    names = blank == string_view::npos ? string_view() : names.substr(blank + 1);
    const OpParam* param = row.Find(name);
    if (!param || ordered.Find(name)) throw "Params() names an unknown parameter, or one twice";
    ordered.Add(*param);
  }
  if (ordered.num_params != row.num_params) throw "Params() leaves a parameter out";
  row = ordered;
}

// Checks the finished list of parameters.
template <size_t N, size_t M>
constexpr void CheckParams(OpRow<N, M>& row) {
  bool after_rest = false;
  for (size_t i = 0; i < row.num_params; ++i) {
    OpParam& param = row.params[i];
    param.keyword_only = after_rest;
    after_rest = after_rest || param.rest;
    if (param.fallback.kind == OpDefault::Kind::kSameAs && !row.Find(param.fallback.text)) {
      throw "SameAs() names no parameter";
    }
  }
  // Operands that repeat or are written as keywords have fixed positions whatever the signature says.
  size_t place = 0;
  for (size_t i = 0; i < row.num_params; ++i) {
    const OpParam& param = row.params[i];
    if (param.role != OpParam::Role::kArg || row.info.variadic) continue;
    row.reordered = row.reordered || param.index != place;
    row.arg_order[place++] = param.index;
  }
  for (size_t i = 0; i + 1 < N; ++i) {
    if (row.args[i].absence == ArgAbsence::kOmitted && row.args[i + 1].absence != ArgAbsence::kOmitted) {
      throw "an operand that may be missing stands before one that may not";
    }
  }
}

template <size_t N, size_t M, class... Property>
constexpr OpRow<N, M> MakeRow(string_view script, OpPattern pattern, MixedPrecision mixed_precision,
                              const ArgRows<N>& args, const AttrRows<M>& attrs, Property... property) {
  PropertySet properties;
  (property.Apply(properties), ...);
  OpRow<N, M> row;
  row.info.script = script;
  row.info.pattern = pattern;
  row.info.mixed_precision = mixed_precision;
  row.info.attrs_key = attrs.key;
  row.info.pure = properties.pure;
  row.info.form = properties.form;
  row.info.extended = properties.extended;
  row.info.packed = properties.packed;
  row.info.required_layouts = properties.required_layouts;
  row.info.tvm_lacks_layout = properties.tvm_lacks_layout;
  row.info.since = properties.since;
  row.alias = properties.alias;
  row.layout_axes = properties.layout_axes;
  row.num_layouts = properties.num_layouts;
  for (size_t i = 0; i < N; ++i) {
    const ArgRow& arg = args.rows[i];
    row.args[i] = arg.arg;
    row.Add({arg.arg.name, OpParam::Role::kArg, static_cast<uint8_t>(i), arg.rest, false, arg.fallback});
    if (arg.rest && i + 1 != N) throw "only the last operand can repeat";
    row.info.variadic = arg.rest;
  }
  if (!properties.extra.empty()) {
    row.Add({properties.extra, OpParam::Role::kExtra, 0, false, false, Default(None)});
  }
  // A device stands for the first two attributes.
  if (!properties.device.empty()) row.Add({properties.device, OpParam::Role::kDevice, 0, false, false, {}});
  for (size_t i = 0; i < M; ++i) {
    const OpAttr& attr = attrs.rows[i];
    row.attrs[i] = attr;
    if (!properties.device.empty() && i < 2) continue;
    row.Add({attr.name, OpParam::Role::kAttr, static_cast<uint8_t>(i), false, false, attr.fallback});
  }
  if (!properties.types.empty()) {
    row.Add({properties.types, OpParam::Role::kResultTypes, 0, false, false, properties.types_fallback});
  }
  if (!properties.params.empty()) Reorder(row, properties.params);
  CheckParams(row);
  return row;
}

// NOLINTEND(readability-identifier-naming)

}  // namespace iropt::op_dsl

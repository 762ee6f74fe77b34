#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "dims.h"
#include "exchange/relay/constants.h"
#include "exchange/relay/parser_core.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/infer.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/axes.h"
#include "iropt/infer/ops/binary.h"
#include "iropt/infer/ops/concat.h"
#include "iropt/infer/ops/create.h"
#include "iropt/infer/ops/datatype.h"
#include "iropt/infer/ops/reshape.h"
#include "iropt/infer/ops/shape.h"
#include "iropt/infer/ops/slice.h"
#include "iropt/infer/ops/unary.h"
#include "iropt/ir/context.h"
#include "iropt/ir/element.h"
#include "iropt/ir/ndarray.h"
#include "iropt/op/op.h"
#include "iropt/support/edit_distance.h"
#include "op_table.h"

namespace iropt::relay {

using Kind = PyValue::Kind;

namespace {

bool IsMissing(const PyValue& value) { return value.is(Kind::kAttr) && value.attr == nullptr; }

// Also of a float that is one, as TVM prints some.
std::optional<int64_t> IntegerOf(const PyValue& value) {
  if (value.is(Kind::kInt)) return value.integer;
  if (value.is(Kind::kBool)) return static_cast<int64_t>(value.boolean);
  constexpr double kLimit = 9e18;
  if (value.is(Kind::kFloat) && std::abs(value.real) < kLimit && std::trunc(value.real) == value.real)
    return static_cast<int64_t>(value.real);
  return std::nullopt;
}

// The name of the record of attributes, which TVM prints for calls of functions.
constexpr std::string_view kRecordKey = "attrs_type_key";

std::optional<int64_t> NegativeSizeInTensor(const Type* type) {
  const auto* tensor = As<TensorType>(type);
  for (uint32_t i = 0; tensor != nullptr && i < tensor->dims.size(); ++i) {
    if (const int64_t* size = arith::AsInt(tensor->dims[i]); size != nullptr && *size < 0) return *size;
  }
  return std::nullopt;
}

// A size of a dimension that no tensor has; nothing if there is none. Not of tuples in a tuple: their tensors are those
// of operands, which have been checked, and their nesting is unbounded.
std::optional<int64_t> NegativeSizeIn(const Type* type) {
  const auto* tuple = As<TupleType>(type);
  if (tuple == nullptr) return NegativeSizeInTensor(type);
  for (const Type* field : tuple->fields) {
    if (const auto size = NegativeSizeInTensor(field)) return size;
  }
  return std::nullopt;
}

}  // namespace

OpCall::OpCall(const OperatorCall& call, SourceSpan span, SourceSpan name_span, std::span<const Expr* const> args,
               BlockBuilder& builder, const Module& module, DiagnosticEngine& diagnostics)
    : op_(*call.op),
      call_(call),
      span_(span),
      name_span_(name_span),
      args_(args),
      builder_(builder),
      module_(module),
      diagnostics_(diagnostics) {}

bool OpCall::CheckArguments() {
  const ArgumentCount& count = op_.count;
  if (args_.size() < count.least || (count.most && args_.size() > *count.most)) {
    const std::string expected = !count.most                  ? fmt::format("at least {}", count.least)
                                 : *count.most == count.least ? fmt::format("{}", count.least)
                                                              : fmt::format("{} to {}", count.least, *count.most);
    diagnostics_.Error(name_span_,
                       args_.size() < count.least ? DiagId("missing-argument") : DiagId("too-many-arguments"),
                       fmt::format("{} takes {} argument{}, found {}", row().name, expected,
                                   count.most == 1U ? "" : "s", args_.size()));
    return false;
  }
  bool ok = true;
  for (const Attribute& attribute : call_.attributes) ok &= CheckName(attribute);
  for (const PyKeyword& keyword : op_.attributes) {
    if (!IsMissing(keyword.value) || !IsMissing(attr(keyword.name))) continue;
    diagnostics_.Error(name_span_, "missing-argument",
                       fmt::format("{} needs the attribute '{}'", row().name, keyword.name));
    ok = false;
  }
  return ok;
}

bool OpCall::CheckName(const Attribute& attribute) const {
  if (row().attributes == "*" || attribute.name == kRecordKey) return true;
  if (std::ranges::find(op_.attributes, attribute.name, &PyKeyword::name) != op_.attributes.end()) return true;
  DiagnosticBuilder error = diagnostics_.Error(attribute.span, "unknown-argument",
                                               fmt::format("{} has no attribute '{}'", row().name, attribute.name));
  std::vector<std::string_view> names;
  for (const PyKeyword& keyword : op_.attributes) names.push_back(keyword.name);
  if (const auto nearest = NearestName(attribute.name, names))
    error.FixIt(attribute.span, std::string(*nearest)).Note(fmt::format("did you mean '{}'?", *nearest));
  return false;
}

void OpCall::WrongKind(std::string_view name, std::string_view expected) const {
  if (std::exchange(has_wrong_kind_, true)) return;
  const auto given = std::ranges::find(call_.attributes, name, &Attribute::name);
  diagnostics_.Error(given == call_.attributes.end() ? name_span_ : given->span, "bad-argument",
                     fmt::format("{}: the attribute '{}' must be {}", row().name, name, expected));
}

// ---- Attributes

const PyValue& OpCall::attr(std::string_view name) const {
  for (const Attribute& attribute : call_.attributes) {
    if (attribute.name == name) return attribute.value;
  }
  const auto by_default = std::ranges::find(op_.attributes, name, &PyKeyword::name);
  IROPT_CHECK(by_default != op_.attributes.end(), "{} has no attribute '{}'", row().name, name);
  return by_default->value;
}

int64_t OpCall::Int(std::string_view name) const {
  const PyValue& value = attr(name);
  if (const auto integer = IntegerOf(value)) return *integer;
  if (!value.is(Kind::kNone)) WrongKind(name, "an integer");
  return 0;
}

double OpCall::Float(std::string_view name) const {
  const PyValue& value = attr(name);
  if (value.is(Kind::kFloat)) return value.real;
  if (!value.is_number() && !value.is(Kind::kNone)) WrongKind(name, "a number");
  return static_cast<double>(IntegerOf(value).value_or(0));
}

bool OpCall::Bool(std::string_view name) const { return Int(name) != 0; }

std::string_view OpCall::String(std::string_view name) const {
  const PyValue& value = attr(name);
  if (value.is(Kind::kString)) return value.string();
  if (!value.is(Kind::kNone)) WrongKind(name, "a string");
  return {};
}

relay::Ints OpCall::Ints(std::string_view name) const {
  const PyValue& value = attr(name);
  relay::Ints integers;
  if (value.is(Kind::kNone)) return integers;
  const std::span<const PyValue> items = value.is_list() ? value.items() : std::span(&value, 1);
  for (const PyValue& item : items) {
    const auto integer = IntegerOf(item);
    if (!integer) {
      WrongKind(name, "an integer or a list of integers");
      return {};
    }
    integers.push_back(*integer);
  }
  return integers;
}

relay::Ints OpCall::NestedInts(std::string_view name) const {
  const PyValue& value = attr(name);
  relay::Ints integers;
  bool ok = value.is_list();
  for (const PyValue& item : ok ? value.items() : std::span<const PyValue>()) {
    for (const PyValue& part : item.is_list() ? item.items() : std::span(&item, 1)) {
      const auto integer = IntegerOf(part);
      ok &= integer.has_value();
      integers.push_back(integer.value_or(0));
    }
  }
  if (!ok) WrongKind(name, "a list of pairs of integers");
  return ok ? integers : relay::Ints();
}

std::vector<double> OpCall::Floats(std::string_view name) const {
  const PyValue& value = attr(name);
  std::vector<double> numbers;
  if (value.is(Kind::kNone)) return numbers;
  for (const PyValue& item : value.is_list() ? value.items() : std::span(&value, 1)) {
    if (!item.is_number()) {
      WrongKind(name, "a number or a list of numbers");
      return {};
    }
    numbers.push_back(item.is(Kind::kFloat) ? item.real : static_cast<double>(*IntegerOf(item)));
  }
  return numbers;
}

op_attrs::Value<AttrKind::kOptInt> OpCall::OptInt(std::string_view name) const {
  if (!has(name)) return {};
  return Int(name);
}

relay::Ints OpCall::IntsOf(std::string_view name, size_t count, bool both_ends) const {
  relay::Ints integers = Ints(name);
  if (integers.size() == count || has_wrong_kind_) return integers;
  const bool is_half = both_ends && 2 * integers.size() == count;
  if (integers.size() == 1) {
    integers.resize(count, integers.front());
  } else if (is_half) {
    integers.insert(integers.end(), integers.begin(), integers.begin() + static_cast<ptrdiff_t>(count / 2));
  } else {
    WrongKind(name, both_ends ? fmt::format("1, {} or {} integers", count / 2, count)
                              : fmt::format("1 or {} integers", count));
  }
  return integers;
}

DataType OpCall::Dtype(std::string_view name) const {
  const std::string_view text = String(name);
  const auto dtype = DataType::Parse(text);
  if (!dtype && !text.empty()) WrongKind(name, "a data type");
  return dtype.value_or(DataType::Void());
}

// ---- Facts

DataType OpCall::DType(const Expr* expr) const {
  const TensorType* tensor = expr ? TensorOf(expr) : nullptr;
  return tensor ? tensor->dtype : DataType::Void();
}

int OpCall::Rank(const Expr* expr) const {
  const TensorType* tensor = expr ? TensorOf(expr) : nullptr;
  return tensor ? tensor->ndim : kUnknownDim;
}

std::optional<std::vector<const PrimExpr*>> OpCall::Dims(const Expr* expr) const {
  const TensorType* tensor = expr ? TensorOf(expr) : nullptr;
  if (tensor == nullptr || !tensor->known) return std::nullopt;
  return std::vector<const PrimExpr*>(tensor->dims.begin(), tensor->dims.end());
}

std::optional<std::vector<int64_t>> OpCall::StaticDims(const Expr* expr) const {
  const auto dims = Dims(expr);
  if (!dims) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const PrimExpr* dim : *dims) {
    const int64_t* size = arith::AsInt(dim);
    if (size == nullptr) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

std::vector<const Expr*> OpCall::Fields(const Expr* tuple) {
  if (const auto* literal = As<Tuple>(tuple)) return {literal->fields.begin(), literal->fields.end()};
  std::vector<const Expr*> fields;
  const auto* type = tuple ? As<TupleType>(tuple->type) : nullptr;
  for (uint32_t i = 0; type != nullptr && i < type->fields.size(); ++i)
    fields.push_back(Item(tuple, static_cast<int>(i)));
  return fields;
}

std::optional<std::vector<int64_t>> OpCall::ConstantInts(const Expr* expr) {
  const auto* constant = As<Constant>(expr);
  if (constant == nullptr || !constant->data->dtype().is_integer()) return std::nullopt;
  std::vector<int64_t> values;
  DispatchElement(constant->data->dtype(), [&]<class T>(std::type_identity<T>) {
    for (const T element : constant->data->As<T>()) values.push_back(static_cast<int64_t>(Element<T>::Load(element)));
  });
  return values;
}

std::optional<int64_t> OpCall::ConstantInt(const Expr* expr) {
  const auto values = ConstantInts(expr);
  return values && !values->empty() ? std::optional(values->front()) : std::nullopt;
}

std::optional<double> OpCall::ConstantFloat(const Expr* expr) {
  const auto* constant = As<Constant>(expr);
  if (constant == nullptr || constant->data->num_elements() == 0) return std::nullopt;
  std::optional<double> value;
  DispatchElement(constant->data->dtype(), [&]<class T>(std::type_identity<T>) {
    value = static_cast<double>(Element<T>::Load(constant->data->As<T>().front()));
  });
  return value;
}

std::optional<int64_t> OpCall::Axis(int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  Error("type-inference", rank == kUnknownDim ? "the rank of the operand is unknown"
                                              : fmt::format("axis {} is out of range for rank {}", axis, rank));
  return std::nullopt;
}

// ---- Construction

OpCall::operator OpBuilder() { return OpBuilder(builder_, NodeSpan(span_)); }

const Expr* OpCall::Relay(std::string_view name, std::span<const Expr* const> args,
                          std::initializer_list<Keyword> attributes) {
  for (const Expr* arg : args) {
    if (arg == nullptr) return nullptr;
  }
  const Operator* op = FindOperator(name);
  IROPT_CHECK(op != nullptr, "unknown operator {}", name);
  std::vector<Attribute> given;
  for (const Keyword& attribute : attributes) given.push_back({attribute.name, name_span_, attribute.value});
  const OperatorCall call{op, iropt::List<Attribute>(std::span<const Attribute>(given))};
  return OpCall(call, span_, name_span_, args, builder_, module_, diagnostics_).Build();
}

const Expr* OpCall::Build() {
  if (!CheckArguments()) return nullptr;
  const Expr* value = row().build(*this);
  if (has_wrong_kind_ || value == nullptr) return nullptr;
  const auto size = NegativeSizeIn(value->type);
  // TVM takes a window that is larger than the tensor.
  const bool has_window = row().name.starts_with("nn.");
  const auto has_size = [](const Expr* arg) { return NegativeSizeIn(arg->type).has_value(); };
  if (size && !has_window && std::ranges::none_of(args_, has_size))
    return Error("type-inference", fmt::format("the result has a dimension of size {}", *size));
  return value;
}

const Expr* OpCall::MakeTuple(std::span<const Expr* const> fields) {
  std::vector<const Type*> types;
  for (const Expr* field : fields) {
    if (field == nullptr) return nullptr;
    types.push_back(field->type);
  }
  const auto list = iropt::List<const Expr*>(workspace().arena().Copy(fields));
  return workspace().New<Tuple>(list, TupleType::Get(workspace().arena(), types));
}

Scalars::Scalars(std::span<const int64_t> values) {
  for (const int64_t value : values) values_.push_back(arith::PrimBuilder().Int(value));
}

const Expr* OpCall::Shape(const Scalars& dims) {
  return workspace().New<ShapeExpr>(workspace().Copy(std::span(dims.values())), ShapeType::Get(dims.values()));
}

const Expr* OpCall::Prims(const Scalars& values) {
  std::vector<const Expr*> fields;
  for (const PrimExpr* value : values.values()) fields.push_back(Prim(value));
  return MakeTuple(fields);
}

const Expr* OpCall::Prim(const PrimExpr* value) { return workspace().New<PrimValue>(value, PrimType::Get(value)); }
const Expr* OpCall::Prim(int64_t value) { return Prim(arith::PrimBuilder().Int(value)); }
const Expr* OpCall::PrimFloat(double value) { return Prim(arith::PrimBuilder().Float(value, DataType::Float(64))); }

const Expr* OpCall::Reshape(const Expr* x, const Scalars& shape) { return op::Reshape(*this, x, Shape(shape)); }

const Expr* OpCall::Flat(const Expr* x) {
  const auto dims = Dims(x);
  if (!dims) return x ? Error("type-inference", "the shape of the operand is unknown") : nullptr;
  return Reshape(x, arith::Simplify(Product(*dims)));
}

const Expr* OpCall::Permute(const Expr* x, const relay::Ints& axes) {
  return op::PermuteDims(*this, x, {.axes = axes});
}
const Expr* OpCall::ExpandDims(const Expr* x, const relay::Ints& axes) {
  return op::ExpandDims(*this, x, {.axis = axes});
}
const Expr* OpCall::Concat(std::span<const Expr* const> parts, int64_t axis) {
  return op::Concat(*this, MakeTuple(parts), {.axis = axis});
}

const Expr* OpCall::Slice(const Expr* x, const Scalars& axes, const Scalars& begin, const Scalars& end) {
  return op::StridedSlice(*this, x, Prims(axes), Prims(begin), Prims(end));
}
const Expr* OpCall::Slice(const Expr* x, const Scalars& axes, const Scalars& begin, const Scalars& end,
                          const Scalars& strides) {
  return op::StridedSlice(*this, x, Prims(axes), Prims(begin), Prims(end), Prims(strides));
}

const Expr* OpCall::Iota(const PrimExpr* count, DataType dtype) {
  return op::Arange(*this, Prim(int64_t{0}), Prim(count), Prim(int64_t{1}), {.dtype = dtype});
}

const Expr* OpCall::Item(const Expr* tuple, int index) {
  const auto* type = tuple ? As<TupleType>(tuple->type) : nullptr;
  if (type == nullptr) return nullptr;
  if (const auto* literal = As<Tuple>(tuple)) return literal->fields[static_cast<size_t>(index)];
  return workspace().New<TupleGetItem>(tuple, index, type->fields[static_cast<size_t>(index)]);
}

const Expr* OpCall::Scalar(double value, DataType dtype) { return MakeScalar(dtype, value, workspace()); }
const Expr* OpCall::Scalar(int64_t value, DataType dtype) { return MakeScalar(dtype, value, workspace()); }

const Expr* OpCall::IntTensor(std::span<const int64_t> values, DataType dtype) {
  const auto size = static_cast<int64_t>(values.size());
  return MakeConstant(dtype, std::span<const int64_t>(&size, 1), values, workspace());
}

PyValue OpCall::ListOf(std::span<const int64_t> values) {
  std::vector<PyValue> items;
  for (const int64_t value : values) items.push_back(PyValue::Int(value, {}));
  return ListOf(items);
}

PyValue OpCall::ListOf(std::span<const PyValue> values) {
  return PyValue(Kind::kList, workspace().arena().Copy(values), {});
}

PyValue OpCall::DTypeValue(DataType dtype) {
  return PyValue::String(workspace().arena().CopyString(dtype.ToString()), {});
}

const Expr* OpCall::Cast(const Expr* value, DataType dtype) {
  if (value == nullptr || DType(value) == dtype) return value;
  const auto* constant = As<Constant>(value);
  // Constants of narrower elements have no text.
  if (constant && IsElementType(dtype)) return Convert(*constant->data, dtype, workspace());
  return op::Astype(*this, value, {.dtype = dtype});
}

const Expr* OpCall::ComputedArange(const Expr* start, const Expr* stop, const Expr* step) {
  const DataType dtype = DType(start);
  const Expr* length = op::Subtract(*this, stop, start);
  if (dtype.is_integer()) {
    length = op::Negative(*this, op::FloorDivide(*this, op::Negative(*this, length), step));
  } else {
    length = op::Ceil(*this, op::Divide(*this, length, step));
  }
  length = op::Maximum(*this, Cast(length, kInt64), Scalar(int64_t{0}, kInt64));
  const Expr* shape = op::TensorToShape(*this, Reshape(length, {1}));
  if (shape == nullptr) return nullptr;
  const PrimExpr* count = IRContext::Current().NewSymVar("n");
  builder_.EmitMatchCast(shape, ShapeType::Get(std::span(&count, 1)));
  return op::Add(*this, op::Multiply(*this, Iota(count, dtype), step), start);
}

// ---- Limits and errors

bool OpCall::IsWithin(std::initializer_list<int64_t> counts, int64_t limit) {
  int64_t product = 1;
  for (const int64_t count : counts) {
    if (count > limit / product) {
      Error("no-counterpart", fmt::format("the expansion is too large: more than {} parts", limit));
      return false;
    }
    product *= std::max<int64_t>(count, 1);
  }
  return true;
}

const Expr* OpCall::Error(DiagId kind, std::string message) {
  diagnostics_.Error(name_span_, kind, fmt::format("{}: {}", row().name, message));
  return nullptr;
}

const Expr* OpCall::NoCounterpart(std::string_view what) {
  return Error("no-counterpart", fmt::format("Relax has no counterpart for {}", what));
}

}  // namespace iropt::relay

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dims.h"
#include "exchange/relay/constants.h"
#include "exchange/relay/parser_core.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
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
#include "op_table.h"

namespace iropt::relay {

namespace {

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
    : CallArguments(call, name_span, args, diagnostics),
      OperandMaker(builder.workspace()),
      span_(span),
      builder_(builder),
      module_(module) {}

OpCall::operator OpBuilder() { return OpBuilder(builder_, NodeSpan(span_)); }

const Expr* OpCall::Relay(std::string_view name, std::span<const Expr* const> args,
                          std::initializer_list<Keyword> attributes) {
  for (const Expr* arg : args) {
    if (arg == nullptr) return nullptr;
  }
  const Operator* op = FindOperator(name);
  IROPT_CHECK(op != nullptr, "unknown operator {}", name);
  std::vector<Attribute> given;
  for (const Keyword& attribute : attributes) given.push_back({attribute.name, name_span(), attribute.value});
  const OperatorCall call{op, iropt::List<Attribute>(std::span<const Attribute>(given))};
  return OpCall(call, span_, name_span(), args, builder_, module_, diagnostics()).Build();
}

const Expr* OpCall::Build() {
  if (!Check()) return nullptr;
  const Expr* value = row().build(*this);
  if (has_wrong_kind() || value == nullptr) return nullptr;
  const auto size = NegativeSizeIn(value->type);
  // TVM takes a window that is larger than the tensor.
  const bool has_window = row().name.starts_with("nn.");
  const auto has_size = [](const Expr* arg) { return NegativeSizeIn(arg->type).has_value(); };
  if (size && !has_window && std::ranges::none_of(args(), has_size))
    return Error("type-inference", fmt::format("the result has a dimension of size {}", *size));
  return value;
}

const Expr* OpCall::Reshape(const Expr* x, const Scalars& shape) { return op::Reshape(*this, x, Shape(shape)); }

const Expr* OpCall::Flat(const Expr* x) {
  const auto dims = DimsOf(x);
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

const Expr* OpCall::Cast(const Expr* value, DataType dtype) {
  if (value == nullptr || DTypeOf(value) == dtype) return value;
  const auto* constant = As<Constant>(value);
  // Constants of narrower elements have no text.
  if (constant && IsElementType(dtype)) return Convert(*constant->data, dtype, workspace());
  return op::Astype(*this, value, {.dtype = dtype});
}

const Expr* OpCall::ComputedArange(const Expr* start, const Expr* stop, const Expr* step) {
  const DataType dtype = DTypeOf(start);
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

}  // namespace iropt::relay
